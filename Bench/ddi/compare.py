"""Compares the table of an update server with what simulated modules report about themselves.

goosebit runs unmodified on a free port of 127.0.0.1, and a depot of simulated modules is served as Bluetooth on a private
bus. One rollout at the server goes through `sync` and `run`; then `sync` is killed again and again while it reports.
Called by scripts/ddi.
"""

import argparse
import contextlib
import importlib.util
import json
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

VERSION, BEFORE = "2.7.31", "2.6.0"
UPDATED = 0o100644


def archive(files):
    """Files in the form `newc` of cpio, as SWUpdate's files are."""
    out = b""
    for number, (name, data) in enumerate([*files, ("TRAILER!!!", b"")]):
        numbers = [number, UPDATED, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
        out += b"070701" + "".join(f"{value:08x}" for value in numbers).encode()
        out += name.encode() + b"\0"
        out += b"\0" * (-len(out) % 4) + data
        out += b"\0" * (-len(out) % 4)
    return out


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """goosebit in a folder of its own."""

    def __init__(self, folder):
        self.folder, self.port, self.token = folder, free_port(), None
        self.base = f"http://127.0.0.1:{self.port}"
        self.env = os.environ | {
            "GOOSEBIT_DB_URI": f"sqlite:///{folder}/db.sqlite3",
            "GOOSEBIT_ARTIFACTS_DIR": f"{folder}/artifacts",
        }
        package = pathlib.Path(importlib.util.find_spec("goosebit").origin).parent
        (folder / "pyproject.toml").write_text(
            '[tool.aerich]\ntortoise_orm = "goosebit.db.config.TORTOISE_CONF"\n'
            f'location = "{package}/db/migrations"\nsrc_folder = "."\n'
        )

    @contextlib.contextmanager
    def running(self):
        tools = pathlib.Path(sys.executable).parent
        quiet = {"cwd": self.folder, "env": self.env, "stdout": subprocess.DEVNULL}
        subprocess.run([tools / "aerich", "upgrade"], check=True, stderr=subprocess.DEVNULL, **quiet)
        log = open(self.folder / "goosebit.log", "wb")
        words = [tools / "uvicorn", "goosebit:app", "--host", "127.0.0.1", "--port", str(self.port)]
        process = subprocess.Popen(words, stderr=log, **quiet)
        try:
            wait("goosebit to answer", self.is_up)
            form = urllib.parse.urlencode({"username": "a@example.com", "password": "bench-bench"})
            self.token = self.ask("POST", "/setup", form.encode())["access_token"]
            yield self
        finally:
            process.terminate()
            process.wait()

    def is_up(self):
        try:
            urllib.request.urlopen(f"{self.base}/openapi.json", timeout=20)
            return True
        except OSError:
            return False

    def ask(self, method, path, body=None, kind="application/x-www-form-urlencoded"):
        headers = {"Content-Type": kind}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        request = urllib.request.Request(self.base + path, body, headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def add_software(self, name, data):
        mark = "bench-boundary"
        head = f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
        body = head.encode() + data + f"\r\n--{mark}--\r\n".encode()
        kind = f"multipart/form-data; boundary={mark}"
        return self.ask("PUT", "/api/v1/software", body, kind)["id"]

    def add_rollout(self, software):
        wish = {"name": "bench", "feed": "default", "software_id": software}
        self.ask("PUT", "/api/v1/rollouts", json.dumps(wish).encode(), "application/json")

    def table(self):
        rows = self.ask("GET", "/api/v1/devices")["devices"]
        return {row["id"]: (row["last_state"], row["sw_version"]) for row in rows}

    def successes(self):
        return sum(row["success_count"] for row in self.ask("GET", "/api/v1/rollouts")["rollouts"])


def wait(what, done, seconds=300):
    """Polls, because the programs send no event."""
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            sys.exit(f"timed out while waiting for {what}")
        time.sleep(0.2)


class Yard:
    """Simulated modules on a bus, and a gateway for them."""

    def __init__(self, folder, program, image, count, server):
        self.folder, self.program, self.server = folder, program, server
        self.serials = [f"esp-{number:04}" for number in range(1, count + 1)]
        self.lost = self.serials[-1]
        modules = "".join(
            f'  - {{serial: {serial}, family: esp, version: "{BEFORE}"'
            + (", out-of-reach: true" if serial == self.lost else "")
            + "}\n"
            for serial in self.serials
        )
        self.write("depot.yaml", f"name: bench\nseed: 5\nmodules:\n{modules}")
        self.write(
            "fleet.csv",
            "id,serial,family\n" + "".join(f"V-{serial},{serial},esp\n" for serial in self.serials),
        )
        rest = 'settle: {quiet: 2s, confirm-gap: 200ms}\nconnect: {timeout: 10s, attempts: 2}\n'
        self.write(
            "yard.yaml",
            'name: bench\nvehicles: {from: fleet.csv}\nsteps:\n  - require: {signal: ">= -95"}\n'
            "radio: {links-per-adapter: 4}\n" + rest,
        )
        self.state = folder / "state"
        self.state.mkdir(mode=0o700)
        self.write(
            "state/servers.yaml",
            f"servers:\n  office:\n    url: {server.base}/DEFAULT\n    allow-http: true\n"
            '    requests-per-second: 100\n'
            '    attributes: {sw_version: "{version}", hw_boardname: default, hw_revision: default}\n'
            "    artifacts:\n      - {file: '*.swu', member: sensor.bin, trust: transport, "
            "image: {fits: {family: esp}}}\n",
        )
        descriptor = f'software = {{ version = "{VERSION}"; hardware-compatibility: [ "default" ]; }};'
        files = [("sw-description", descriptor.encode()), ("sensor.bin", image)]
        self.software = archive(files)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o600)

    @contextlib.contextmanager
    def served(self):
        words = ["dbus-daemon", "--session", "--nofork", "--print-address=1"]
        bus = subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.bus = bus.stdout.readline().strip()
        words = [self.program, "simulate", "--bus", self.bus, "--state", self.folder / "air"]
        depot = subprocess.Popen(
            [*words, self.folder / "depot.yaml"], stdout=subprocess.PIPE, text=True
        )
        try:
            depot.stdout.readline()
            yield self
        finally:
            for process in (depot, bus):
                process.terminate()
                process.wait()

    def call(self, *words, state=None, good=(0,)):
        words = [self.program, *words, "--state", state or self.state]
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True)
        if done.returncode not in good:
            sys.exit(f"{words} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def sync(self):
        return json.loads(self.call("sync", "--json", "yard.yaml"))

    def own_records(self):
        """What the modules report themselves, to a gateway that knows nothing of the rollout."""
        words = ["inventory", "--bus", self.bus, "--manifest", "yard.yaml", "--json", "--for", "10s"]
        document = json.loads(self.call(*words, state=self.folder / "other", good=(0, 11)))
        versions = {}
        for row in document["vehicles"]:
            versions[row["serial"]] = next(iter(row.get("firmware", {}).values()), None)
        return versions


def killed(yard, chance):
    """A `sync` that ends at any moment."""
    words = [yard.program, "sync", "yard.yaml", "--quiet", "--state", yard.state]
    process = subprocess.Popen(words, cwd=yard.folder, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        process.wait(timeout=chance.uniform(0.02, 1.5))
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def demand(holds, sentence):
    if not holds:
        sys.exit(f"not so: {sentence}")
    print(f"ok: {sentence}", flush=True)


def compare(yard, server, kills):
    first = yard.sync()
    demand(first["exit"]["code"] == 0 and "manifest" not in first, "every vehicle is registered")
    server.add_rollout(server.add_software("sensor.swu", yard.software))
    taken = yard.sync()
    count = len(yard.serials)
    demand(taken["fetched"] == 1, f"one download for {count} vehicles")
    wanted = [row for row in taken["vehicles"] for action in row["actions"] if action["wanted"]]
    demand(len(wanted) == count, f"{count} actions are work for the night")
    words = ["run", "--again", "--quiet", "--bus", yard.bus, "yard.servers.yaml"]
    yard.call(*words, good=(0, 11))
    demand(server.successes() == 0, "the server hears nothing that was not told")
    chance = random.Random(7)
    for _ in range(kills):
        killed(yard, chance)
    yard.sync()
    last = yard.sync()
    own = yard.own_records()
    table = server.table()
    for serial in yard.serials:
        state, version = table[serial]
        if serial == yard.lost:
            good = state.lower() == "running" and version != VERSION
            demand(good, f"{serial}, which nobody reached, is open at the server: {state}")
        else:
            good = state.lower() == "finished" and version == VERSION == own.get(serial)
            demand(good, f"{serial} is {state} with {version}, and says {own.get(serial)}")
    demand(server.successes() == count - 1, f"{count - 1} actions are closed, each once, over {kills} kills")
    left = [row["vehicle"] for row in last["vehicles"] if row["actions"]]
    demand(left == [f"V-{yard.lost}"], "only that one is still open here")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("image", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--vehicles", type=int, default=40)
    parser.add_argument("--kills", type=int, default=200)
    options = parser.parse_args()
    folder = options.folder.resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    program, image = options.program.resolve(), options.image.read_bytes()
    with Server(folder).running() as server:
        with Yard(folder, program, image, options.vehicles, server).served() as yard:
            compare(yard, server, options.kills)


main()

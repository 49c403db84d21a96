"""Compares the table of an update server with what simulated modules report about themselves.

goosebit runs unmodified on a free port of 127.0.0.1, and a depot of simulated modules is served as Bluetooth on a private
bus. Several gateways share a rollout over a PostgreSQL of their own. One rollout at the server goes through `sync` and
`run`; then `sync` is killed again and again while it reports. Called by scripts/ddi.
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
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

sys.path.append(str(pathlib.Path(__file__).parent.parent / "break-fleet"))
import server as postgres  # noqa: E402 # it is beside the other bench

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
    """Simulated modules on a bus, and the gateways for them: each a folder with its files and its state."""

    def __init__(self, folder, program, image, options, server, fleet):
        self.folder, self.program, self.server = folder, program, server
        self.serials = [f"esp-{number:04}" for number in range(1, options.vehicles + 1)]
        self.lost = self.serials[-1]
        modules = "".join(
            f'  - {{serial: {serial}, family: esp, version: "{BEFORE}"'
            + (", out-of-reach: true" if serial == self.lost else "")
            + "}\n"
            for serial in self.serials
        )
        write(folder / "depot.yaml", f"name: bench\nseed: 5\nmodules:\n{modules}")
        self.fleet = ["--fleet", fleet.address("depot")] if fleet else []
        self.gateways = [folder / name for name in ["north", "south", "east"][: options.gateways]]
        for gateway in self.gateways:
            self.prepare(gateway)
        descriptor = f'software = {{ version = "{VERSION}"; hardware-compatibility: [ "default" ]; }};'
        files = [("sw-description", descriptor.encode()), ("sensor.bin", image)]
        self.software = archive(files)

    def prepare(self, gateway):
        (gateway / "state").mkdir(parents=True)
        (gateway / "state").chmod(0o700)
        write(
            gateway / "fleet.csv",
            "id,serial,family\n" + "".join(f"V-{serial},{serial},esp\n" for serial in self.serials),
        )
        rest = 'settle: {quiet: 2s, confirm-gap: 200ms}\nconnect: {timeout: 10s, attempts: 2}\n'
        if self.fleet:
            rest += "rollout: {again: daily}\n"
        write(
            gateway / "yard.yaml",
            'name: bench\nvehicles: {from: fleet.csv}\nsteps:\n  - require: {signal: ">= -95"}\n'
            "radio: {links-per-adapter: 4}\n" + rest,
        )
        write(
            gateway / "state/servers.yaml",
            f"servers:\n  office:\n    url: {self.server.base}/DEFAULT\n    allow-http: true\n"
            '    requests-per-second: 100\n'
            '    attributes: {sw_version: "{version}", hw_boardname: default, hw_revision: default}\n'
            "    artifacts:\n      - {file: '*.swu', member: sensor.bin, trust: transport, "
            "image: {fits: {family: esp}}}\n",
        )

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

    def begin(self, gateway, *words, state="state", **streams):
        """A command at a gateway, which has just begun."""
        words = [self.program, *words, "--state", gateway / state]
        env = os.environ | {"YARDMASTER_GATEWAY": gateway.name}
        return subprocess.Popen(words, cwd=gateway, env=env, text=True, **streams)

    def end(self, process, good=(0,)):
        out, error = process.communicate()
        if process.returncode not in good:
            sys.exit(f"{process.args} ended with {process.returncode}:\n{out}{error}")
        return out

    def call(self, gateway, *words, good=(0,), **options):
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return self.end(self.begin(gateway, *words, **streams, **options), good)

    def sync(self, gateway):
        return json.loads(self.call(gateway, "sync", "--json", *self.fleet, "yard.yaml"))

    def night(self):
        """All gateways at work on the rollout together."""
        again = self.fleet or ["--again"]
        words = ["run", *again, "--quiet", "--bus", self.bus, "yard.servers.yaml"]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        runs = [self.begin(gateway, *words, **streams) for gateway in self.gateways]
        for run in runs:
            self.end(run, (0, 11))

    def own_records(self):
        """What the modules report themselves, to a gateway that knows nothing of the rollout."""
        words = ["inventory", "--bus", self.bus, "--manifest", "yard.yaml", "--json", "--for", "10s"]
        document = json.loads(self.call(self.gateways[0], *words, state="other", good=(0, 11)))
        versions = {}
        for row in document["vehicles"]:
            versions[row["serial"]] = next(iter(row.get("firmware", {}).values()), None)
        return versions


def write(path, text):
    path.write_text(text)
    path.chmod(0o600)


def kill(yard, chance):
    """A `sync` at each gateway, of which each ends at any moment."""
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    words = ["sync", "yard.yaml", "--quiet", *yard.fleet]
    for process in [yard.begin(gateway, *words, **silent) for gateway in yard.gateways]:
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
    count = len(yard.serials)
    for gateway in yard.gateways:
        first = yard.sync(gateway)
        demand(first["exit"]["code"] == 0 and "manifest" not in first, f"{gateway.name}: every vehicle is registered")
    server.add_rollout(server.add_software("sensor.swu", yard.software))
    for gateway in yard.gateways:
        taken = yard.sync(gateway)
        demand(taken["fetched"] == 1, f"{gateway.name}: one download for {count} vehicles")
        wanted = [row for row in taken["vehicles"] for action in row["actions"] if action["wanted"]]
        demand(len(wanted) == count, f"{gateway.name}: {count} actions are work for the night")
    texts = {(gateway / "yard.servers.yaml").read_text().replace(str(gateway), "") for gateway in yard.gateways}
    demand(len(texts) == 1, "every gateway has the same night")
    yard.night()
    demand(server.successes() == 0, "the server hears nothing that was not told")
    chance = random.Random(7)
    for _ in range(kills):
        kill(yard, chance)
    last = [yard.sync(gateway) for gateway in yard.gateways for _ in range(2)]
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
    closed, kills = server.successes(), kills * len(yard.gateways)
    demand(closed == count - 1, f"{closed} of {count - 1} actions are closed, each once, over {kills} kills")
    for answer in last[1::2]:
        left = [row["vehicle"] for row in answer["vehicles"] if row["actions"]]
        demand(left == [f"V-{yard.lost}"], "only that one is still open here")


@contextlib.contextmanager
def fleet(program, count):
    """The database of several gateways; nothing for one."""
    if count == 1:
        yield None
        return
    place = tempfile.mkdtemp()
    os.chmod(place, 0o711)
    data = postgres.make_template(f"{place}/fleet", program, [])
    server = postgres.Server(f"{place}/fleet", data, 0)
    try:
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(place)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("image", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--vehicles", type=int, default=40)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--gateways", type=int, default=1, choices=[1, 2, 3])
    options = parser.parse_args()
    folder = options.folder.resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    program, image = options.program.resolve(), options.image.read_bytes()
    with Server(folder).running() as server, fleet(program, options.gateways) as database:
        with Yard(folder, program, image, options, server, database).served() as yard:
            compare(yard, server, options.kills)


main()

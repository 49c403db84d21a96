"""The yard of a life: its files, the bus with its monitor, and the served air."""
import os
import random
import shutil
import signal
import subprocess
import threading
import time

HERE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KEY = "00112233445566778899aabbccddeeff00112233"
SEAL = "42" * 32
PASSWORD = "5F7B2C0A-1111-2222-3333-444455556666"
DIGEST = "7505fe5b8af2bb43117d294cd35b8eebf17838e5390865a4b031c76da50094cf"
LOCK_STEPS = '"[{feature: {auto-lock: 9}}, {wait: 8s}, {feature: {name: Gate}}]"'


class Yard:
    """A folder, a clock that all processes of the life share, and the processes."""

    def __init__(self, folder, life, rate, program, clock):
        self.folder, self.life, self.rate, self.program = folder, life, rate, program
        self.wall, mark = time.time(), time.monotonic_ns()
        self.environment = {"PATH": os.environ["PATH"], "HOME": folder, "LC_ALL": "C.UTF-8", "LD_PRELOAD": clock,
                            "BREAK_CLOCK": f"{rate}:{mark}"}
        self.counts, self.processes = {}, []
        self.log = open(folder + "/life.log", "a", encoding="utf-8")
        self.bus = "unix:path=" + folder + "/bus"
        self.vehicles, self.late = {}, 0
        threading.Thread(target=self.watch, daemon=True).start()

    def watch(self):
        """How late this machine has been at most, in real seconds: on one that is too busy a life proves nothing."""
        while True:
            before = time.monotonic()
            time.sleep(0.05)
            self.late = max(self.late, time.monotonic() - before - 0.05)

    def now(self):
        return (time.time() - self.wall) * self.rate

    def sleep(self, seconds):
        time.sleep(max(0, seconds / self.rate))

    def tell(self, *words):
        self.log.write(f"{self.now():8.1f} " + " ".join(map(str, words)) + "\n")
        self.log.flush()

    def count(self, what, more=1):
        """Counts a fault that has really happened."""
        self.counts[what] = self.counts.get(what, 0) + more

    def begin(self, name, words, more=None, cwd=None, is_shown_time=True):
        with open(f"{self.folder}/{name}.out", "a", encoding="utf-8") as out:
            with open(f"{self.folder}/{name}.err", "a", encoding="utf-8") as err:
                environment = dict(self.environment if is_shown_time else os.environ, **(more or {}))
                process = subprocess.Popen(words, stdout=out, stderr=err, stdin=subprocess.DEVNULL, env=environment,
                                           cwd=cwd or self.folder)
        self.processes.append(process)
        return process

    def write(self, name, text, mode=0o644):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)

    def make(self):
        """Writes the depot, and the files of each gateway."""
        life, rows, modules = self.life, [], []
        chance = random.Random(life["seed"])
        bad = set(chance.sample(range(1, life["buses"] + 1), life["bad"]))
        for n in range(1, life["buses"] + 1):
            serial = f"00f000000000{n:04d}"
            self.vehicles[f"bus-{n}"] = {"serial": serial, "bad": n in bad}
            rows.append(f"bus-{n},{serial},comodule,file:key,")
            fault = "faults: [{returns-unchanged: true, times: 200}]" if n in bad else "faults: []"
            modules.append(f'  - {{serial: "{serial}", key: "{KEY}", type: 17, version: "4.11.3", '
                           f"advertising-interval: 1500ms, {fault}}}")
        for n in range(1, life["locks"] + 1):
            serial = f"0a0b0000{n:04d}"
            self.vehicles[f"lock-{n}"] = {"serial": serial}
            rows.append(f"lock-{n},{serial},lrdevice,file:lock-key,{LOCK_STEPS}")
            modules.append(f'  - {{serial: "{serial}", family: lrdevice, key: "{SEAL}", password: {PASSWORD}, '
                           f"advertising-interval: 1500ms}}")
        for n in range(1, life["cars"] + 1):
            self.vehicles[f"car-{n}"] = {"serial": f"G9-000{n}"}
            rows.append(f"car-{n},G9-000{n},geotab-go,file:car-0{n}.token,\"[{{command: unlock-all}}]\"")
            modules.append(f"  - {{serial: G9-000{n}, family: geotab-go, hardware-id: {553844736 + n}}}")
        chance.shuffle(rows)
        tenant = [line for line in open(HERE + "/manifests/commands/depot.yaml", encoding="utf-8") if '- "00' in line]
        adapters = ", ".join(f"hci{k}" for k in range(len(life["gateways"])))
        self.write("depot.yaml", f"name: yard\nseed: {life['seed']}\nadapters: [{adapters}]\nimage-capacity: 128KiB\n"
                   "link: {interval: 30ms, mtu: 247, packets-per-interval: 12}\n"
                   f"tenant-keys:\n{''.join(tenant)}modules:\n" + "\n".join(modules) + "\n")
        gate = f"pause-when: {{failed: {life['gate']}}}, " if life["bad"] else ""
        soak = f"between-waves: {{soak: {life['soak']}s}}, " if life["soak"] else ""
        for number, name in enumerate(life["gateways"]):
            shutil.copy(HERE + "/manifests/demo/city-4.12.0.zip", self.folder)
            self.write(f"{name}/fleet.csv", "id,serial,family,secret,steps\n" + "\n".join(rows) + "\n")
            self.write(f"{name}/key", KEY + "\n", 0o600)
            self.write(f"{name}/lock-key", f"{SEAL}:{PASSWORD}\n", 0o600)
            for n in range(1, life["cars"] + 1):
                token = open(f"{HERE}/manifests/commands/keys/car-0{n}.token", encoding="utf-8").read()
                self.write(f"{name}/car-0{n}.token", token, 0o600)
            self.write(f"{name}/yard.yaml", f"""name: yard
vehicles: {{from: fleet.csv}}
images:
  city: {{url: "file:../city-4.12.0.zip", sha256: "{DIGEST}", version: "4.12.0",
    fits: {{family: comodule, type: 17, variant: 0}}}}
steps: [{{update: city}}]
rollout: {{waves: {life['waves']}, {gate}{soak}retry: {{transient: 3, device: 0}}}}
settle: {{quiet: 3s, confirm-gap: 500ms, deadline: 2m}}
connect: {{timeout: 20s, attempts: 2}}
radio: {{adapters: [hci{number}], links-per-adapter: {life['links']}}}
""")

    def serve(self):
        """Starts the bus, its monitor and the air."""
        self.begin("bus", ["dbus-daemon", "--session", "--nofork", "--nopidfile", "--address=" + self.bus],
                   is_shown_time=False)
        self.wait("the bus", lambda: os.path.exists(self.folder + "/bus"))
        device = "org.bluez.Device1"
        rules = [f"type='method_call',interface='{device}'", "type='method_call',interface='org.bluez.GattCharacteristic1'",
                 f"type='signal',member='PropertiesChanged',arg0='{device}'"]
        self.begin("monitor", ["busctl", "--address=" + self.bus, "--json=short", "monitor"]
                   + ["--match=" + rule for rule in rules], is_shown_time=False)
        self.begin("air", [self.program, "simulate", "--bus", self.bus, "--state", self.folder + "/served", "depot.yaml"])
        self.wait("the air", lambda: "ready:" in open(self.folder + "/air.out", encoding="utf-8").read())

    def wait(self, what, is_there, seconds=30):
        for _ in range(seconds * 50):
            if is_there():
                return
            time.sleep(0.02)
        raise RuntimeError(f"{what} did not come")

    def end(self):
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
                process.wait()

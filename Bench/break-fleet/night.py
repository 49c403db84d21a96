"""Plays a life: gateways at work, and what goes wrong meanwhile."""
import math
import os
import signal
import subprocess

import harm
from proxy import Proxy
from server import Server

# By then each run must have ended: the longest wait for a database, and the guard after a fail-over.
LIMIT = 2700


class Night:
    def __init__(self, yard, template, ports):
        self.yard, self.life = yard, yard.life
        self.runs, self.spans, self.breaches, self.crowd, self.facts, self.resumes = {}, {}, [], [], [], 0
        names = self.life["gateways"]
        os.makedirs(yard.folder + "/db")
        self.mounted = os.geteuid() == 0 and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=160m", "tmpfs", yard.folder + "/db"], check=False).returncode == 0
        subprocess.run(["cp", "-a", template, yard.folder + "/db/one"], check=True)
        subprocess.run(["chown", "--reference=" + template, yard.folder + "/db"], check=True)
        os.chmod(yard.folder, 0o711)
        self.servers = [Server(yard.folder + "/db", yard.folder + "/db/one", ports[0])]
        self.servers[0].log = yard.folder + "/server-1.log"
        self.proxies = {name: [Proxy(ports[0], yard.rate, yard.count)] for name in names}
        if self.life["standby"]:
            self.replication = Proxy(ports[0], yard.rate, lambda what: None)
            standby = Server(yard.folder + "/db", yard.folder + "/db/two", ports[1], [
                f"primary_conninfo=host=127.0.0.1 port={self.replication.port} user=depot"])
            standby.log = yard.folder + "/server-2.log"
            subprocess.run(["cp", "-a", template, standby.data], check=True)
            subprocess.run(["install", "-o", str(os.stat(standby.data).st_uid), "/dev/null",
                            standby.data + "/standby.signal"], check=True)
            self.servers.append(standby)
            for name in names:
                self.proxies[name].append(Proxy(ports[1], yard.rate, yard.count))
        for server in self.servers:
            if not server.start(yard.environment):
                raise RuntimeError("PostgreSQL did not start")
        if self.life["standby"]:
            yard.wait("the standby", lambda: "streaming" in self.servers[0].ask(
                "postgres", "SELECT state FROM pg_stat_replication"))
        self.server = self.servers[0]
        if self.life["known"]:
            self.server.ask("yard", "INSERT INTO yardmaster.gateway (instance, name, login, program, since, heard, gone) "
                            "SELECT gen_random_uuid(), n, n, 'yardmaster', t, t, t FROM unnest('{" + ",".join(names)
                            + "}'::text[]) n, (SELECT now() - interval '20 h') AS e(t)")
        self.addresses = {
            name: f"postgresql://{name}@" + ",".join(f"127.0.0.1:{p.port}" for p in self.proxies[name]) + "/yard"
            for name in names}

    # Gateways

    def start(self, name, *more):
        if name in self.runs and self.runs[name].poll() is None:
            return
        yard = self.yard
        words = [yard.program, "run", "yard.yaml", "--bus", yard.bus, "--state", f"{yard.folder}/{name}/state",
                 "--fleet", self.addresses[name], "--events", f"{yard.folder}/{name}.events", *more]
        self.runs[name] = yard.begin(name, words, {"YARDMASTER_GATEWAY": name}, f"{yard.folder}/{name}")
        self.spans.setdefault(name, []).append([yard.now(), None, None])
        yard.tell("start", name, *more)

    def look(self):
        """Notes the runs that have ended."""
        for name, run in self.runs.items():
            span = self.spans[name][-1]
            if run.poll() is not None and span[1] is None:
                span[1:] = [self.yard.now(), run.returncode]
                self.yard.tell("ended", name, "exit", run.returncode)
                if run.returncode >= 0:
                    self.yard.count(f"runs ended with {run.returncode}")
                if run.returncode in (69, 70, 75, 77, 78):
                    with open(f"{self.yard.folder}/{name}.err", encoding="utf-8", errors="replace") as file:
                        why = " ".join(file.read()[-700:].split("error: ")[-1].split())
                    self.yard.tell("because:", why)
                    # The air is ours, and only a machine that is too busy keeps it from answering.
                    if "Bluetooth cannot be used" in why:
                        self.yard.late = math.inf

    def at_work(self):
        self.look()
        return [name for name, run in self.runs.items() if run.poll() is None]

    def signal(self, name, what):
        if name not in self.at_work():
            return self.yard.tell("left out:", name, "is not at work")
        self.runs[name].send_signal(what)
        if what == signal.SIGKILL:
            self.runs[name].wait()
        self.yard.count({signal.SIGKILL: "gateways killed", signal.SIGSTOP: "gateways stopped",
                         signal.SIGCONT: "gateways continued"}[what])

    # What goes wrong

    def act(self, act):
        kind, rest, yard = act[0], act[1:], self.yard
        if kind != "start":
            yard.tell(*act)
        if kind == "kill":
            self.signal(rest[0], signal.SIGKILL)
        elif kind == "start":
            self.start(rest[0])
        elif kind == "stop":
            self.signal(rest[0], signal.SIGSTOP)
        elif kind == "continue":
            self.signal(rest[0], signal.SIGCONT)
        elif kind == "network":
            for proxy in self.proxies[rest[0]]:
                proxy.set(rest[1], rest[2])
        elif kind == "cut":
            for proxy in self.proxies[rest[0]]:
                proxy.cut(rest[1], rest[2])
        else:
            getattr(harm, kind.replace(" ", "_"))(self, *rest)

    def play(self, acts, first):
        """One night, from the first start until all runs have ended."""
        yard = self.yard
        base = yard.now()
        queue = sorted([(time, ["start", name]) for name, time in first] + acts, key=lambda act: act[0])
        while queue:
            time, act = queue.pop(0)
            while yard.now() < base + time:
                yard.sleep(min(2, base + time - yard.now()))
                self.look()
            self.act(act)
        self.heal()
        self.wait(base + 240)

    def heal(self):
        for proxies in self.proxies.values():
            for proxy in proxies:
                proxy.set("open")
                proxy.cuts.clear()

    def wait(self, since):
        while names := self.at_work():
            if self.yard.now() > since + LIMIT:
                for name in names:
                    self.breaches.append(f"the run of {name} does not end")
                    self.runs[name].kill()
                    self.runs[name].wait()
            self.yard.sleep(2)

"""Judges a life by what its modules have recorded; radio.py adds what the bus and the servers' logs show."""
import json
import os
import re
import struct
import subprocess

import radio

# How a lock writes its two steps into its record.
DEEDS = {"auto-lock": "0x0301", "name": "0x0101"}
DONE = ("succeeded", "already-current")


class Judge:
    def __init__(self, yard, night):
        self.yard, self.night, self.breaches = yard, night, night.breaches
        self.of_serial = {vehicle["serial"].lower(): name for name, vehicle in yard.vehicles.items()}
        self.read = {}

    # The modules' own records

    def memory(self):
        """What each module keeps in its flash: the version of a bus, and how often it came back with the old one."""
        with open(self.yard.folder + "/served/simulation/yard.memory", "rb") as file:
            memory = file.read()
        size, found = 4096 + struct.unpack_from("<Q", memory, 8)[0], {}
        for start in range(4096, len(memory), size):
            serial = memory[start:start + 64].split(b"\0")[0].decode()
            copies = []
            for at in (start + 64, start + 64 + 2016):
                number, _, length = struct.unpack_from("<QIH", memory, at)
                copies.append((number, memory[at + 16:at + 16 + length]))
            number, facts = max(copies)
            if number and serial.startswith("00f0"):
                # Before these: a checksum, what it runs, when it wakes, its starts and its address.
                at = 20 + struct.unpack_from("<H", facts, 18)[0]
                end = at + 2 + struct.unpack_from("<H", facts, at)[0]
                version = ".".join(map(str, struct.unpack_from("<III", facts, end)))
                found[self.of_serial[serial]] = {"returns": sum(facts[at + 2:end]), "version": version}
        return found

    def all_deeds(self):
        path = self.yard.folder + "/served/simulation/yard.memory.deeds"
        if not os.path.exists(path):
            return []
        with open(path, encoding="utf-8") as file:
            return [line.split() for line in file]

    def deeds(self, vehicle):
        """What a lock or a car has carried out since the evening."""
        serial = self.yard.vehicles[vehicle]["serial"].lower()
        return [deed for _, one, deed in self.all_deeds()[self.seen:] if one.lower() == serial]

    def is_done(self, vehicle, memory):
        if vehicle.startswith("bus"):
            return memory.get(vehicle, {}).get("version") == "4.12.0"
        return len(set(self.deeds(vehicle))) == (2 if vehicle.startswith("lock") else 1)

    # What the program says

    def status(self):
        """The outcome of each vehicle, as the fleet tells it, and the commands in doubt."""
        for _ in range(5):
            done = subprocess.run(
                [self.yard.program, "fleet", "status", "--json", "--rollout", "yard", "--fleet",
                 self.night.server.address("depot")], env=self.yard.environment, capture_output=True, text=True,
                check=False)
            document = json.loads(done.stdout) if done.stdout.startswith("{") else {}
            if "vehicles" in document:
                return {one["id"]: one.get("outcome") for one in document["vehicles"]}, document["doubts"]
            self.yard.sleep(2)
        self.breaches.append("no status: " + (done.stderr or done.stdout).strip()[:300])
        return {}, []

    def answers(self):
        """What a person who has looked says of each doubt: (verb, vehicle)."""
        for doubt in self.status()[1]:
            words, vehicle = json.dumps(doubt), doubt["vehicle"]
            deeds = self.deeds(vehicle)
            step = next((deed for name, deed in DEEDS.items() if re.search(f"feature {name}\\b", words)), None)
            yield "clear" if (step in deeds if step else deeds) else "retry", vehicle

    def told(self):
        """The vehicles that runs have called done since the evening, each with the gateway."""
        for name in self.night.life["gateways"]:
            path = f"{self.yard.folder}/{name}.events"
            if not os.path.exists(path):
                continue
            with open(path, encoding="utf-8", errors="replace") as file:
                file.seek(self.read.get(name, 0))
                for line in file:
                    if '"vehicle-ended"' in line and line.endswith("}\n"):
                        event = json.loads(line)
                        if event["outcome"] in DONE:
                            yield event["vehicle"], f"the run of {name}"

    # Nights

    def dawn(self):
        self.seen, self.lifted = len(self.all_deeds()), self.night.resumes
        self.returns = {name: facts["returns"] for name, facts in self.memory().items()}
        for name in self.night.life["gateways"]:
            path = f"{self.yard.folder}/{name}.events"
            self.read[name] = os.path.getsize(path) if os.path.exists(path) else 0

    def dusk(self, number):
        """After a night: what was done twice, what is told and is not so, and whether the gate held."""
        outcomes, memory = self.status()[0], self.memory()
        self.yard.tell("status", json.dumps(outcomes))
        self.night.facts.append(memory)
        say = self.breaches.append
        for vehicle in self.yard.vehicles:
            deeds = self.deeds(vehicle)
            for deed in sorted(set(deeds)):
                if deeds.count(deed) > 1:
                    say(f"night {number}: {vehicle} has carried out {deed} {deeds.count(deed)} times")
        told = {(vehicle, "the fleet") for vehicle, outcome in outcomes.items() if outcome in DONE}
        for vehicle, who in sorted(told | set(self.told())):
            if not self.is_done(vehicle, memory):
                say(f"night {number}: {who} calls {vehicle} done, and it is not: {self.deeds(vehicle)} "
                    f"{memory.get(vehicle)}")
        self.yard.count("vehicles done", len(told))
        self.yard.count("vehicles", len(self.yard.vehicles))
        if self.night.life["bad"]:
            hit = [name for name, facts in memory.items() if facts["returns"] > self.returns.get(name, 0)]
            allowed = (self.night.life["gate"] + 1) * (1 + self.night.resumes - self.lifted)
            self.yard.tell("came back unchanged:", *hit, "allowed:", allowed)
            self.yard.count("modules that kept their old version", len(hit))
            if len(hit) > allowed:
                say(f"night {number}: the gate allows {allowed} failures, and {len(hit)} modules came back unchanged")

    def verdict(self):
        self.breaches += radio.check(self)
        for breach in self.breaches:
            self.yard.tell("BREACH", breach)
        self.yard.tell("faults", json.dumps(self.yard.counts), "late by", round(self.yard.late, 2))
        return self.breaches, self.yard.counts

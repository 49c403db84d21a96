"""Draws a life of scripts/break-fleet from its seed: the yard, the gateways, and what goes wrong when.

Times are seconds of the night, by the clock that all processes of the life see.
"""
import random

NAMES = ["north", "south", "east", "west"]
# Requests of gateways that a proxy may cut, by a part of their text.
REQUESTS = ["yardmaster.claim(", "yardmaster.intend(", "yardmaster.settle(", "yardmaster.sign_in(",
            "yardmaster.step", "COMMIT", "yardmaster.enlist(", "UPDATE yardmaster.gateway"]


def draw(seed, fail_over=False):
    chance = random.Random(seed)
    life = {"seed": seed, "gateways": NAMES[:chance.choice([2, 2, 3, 3, 4])]}
    life["locks"] = chance.randint(4, 8)
    life["cars"] = chance.choice([0, 0, 1, 2])
    life["buses"] = chance.randint(4, 8)
    life["links"] = chance.choice([1, 2])
    # Modules that come back with their old version, and how many failures the gate allows.
    life["bad"] = chance.choice([0, 0, 0, 2, life["buses"] // 2])
    life["gate"] = chance.randint(0, 2)
    life["waves"] = chance.choice(["[rest]", "[2, rest]", "[3, 50%, rest]"])
    life["soak"] = chance.choice([0, 0, 15])
    life["starts"] = [round(chance.uniform(0, 25), 1) for _ in life["gateways"]]
    life["standby"] = fail_over or chance.random() < 0.4
    life["answers"] = chance.random() < 0.7
    # Whether the gateways have signed in and off the evening before.
    life["known"] = fail_over or chance.random() < 0.5
    life["second_night"] = chance.random() < 0.15
    life["nights"] = [night(chance, life, fail_over)]
    if life["second_night"]:
        life["nights"].append(night(chance, dict(life, standby=False), False))
    return life


def night(chance, life, fail_over):
    acts = []

    def at(time, *act):
        acts.append((round(time, 1), list(act)))

    def span(first, last, at_most):
        begin = chance.uniform(first, last)
        return begin, begin + chance.uniform(2, at_most)

    def kill_gateway():
        begin, end = span(3, 130, 150)
        name = chance.choice(life["gateways"])
        at(begin, "kill", name)
        at(end, "start", name)

    def stop_gateway():
        begin = chance.uniform(5, 100)
        name = chance.choice(life["gateways"])
        at(begin, "stop", name)
        # Mostly past the end of its right, and often until after others may take its vehicles.
        at(begin + chance.choice([20, 62, 75, 165, 200]), "continue", name)

    def network():
        begin, end = span(2, 120, 90)
        name = chance.choice(life["gateways"])
        how = chance.choice(["hole", "refuse", "slow"])
        at(begin, "network", name, how, round(chance.uniform(0.3, 6), 1))
        at(end, "network", name, "open", 0)

    def cut():
        for _ in range(chance.randint(1, 3)):
            at(chance.uniform(0, 150), "cut", chance.choice(life["gateways"]),
               chance.choice(REQUESTS), chance.choice(["before", "after", "after"]))

    def kill_server():
        begin, end = span(3, 120, 60)
        at(begin, "server", "kill")
        at(end, "server", "start")

    def full_disk():
        begin, end = span(5, 120, 60)
        at(begin, "disk", "full")
        at(end, "disk", "free")

    def full_server():
        begin, end = span(0, 120, 60)
        at(begin, "crowd", "come")
        at(end, "crowd", "leave")

    def restore():
        begin = chance.uniform(5, 90)
        at(begin, "dump")
        at(begin + chance.uniform(5, 80), "restore")

    def verb():
        begin = chance.uniform(5, 110)
        what = chance.choice(["pause", "pause", "inhibit", "inhibit", "retry", "drain", "abort"])
        if what == "pause":
            at(begin, "say", "pause", "--reason", "rain")
            at(begin + chance.uniform(5, 60), "say", "resume")
        elif what == "inhibit":
            place = f"lock-{chance.randint(1, life['locks'])}"
            at(begin, "say", "inhibit", place, "--reason", "workshop", "--for", "5m")
            at(begin + chance.uniform(5, 60), "say", "uninhibit", place)
        elif what == "drain":
            at(begin, "say", "gateway drain", chance.choice(life["gateways"]))
        elif what == "abort" and chance.random() < 0.5:
            at(begin + 60, "say", "abort", "--reason", "enough")
        else:
            at(begin, "say", "retry")

    def take_over(first, last):
        begin, lag = chance.uniform(first, last), chance.choice([0, 1, 2, 3, 5, 8, 10])
        if chance.random() < 0.5:
            # A gateway begins, works, and is gone, all in the moments that the standby lacks.
            lag, name = chance.choice([8, 10, 15]), chance.choice(life["gateways"])
            begin = max(begin, lag)
            at(begin - lag, "kill", name)
            at(begin - lag + 0.2, "start", name)
            at(begin + chance.uniform(-0.5, 2), "kill", name)
            at(begin + chance.uniform(60, 250), "start", name)
        at(max(0, begin - lag), "lag", lag)
        at(begin, "fail over", lag)

    kinds = [kill_gateway] * 4 + [stop_gateway] * 3 + [network] * 3 + [cut] * 4 + [kill_server] * 2
    kinds += [full_disk, full_server, verb, verb]
    if not life["standby"]:
        kinds += [restore]
    for kind in chance.choices(kinds, k=chance.randint(1, 3) if fail_over else chance.randint(3, 6)):
        kind()
    if life["standby"]:
        take_over(4, 60) if fail_over else take_over(4, 110)
    # Runs that have ended are begun again while things go wrong.
    for name in life["gateways"]:
        at(chance.uniform(60, 240), "start", name)
    return sorted(acts, key=lambda act: act[0])

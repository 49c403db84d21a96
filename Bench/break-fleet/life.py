"""One life after the other: scripts/break-fleet starts this."""
import argparse
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harm
from draw import NAMES, draw
from judge import DONE, Judge
from night import Night
from server import make_template
from yard import Yard


# When this machine was later than this, in real seconds, a life proves nothing: each clock runs several times as fast.
LATE = 1.0


def free_ports(number):
    """Ports that the system gives to nobody by itself: lives are played side by side."""
    ports = []
    while len(ports) < number:
        port = secrets.randbelow(20000) + 10000
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        if port not in ports:
            ports.append(port)
    return ports


def close_up(night, yard, judge):
    """What the next days do: runs without faults, and people who look, until all that can be done is done."""
    for turn in range(3):
        for name in night.life["gateways"]:
            night.start(name)
        night.wait(yard.now())
        if turn and all(outcome in DONE for outcome in judge.status()[0].values()):
            break
        if night.life["answers"]:
            for verb, vehicle in judge.answers():
                harm.say(night, verb, vehicle)
            harm.say(night, "resume")


def live(life, folder, options, template):
    yard = Yard(folder, life, options.rate, options.program, options.clock)
    yard.tell("wall", yard.wall, json.dumps(life))
    yard.make()
    yard.serve()
    night = Night(yard, template, free_ports(2))
    judge = Judge(yard, night)
    try:
        for number, acts in enumerate(life["nights"]):
            judge.dawn()
            if number:
                night.start(life["gateways"][0], "--again")
                yard.sleep(5)
            night.play([tuple(act) for act in acts], list(zip(life["gateways"][::-1], life["starts"])))
            close_up(night, yard, judge)
            judge.dusk(number + 1)
        return *judge.verdict(), yard.late
    finally:
        if judge.breaches or sys.exc_info()[0]:
            subprocess.run(["pg_dump", "-h", night.server.folder, "-p", str(night.server.port), "-U", "depot", "-f",
                            folder + "/yard.sql", "yard"], check=False, capture_output=True)
        for one in night.crowd:
            one.kill()
        yard.end()
        for server in night.servers:
            server.kill()
        subprocess.run(["umount", "-l", folder + "/db"], check=False, capture_output=True)


def main():
    reader = argparse.ArgumentParser()
    reader.add_argument("seed", type=int)
    reader.add_argument("--lives", type=int, default=1)
    reader.add_argument("--program", required=True)
    reader.add_argument("--clock", required=True)
    reader.add_argument("--rate", type=int, default=8)
    reader.add_argument("--fail-over", action="store_true")
    reader.add_argument("--keep", action="store_true")
    reader.add_argument("--betray", action="store_true")
    options = reader.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    root = tempfile.mkdtemp(prefix="break-fleet-")
    os.chmod(root, 0o711)
    template = make_template(root + "/template", options.program, NAMES)
    total, lives, broken = {}, 0, 0
    for seed in range(options.seed, options.seed + options.lives):
        folder, began = f"{root}/{seed}", time.monotonic()
        os.makedirs(folder)
        try:
            life = draw(seed, options.fail_over)
            if options.betray:
                life["nights"][0] += [(moment, ["betray"]) for moment in range(20, 150, 10)]
            breaches, counts, late = live(life, folder, options, template)
        except KeyboardInterrupt:
            break
        except Exception:
            # Without anything that was judged there is nothing to go on with.
            if seed == options.seed:
                raise
            breaches, counts, late = ["the breaker itself failed:\n" + traceback.format_exc()], {}, 0
        if late > LATE:
            print(f"void  seed {seed}  the machine was late by {late:.1f} s; try a lower --rate: {breaches}", flush=True)
            shutil.rmtree(folder, ignore_errors=True)
            continue
        lives += 1
        for what, number in counts.items():
            total[what] = total.get(what, 0) + number
        faults = ", ".join(f"{number} {what}" for what, number in sorted(counts.items()) if number)
        print(f"{'BROKEN' if breaches else 'well'}  seed {seed}  {time.monotonic() - began:.0f} s  {faults}", flush=True)
        for breach in breaches:
            print("    " + breach, flush=True)
        if breaches:
            broken += 1
            print(f"    kept in {folder}", flush=True)
        elif not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{lives} lives, {broken} broken: " + ", ".join(f"{total[what]} {what}" for what in sorted(total)))
    if not broken and not options.keep:
        shutil.rmtree(root, ignore_errors=True)
    sys.exit(1 if broken or not lives else 0)


main()

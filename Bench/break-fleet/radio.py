"""Compares what gateways did on the bus with the rights that servers granted."""
import datetime
import json
import re

ACTS = {"Connect", "Pair", "ReadValue", "WriteValue", "AcquireWrite", "AcquireNotify", "StartNotify"}
# How late, in real seconds, a busy machine may be with what was due.
SLACK = 0.25


def moment(text):
    return datetime.datetime.fromisoformat(text).timestamp()


def told(judge):
    """What the servers' logs say: (time, table, row), in their order."""
    lines = []
    for server in judge.night.servers:
        with open(server.log, encoding="utf-8", errors="replace") as file:
            for line in file:
                found = re.match(r"([0-9.]+) LOG:  yard (\w+) (\{.*\})$", line)
                if found:
                    lines.append((float(found[1]), found[2], json.loads(found[3])))
    return sorted(lines, key=lambda line: line[0])


def rights(lines, judge, breaches):
    """For each serial its rights as [holder, from, until, epoch], and the gateways' names."""
    held, names = {}, {}
    for time, table, row in lines:
        if table == "gateway":
            names[row["instance"]] = row["name"]
        if table != "module":
            continue
        list_, holder = held.setdefault(row["serial"].lower(), []), row["holder"]
        last = list_[-1] if list_ else None
        if holder is None:
            # A restored database does not know of a right that was given since, and cannot end it.
            if last and row["epoch"] >= last[3]:
                last[2] = min(last[2], time)
            continue
        until = moment(row["expires"])
        if last and last[0] == holder and last[2] >= time:
            # A standby that lacks the last moments knows of a renewal before; the holder has the later one.
            last[2] = max(last[2], until)
            continue
        if last and last[0] != holder and last[2] > time and until > time:
            breaches.append(f"{judge.of_serial[row['serial'].lower()]}: {names.get(holder, holder)} got the right "
                            f"{last[2] - time:.1f} s before that of {names.get(last[0], last[0])} ended")
        list_.append([holder, time, until, row["epoch"]])
    return held, names


def waves(lines, breaches):
    """No vehicle is begun before its wave."""
    wave, state = {}, {}
    for _, table, row in lines:
        if table == "rollout":
            wave[row["beginning"]] = row["wave"]
        if table == "execution":
            key = row["beginning"], row["vehicle"]
            if row["state"] == "claimed" and state.get(key) is None and row["wave"] > wave.get(row["beginning"], 0):
                breaches.append(f"{row['vehicle']} of wave {row['wave'] + 1} was begun in wave "
                                f"{wave.get(row['beginning'], 0) + 1} by {row['gateway']}")
            if row["state"] != "queued":
                state[key] = row["state"]


def serial_of(path, judge):
    """The module behind a device's path: addresses are made from serials, and a bootloader has the next one."""
    address = int(path.split("/dev_")[1].split("/")[0].replace("_", ""), 16)
    for serial in judge.of_serial:
        if serial.startswith("00f0") and (int(serial, 16) << 1) & 0xffffffffff == address & 0xfffffffffe:
            return serial
        if serial.startswith("0a0b") and int(serial, 16) == address:
            return serial
    return None


def events(judge):
    """(time, gateway, serial, what) from the monitor of the bus; each gateway has its own adapter."""
    yard, serials = judge.yard, {}
    with open(yard.folder + "/monitor.out", encoding="utf-8", errors="replace") as file:
        for line in file:
            if "/dev_" not in line or '"RSSI"' in line or '"type":"signal"' in line and '"Connected"' not in line:
                continue
            try:
                message = json.loads(line)
            except ValueError:
                continue
            path = message["path"].split("/")
            if not message["path"].startswith("/org/bluez/hci") or len(path) < 5:
                continue
            if path[4] not in serials:
                serials[path[4]] = serial_of(message["path"], judge)
            if serials[path[4]] is None:
                continue
            what = message["member"]
            if message["type"] == "signal":
                what = "up" if message["payload"]["data"][1]["Connected"]["data"] else "down"
            time = yard.wall + (message["timestamp-realtime"] / 1e6 - yard.wall) * yard.rate
            yield time, yard.life["gateways"][int(path[3][3:])], serials[path[4]], what


def check(judge):
    breaches, yard = [], judge.yard
    lines = told(judge)
    held, names = rights(lines, judge, breaches)
    waves(lines, breaches)
    slack, linked, acts, links, seen = SLACK * yard.rate, {}, 0, 0, set()
    for time, gateway, serial, what in events(judge):
        vehicle, ends = judge.of_serial[serial], linked.setdefault(serial, set())
        if what == "up":
            links += 1
            if ends - {gateway}:
                breaches.append(f"{vehicle} has a link to {gateway} and one to {', '.join(ends)}")
            ends.add(gateway)
        elif what == "down":
            ends.discard(gateway)
        elif what in ACTS:
            acts += 1
            has = any(names.get(holder) == gateway and begin - slack <= time <= end + slack
                      for holder, begin, end, _ in held.get(serial, []))
            if not has and (vehicle, gateway, what) not in seen:
                seen.add((vehicle, gateway, what))
                breaches.append(f"{gateway} did {what} on {vehicle} at {time - yard.wall:.1f} without a right")
    yard.count("links", links)
    yard.count("acts on the bus", acts)
    yard.count("rights granted", sum(map(len, held.values())))
    # A fleet that was aborted before its first right has done nothing.
    if yard.counts.get("vehicles done") and (not acts or not held):
        breaches.append("the monitor of the bus or the server's log has nothing")
    return breaches

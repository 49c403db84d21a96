"""What people say and what goes wrong at the servers of a life; each function is an act of the draw."""
import os
import subprocess
import threading


def say(night, verb, *words):
    """A person's command, on a machine of its own."""
    yard, name = night.yard, night.life["gateways"][0]
    line = [yard.program, *verb.split(), *words, "--fleet", night.server.tcp(name)]
    if verb != "gateway drain":
        line += ["--state", yard.folder + "/office"]
        if verb == "inhibit":
            line += ["--manifest", f"{name}/yard.yaml"]
        elif verb not in ["uninhibit", "clear"]:
            line += ["--rollout", "yard"]
    ended = subprocess.run(line, env=yard.environment, cwd=yard.folder, capture_output=True, text=True, check=False,
                           timeout=120)
    yard.tell("said", verb, *words, "exit", ended.returncode, (ended.stdout + ended.stderr).strip()[:300])
    if ended.returncode == 0:
        yard.count(f"{verb} answered")
        night.resumes += verb == "resume" and "goes on" in ended.stdout


def server(night, what):
    if what == "kill":
        number = night.server.kill()
        night.yard.count("servers killed", number > 0)
    elif not night.server.start(night.yard.environment):
        if not os.path.exists(filler(night)):
            raise RuntimeError("the server did not start again: " + night.server.log)
        night.yard.tell("the server does not start on a full disk")


def filler(night):
    """The file that fills the disk of the servers."""
    return night.yard.folder + "/db/filler"


def empty(night):
    if os.path.exists(filler(night)):
        os.unlink(filler(night))


def disk(night, what):
    """Fills the disk of the data and of the log of the server, and frees it again."""
    if not night.mounted:
        return night.yard.tell("left out: a disk of its own takes root")
    if what == "free":
        empty(night)
        # A server that could not write its log has ended.
        if night.server.ask("postgres", "SELECT 1", check=False) != "1":
            night.yard.count("servers ended by a full disk")
            server(night, "start")
        return None
    try:
        with open(filler(night), "wb", buffering=0) as file:
            while True:
                file.write(bytes(65536))
    except OSError as error:
        night.yard.count("disks filled")
        return night.yard.tell("the disk is full:", error.strerror)


def crowd(night, what):
    """Takes all connections of the server, and lets them go."""
    if what == "come":
        for _ in range(45):
            night.crowd.append(subprocess.Popen(
                ["psql", "-XqAt", "-h", night.server.folder, "-p", str(night.server.port), "-U", "north", "-d",
                 "yard", "-c", "SELECT pg_sleep(3600)"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        return
    refused = sum(one.poll() is not None for one in night.crowd)
    night.yard.count("sessions refused by a full server", refused)
    for one in night.crowd:
        if one.poll() is None:
            one.kill()
        one.wait()
    night.crowd.clear()
    night.server.ask("postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                     "WHERE query = 'SELECT pg_sleep(3600)' AND pid <> pg_backend_pid()", check=False)


def lag(night, seconds):
    """From now on nothing reaches the standby."""
    night.mark = os.path.getsize(night.servers[0].log)
    if seconds and night.server is night.servers[0]:
        night.replication.set("hole")


def fail_over(night, seconds):
    """The primary is gone for good, and the standby takes over without what it has not got."""
    one, two = night.servers
    if night.server is two:
        return
    written = one.ask("postgres", "SELECT pg_current_wal_lsn()", check=False)
    one.kill()
    # Both are on one disk, and a server without room takes nothing over.
    empty(night)
    if not two.start(night.yard.environment):
        raise RuntimeError("the standby did not start again: " + two.log)
    had = two.ask("postgres", "SELECT pg_last_wal_receive_lsn()")
    two.ask("postgres", "SELECT pg_promote(true, 60)")
    night.server = two
    lost = two.ask("postgres", f"SELECT '{written}'::pg_lsn - '{had}'") if written and had else "an unknown number of"
    night.yard.tell(f"the standby took over; it lacks {lost} bytes of the last {seconds} s")
    night.yard.count("standbys promoted")
    with open(one.log, encoding="utf-8", errors="replace") as file:
        file.seek(night.mark)
        night.yard.count("changes since the standby was cut off", file.read().count(" LOG:  yard "))
    if lost.isdigit():
        night.yard.count("bytes lost by fail-overs", int(lost))


def dump(night):
    def keep():
        done = subprocess.run(["pg_dump", "-Fc", "-h", night.server.folder, "-p", str(night.server.port), "-U",
                               "depot", "-f", night.yard.folder + "/yard.dump", "yard"], check=False,
                              capture_output=True)
        if done.returncode and os.path.exists(night.yard.folder + "/yard.dump"):
            os.remove(night.yard.folder + "/yard.dump")
        night.yard.tell("dumped, exit", done.returncode)
    night.dumping = threading.Thread(target=keep)
    night.dumping.start()


def restore(night):
    """Replaces the database by the dump, as docs/fleet.md says."""
    night.dumping.join()
    path, one = night.yard.folder + "/yard.dump", night.server
    if not os.path.exists(path) or one.ask("postgres", "SELECT 1", check=False) != "1":
        return night.yard.tell("left out: there is no dump or no server")
    lost = [int(one.ask("yard", "SELECT count(*) FROM yardmaster.verdict"))]
    one.ask("postgres", "DROP DATABASE yard WITH (FORCE)")
    one.ask("postgres", "CREATE DATABASE yard")
    subprocess.run(["pg_restore", "-h", one.folder, "-p", str(one.port), "-U", "depot", "-d", "yard", path], check=True)
    lost.append(int(one.ask("yard", "SELECT count(*) FROM yardmaster.verdict")))
    night.yard.count("databases restored")
    night.yard.count("verdicts lost by restores", lost[0] - lost[1])
    done = subprocess.run([night.yard.program, "fleet", "accept-restore", "--fleet", one.address("depot")],
                          env=night.yard.environment, capture_output=True, text=True, check=False)
    return night.yard.tell("accept-restore, exit", done.returncode, done.stdout.strip()[:200], done.stderr.strip()[:200])


def betray(night):
    """What no server does: it forgets who has which right and what was done. The judges must notice."""
    night.server.ask("yard", "UPDATE yardmaster.module SET holder = NULL, rollout = NULL, vehicle = NULL, expires = NULL; "
                     "DELETE FROM yardmaster.step; UPDATE yardmaster.execution SET state = 'queued', outcome = NULL",
                     check=False)
    night.yard.count("betrayals")

"""The servers of a life: PostgreSQL as Debian has it, made once and copied for each life."""
import glob
import os
import pwd
import shutil
import signal
import subprocess
import time

PLACE = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))
# Every change of rights, gateways and work that is committed goes into the server's log, which no fail-over takes back.
TELL = """
CREATE FUNCTION public.tell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE LOG 'yard % %', TG_TABLE_NAME, row_to_json(NEW); RETURN NULL; END $$;
DO $$ DECLARE t text; BEGIN
  FOREACH t IN ARRAY ARRAY['module', 'step', 'execution', 'rollout', 'gateway', 'verdict'] LOOP
    EXECUTE format('CREATE CONSTRAINT TRIGGER tell AFTER INSERT %s ON yardmaster.%I DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION public.tell()', CASE WHEN t NOT IN ('gateway', 'verdict') THEN 'OR UPDATE' END, t);
  END LOOP;
END $$;
"""


def plain():
    """The words before a command that must not run as root."""
    if os.geteuid() != 0:
        return []
    return ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]


def make_template(folder, program, names):
    """A stopped cluster with the fleet's tables and a user for each gateway."""
    os.makedirs(folder)
    if os.geteuid() == 0:
        os.chown(folder, pwd.getpwnam("nobody").pw_uid, -1)
    data = folder + "/data"
    done = subprocess.run(
        plain() + [PLACE[-1] + "/initdb", "-D", data, "-U", "depot", "--auth=trust", "--no-sync", "-E", "UTF8",
                   "--locale=C", "--wal-segsize=1"], capture_output=True, text=True, check=False, cwd="/")
    if done.returncode:
        raise SystemExit("initdb: " + done.stderr)
    server = Server(folder, data, 0)
    server.start()
    server.ask("postgres", "CREATE DATABASE yard")
    subprocess.run([program, "fleet", "create", "--fleet", server.address("depot")], check=True,
                   stdout=subprocess.DEVNULL, env=dict(os.environ, HOME=folder))
    for name in names:
        server.ask("yard", f"CREATE ROLE {name} LOGIN; GRANT yardmaster_gateway, yardmaster_operator TO {name}")
    server.ask("yard", TELL)
    server.stop()
    return data


class Server:
    """One server, on a port of 127.0.0.1 and on a socket in its folder."""

    def __init__(self, folder, data, port, more=()):
        self.folder, self.data, self.port, self.more = folder, data, port or 5432, list(more)
        self.listens = bool(port)
        self.log = data + ".log"
        self.process = None

    def address(self, user):
        return f"postgresql://{user}@{self.folder.replace('/', '%2F')}:{self.port}/yard"

    def tcp(self, user):
        return f"postgresql://{user}@127.0.0.1:{self.port}/yard"

    def begin(self, environment=None):
        words = plain() + [PLACE[-1] + "/postgres", "-D", self.data, "-k", self.folder, "-p", str(self.port)]
        for setting in ["listen_addresses=" + ("127.0.0.1" if self.listens else ""), "fsync=off",
                        "shared_buffers=8MB", "max_connections=40", "log_line_prefix=%n ", "log_error_verbosity=terse", "log_min_error_statement=panic", "min_wal_size=2MB",
                        "max_wal_size=16MB", "wal_keep_size=32MB", "hot_standby=on", *self.more]:
            words += ["-c", setting]
        with open(self.log, "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(words, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd="/",
                                            env=environment, start_new_session=True)

    def start(self, environment=None):
        """Returns when it accepts sessions; false when it does not."""
        for turn in range(300):
            if self.process is None or self.process.poll() is not None:
                if turn > 100:
                    return False
                self.begin(environment)
            if self.ask("postgres", "SELECT 1", check=False) == "1":
                return True
            time.sleep(0.05)
        return False

    def ask(self, database, statement, check=True):
        done = subprocess.run(
            ["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-h", self.folder, "-p", str(self.port), "-U", "depot",
             "-d", database, "-c", statement], capture_output=True, text=True, check=False, timeout=60)
        if done.returncode and check:
            raise RuntimeError(f"{statement}: {done.stderr.strip()}")
        return done.stdout.strip()

    def kill(self):
        """Ends all its processes at once; returns how many there were."""
        if self.process is None or self.process.poll() is not None:
            return 0
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as file:
            children = [int(word) for word in file.read().split()]
        os.kill(self.process.pid, signal.SIGKILL)
        for child in children:
            try:
                os.kill(child, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()
        return 1 + len(children)

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait()

    def remove(self):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

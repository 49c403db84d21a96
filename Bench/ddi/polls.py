"""Counts the requests of one `sync` to a small update server, and the processor time that it takes.

The server is a process of its own without any work to give. Prints a Markdown table. Called by scripts/bench.
"""

import argparse
import http.server
import json
import multiprocessing
import os
import pathlib
import shutil
import sys
import time


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    seen = None
    connections = None

    def setup(self):
        super().setup()
        with self.connections.get_lock():
            self.connections.value += 1

    def do_GET(self):
        self.seen.put(time.monotonic())
        body = json.dumps({"config": {"polling": {"sleep": "00:05:00"}}, "_links": {}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/hal+json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--vehicles", type=int, default=2_000)
    options = parser.parse_args()
    folder, count = options.folder.resolve(), options.vehicles
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "state").mkdir(parents=True, mode=0o700)
    Handler.seen = multiprocessing.Queue()
    Handler.connections = multiprocessing.Value("i", 0)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    process = multiprocessing.Process(target=server.serve_forever, daemon=True)
    process.start()
    rows = "".join(f"V-{number},s-{number},esp\n" for number in range(count))
    (folder / "fleet.csv").write_text("id,serial,family\n" + rows)
    (folder / "yard.yaml").write_text("name: polls\nvehicles: {from: fleet.csv}\nsteps: [{wait: 5s}]\n")
    (folder / "state/servers.yaml").write_text(
        f"servers:\n  office:\n    url: http://127.0.0.1:{server.server_port}/DEFAULT\n    allow-http: true\n"
        "    artifacts: [{file: '*', trust: transport, image: {fits: {family: esp}}}]\n"
    )
    words = [str(options.program.resolve()), "sync", "--quiet", "--state", "state", "yard.yaml"]
    begin = time.monotonic()
    child = os.posix_spawn("/usr/bin/env", ["env", "-C", str(folder), *words], os.environ)
    _, status, usage = os.wait4(child, 0)
    took = time.monotonic() - begin
    times = []
    while not Handler.seen.empty() or len(times) < count and status == 0:
        times.append(Handler.seen.get(timeout=10))
    process.terminate()
    times.sort()
    if os.waitstatus_to_exitcode(status) != 0 or len(times) != count:
        sys.exit(f"sync ended with {status} after {len(times)} requests")
    most = max(sum(1 for other in times[at : at + 40] if other < first + 1) for at, first in enumerate(times))
    nearest = min(later - first for first, later in zip(times, times[1:]))
    busy = usage.ru_utime + usage.ru_stime
    print("| vehicles | all asked after | most requests in any second | least time between two | connections | processor | memory |")
    print("|--:|--:|--:|--:|--:|--:|--:|")
    print(
        f"| {count:,} | {took:.0f} s | {most} | {nearest * 1000:.0f} ms | {Handler.connections.value} "
        f"| {busy:.2f} s, {busy / took:.1%} of a core | {usage.ru_maxrss / 1024:.0f} MiB |"
    )


main()

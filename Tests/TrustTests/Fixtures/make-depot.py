#!/usr/bin/env python3
"""Makes depot.json: repositories for images, as a depot uses them, and the messages of the program.

Imports make-cases.py, which is in the same folder; needs the same packages. Documents expire in 2099,
so that the tests hold for as long as the program does.
"""

import hashlib
import importlib.util
import io
import json
import pathlib
import sys
from contextlib import redirect_stdout
from datetime import datetime, timezone

here = pathlib.Path(__file__).parent
spec = importlib.util.spec_from_file_location("cases", here / "make-cases.py")
cases = importlib.util.module_from_spec(spec)
with redirect_stdout(io.StringIO()):
    spec.loader.exec_module(cases)
cases.EXPIRY = datetime(2099, 1, 1, tzinfo=timezone.utc)
signer = cases.signer

CITY = (here.parents[2] / "manifests/demo/city-4.12.0.zip").read_bytes()
OLDER = b"an older release, and a valid one"
TREES = {}


def said(**members):
    return {"yardmaster": {name.replace("_", "-"): value for name, value in members.items()}}


CURRENT = said(hardware=["comodule-17-0"], counter=5, version="4.12.0")


def repository(custom=CURRENT, city=CITY, older=None):
    repo = cases.Repository()
    repo.add_target("bikes/city.zip", city, custom=custom, serve=False)
    if older is not None:
        repo.add_target("bikes/older.bin", OLDER, custom=older, serve=False)
    return repo


def tree(name, files):
    TREES[name] = {path.removeprefix("metadata/"): data.decode() for path, data in files.items()
                   if path.startswith("metadata/")}


repo = repository()
tree("good", repo.publish())
root = repo.files["metadata/1.root.json"].decode()
old = dict(repo.files)
repo.add_target("bikes/older.bin", OLDER, custom=said(hardware=["comodule-17-0"], counter=4, version="4.11.0"), serve=False)
repo.bump()
tree("with older", repo.publish())
repo.timestamp.version = 9
tree("newer", repo.publish())
tree("stale", old)

repo = repository(said(hardware=["comodule-18", "comodule-17-1"], counter=5))
tree("other hardware", repo.publish())
repo = repository(said(hardware=["comodule-17-0"], counter="5"))
tree("not understood", repo.publish())
repo = repository(said(hardware=["comodule-17-0"], counter=5, version="4.13.0"))
tree("other version", repo.publish())
repo = repository(said(counter=5, expires="2026-01-01T00:00:00Z"))
tree("release expired", repo.publish())
repo = repository(said(hardware=["comodule"], counter=5, predecessor="4.11.5"))
tree("predecessor", repo.publish())
repo = repository(city=b"another file")
tree("other file", repo.publish())
repo = repository()
repo.targets.unrecognized_fields["custom"] = said(deny=[hashlib.sha256(CITY).hexdigest()])
tree("denied", repo.publish())
repo = repository()
repo.targets.unrecognized_fields["custom"] = said(allow=["00" * 32])
tree("not allowed", repo.publish())
repo = cases.Repository()
tree("not listed", repo.publish())

repo = repository()
repo.timestamp.expires = datetime(2026, 1, 1, tzinfo=timezone.utc)
tree("expired", repo.publish())
repo.root.unrecognized_fields["custom"] = said(offline_grace=31_000_000)
repo.root.version = 2
tree("expired, with grace", repo.publish())

repo = repository()
repo.publish()
before = repo.signers["timestamp"][0]
repo.root.revoke_key(before.public_key.keyid, "timestamp")
repo.root.add_key(signer("timestamp again").public_key, "timestamp")
repo.root.version = 2
repo.timestamp.version = 2
tree("rotated", repo.publish())

json.dump({"root": root, "trees": TREES, "older": OLDER.decode()}, sys.stdout, separators=(",", ":"), sort_keys=True)
sys.stdout.write("\n")

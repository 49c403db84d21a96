#!/usr/bin/env python3
"""Makes cases.json: repositories, and the answers that a client must give.

Needs the package `tuf` 7 with `securesystemslib[crypto]`. Keys come from fixed seeds where the
scheme allows it; RSA and ECDSA signatures differ in each run, which no test depends on.

A case is a list of steps. A step serves files at addresses, sets the clock, performs an action and
contains the expected result: "ok", or a part of the message of the refusal. `versions` are those
that must be trusted afterwards.
"""

import copy
import hashlib
import json
import sys
from datetime import datetime, timezone

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from securesystemslib.formats import encode_canonical
from securesystemslib.signer import CryptoSigner, Signature
from tuf.api.metadata import (
    DelegatedRole,
    Delegations,
    MetaFile,
    Root,
    Snapshot,
    SuccinctRoles,
    TargetFile,
    Targets,
    Timestamp,
)

NOW = "2026-11-21T00:00:00Z"
EXPIRY = datetime(2027, 1, 1, tzinfo=timezone.utc)
TOP = ["root", "timestamp", "snapshot", "targets"]


def signer(seed):
    private = ed25519.Ed25519PrivateKey.from_private_bytes(hashlib.sha256(seed.encode()).digest())
    return CryptoSigner(private)


def keyid(key_dict):
    return hashlib.sha256(encode_canonical(key_dict).encode()).hexdigest()


class Repository:
    """A repository that publishes valid documents, which a case may falsify before signing."""

    def __init__(self, consistent=True):
        self.signers = {role: [signer(role)] for role in TOP}
        self.root = Root(expires=EXPIRY, consistent_snapshot=consistent)
        self.timestamp = Timestamp(expires=EXPIRY)
        self.snapshot = Snapshot(expires=EXPIRY)
        self.targets = Targets(expires=EXPIRY)
        self.delegated = {}
        self.artifacts = {}
        self.hashes = False
        for role in TOP:
            self.root.add_key(self.signers[role][0].public_key, role)
        self.bends = {}
        self.raw = {}
        self.files = {}

    # -- signing

    def sign(self, role, signed):
        value = signed.to_dict()
        for bend in self.bends.get(role, []):
            value = bend(value) or value
        signatures = []
        for one in self.signers[role]:
            data = encode_canonical(value).encode()
            made = one.sign(data)
            signatures.append({"keyid": getattr(one, "claimed", made.keyid), "sig": made.signature})
        document = {"signatures": signatures, "signed": value}
        text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
        if role in self.raw:
            text = self.raw[role](text)
        return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text

    def meta(self, version, data):
        if not self.hashes:
            return MetaFile(version)
        return MetaFile(version, len(data), {"sha256": hashlib.sha256(data).hexdigest()})

    def bend(self, role, change):
        self.bends.setdefault(role, []).append(change)

    # -- publishing

    def publish(self, bump=True):
        consistent = self.root.consistent_snapshot
        files = {}

        def put(role, version, data):
            quoted = "".join(
                c if c.isalnum() or c in "-._~" else "".join(f"%{b:02X}" for b in c.encode())
                for c in role
            )
            files["metadata/" + (f"{version}.{quoted}.json" if consistent else f"{quoted}.json")] = data

        for name, targets in self.delegated.items():
            data = self.sign(name, targets)
            put(name, targets.version, data)
            self.snapshot.meta[f"{name}.json"] = self.meta(targets.version, data)
        data = self.sign("targets", self.targets)
        put("targets", self.targets.version, data)
        self.snapshot.meta["targets.json"] = self.meta(self.targets.version, data)
        data = self.sign("snapshot", self.snapshot)
        put("snapshot", self.snapshot.version, data)
        self.timestamp.snapshot_meta = self.meta(self.snapshot.version, data)
        files["metadata/timestamp.json"] = self.sign("timestamp", self.timestamp)
        files[f"metadata/{self.root.version}.root.json"] = self.sign("root", self.root)
        for path, content in self.artifacts.items():
            folder, _, base = path.rpartition("/")
            name = f"{hashlib.sha256(content).hexdigest()}.{base}" if consistent else base
            files["targets/" + (folder + "/" if folder else "") + name] = content
        self.files.update(files)
        return dict(self.files)

    def bump(self, *roles):
        for role in roles or ("targets", "snapshot", "timestamp"):
            getattr(self, role).version += 1

    # -- contents

    def add_target(self, path, content, role=None, custom=None, serve=True):
        file = TargetFile.from_data(path, content, ["sha256"])
        if custom is not None:
            file.unrecognized_fields["custom"] = custom
        (self.delegated[role] if role else self.targets).targets[path] = file
        if serve:
            self.artifacts[path] = content
        return file

    def delegate(self, parent, name, paths=None, prefixes=None, terminating=False, threshold=1, keys=1):
        owner = self.delegated[parent] if parent else self.targets
        if owner.delegations is None:
            owner.delegations = Delegations({}, {})
        role = DelegatedRole(name, [], threshold, terminating, paths, prefixes)
        owner.delegations.roles[name] = role
        self.signers[name] = [signer(f"{name}-{i}") for i in range(keys)]
        for one in self.signers[name]:
            owner.add_key(one.public_key, name)
        self.delegated.setdefault(name, Targets(expires=EXPIRY))


CASES = []
BLOBS = []
INDEX = {}


def blob(data):
    if data not in INDEX:
        INDEX[data] = len(BLOBS)
        if data and data == b" " * len(data):
            BLOBS.append({"spaces": len(data)})
            return INDEX[data]
        try:
            BLOBS.append({"text": data.decode("utf-8")})
        except UnicodeDecodeError:
            BLOBS.append({"hex": data.hex()})
    return INDEX[data]


def step(files, expect="ok", do="refresh", path=None, now=NOW, versions=None, content=None, fail=None, grace=None):
    made = {"serve": {name: blob(data) for name, data in sorted(files.items())}, "now": now, "do": do, "expect": expect}
    if path is not None:
        made["path"] = path
    if versions is not None:
        made["versions"] = versions
    if content is not None:
        made["content"] = content
    if fail is not None:
        made["fail"] = fail
    if grace is not None:
        made["grace"] = grace
    return made


def case(name, root, *steps):
    CASES.append({"name": name, "root": blob(root), "steps": list(steps)})


def first_root(repo):
    return repo.files["metadata/1.root.json"]


def fresh(**options):
    repo = Repository(**options)
    repo.publish()
    return repo


# ---------------------------------------------------------------- invalid documents

def bent_document(name, role, raw, expect, versions=None):
    """A repository in which the document of one role is replaced by other text after signing."""
    repo = fresh()
    start = first_root(repo)
    repo.raw[role] = raw
    if role == "root":
        repo.root.version = 2
    repo.publish()
    case(name, start, step(repo.files, expect, versions=versions or {"root": 1}))


def bent_value(name, role, change, expect, versions=None):
    repo = fresh()
    start = first_root(repo)
    repo.bend(role, change)
    if role == "root":
        repo.root.version = 2
    repo.publish()
    case(name, start, step(repo.files, expect, versions=versions or {"root": 1}))


def setter(*path):
    *head, last, value = path

    def change(signed):
        signed = copy.deepcopy(signed)
        at = signed
        for part in head:
            at = at[part]
        at[last] = value
        return signed

    return change


bent_document("invalid UTF-8 is no document", "timestamp",
              lambda text: text.encode().replace(b'"_type"', b'"x\xff":1,"_type"', 1), "not UTF-8")
bent_document("something behind the document", "timestamp", lambda text: text + "x", "follows the value")
bent_document("a member that appears twice", "timestamp",
              lambda text: text.replace('"version":1', '"version":1,"version":1', 1), "appears twice")
bent_document("a member that appears twice, once escaped", "timestamp",
              lambda text: text.replace('"version":1', '"version":1,"\\u0076ersion":1', 1), "appears twice")
bent_document("a number with a fraction", "timestamp",
              lambda text: text.replace('"version":1', '"x":1.0,"version":1', 1), "no integer")
bent_document("a number with an exponent", "timestamp",
              lambda text: text.replace('"version":1', '"x":1e2,"version":1', 1), "no integer")
bent_document("a number beyond 64 bits", "timestamp",
              lambda text: text.replace('"version":1', '"x":9223372036854775808,"version":1', 1), "too long or too large")
bent_document("half of a surrogate pair", "timestamp",
              lambda text: text.replace('"version":1', '"x":"\\ud800","version":1', 1), "surrogate")
bent_document("nesting without end", "timestamp",
              lambda text: text.replace('"version":1', '"x":' + "[" * 100 + "]" * 100 + ',"version":1', 1), "nested")
bent_document("a signature twice under one key id", "timestamp",
              lambda text: json.dumps({**json.loads(text), "signatures": json.loads(text)["signatures"] * 2}), "signed twice")
bent_document("signatures that are no list", "timestamp",
              lambda text: json.dumps({**json.loads(text), "signatures": {}}), "'signatures'")
bent_document("an empty document", "timestamp", lambda text: "", "ends early")
bent_document("a page of a web server", "timestamp", lambda text: "<html>no</html>", "no JSON")
bent_document("a duplicate in the snapshot", "snapshot",
              lambda text: text.replace('"version":1', '"version":1,"version":1', 1), "appears twice", {"root": 1, "timestamp": 1})
bent_document("a float in the targets", "targets",
              lambda text: text.replace('"version":1', '"x":0.5,"version":1', 1), "no integer",
              {"root": 1, "timestamp": 1, "snapshot": 1})
bent_document("a duplicate in a new root", "root",
              lambda text: text.replace('"version":2', '"version":2,"version":2', 1), "appears twice")

for wrong, name in [("2.0.0", "another major version"), ("1", "a version of one number"), ("1.x", "a version with a letter"),
                    ("", "an empty version"), (1, "a version that is a number"), ("11.0", "a version that begins with 1")]:
    bent_value(f"{name} of the specification", "timestamp", setter("spec_version", wrong),
               "'spec_version'" if wrong == 1 else "version '")
for wrong in [0, -1, "1", True, None]:
    bent_value(f"version {wrong!r} of a document", "timestamp", setter("version", wrong), "'version'")
for wrong in ["2027-01-01T00:00:00.000Z", "2027-01-01T00:00:00+00:00", "2027-02-30T00:00:00Z", "2027-1-1T0:0:0Z",
              "2027-01-01T00:00:60Z", "2027-01-01 00:00:00Z", "2027-01-01T00:00:00z", "", "２０27-01-01T00:00:00Z"]:
    bent_value(f"the time '{wrong}'", "timestamp", setter("expires", wrong), "is no time")
bent_value("an expiry that is a number", "timestamp", setter("expires", 1798761600), "'expires'")
bent_value("a timestamp without a snapshot", "timestamp", setter("meta", {}), "'meta'")
bent_value("a snapshot without targets", "snapshot", setter("meta", {}), "'meta'", {"root": 1, "timestamp": 1})
bent_value("a snapshot version of zero", "timestamp", setter("meta", "snapshot.json", "version", 0), "'meta'")
bent_value("a negative length", "timestamp", setter("meta", "snapshot.json", "length", -1), "'length'")
bent_value("hashes that are all unknown", "timestamp", setter("meta", "snapshot.json", "hashes", {"md4": "00"}), "'hashes'")
bent_value("a hash of the wrong length", "timestamp", setter("meta", "snapshot.json", "hashes", {"sha256": "00"}), "'hashes'")
bent_value("a root without a snapshot role", "root",
           lambda s: {**s, "roles": {k: v for k, v in s["roles"].items() if k != "snapshot"}}, "'keyids'")
bent_value("a target of negative length", "targets",
           setter("targets", {"a": {"length": -1, "hashes": {"sha256": "00" * 32}}}), "'length'",
           {"root": 1, "timestamp": 1, "snapshot": 1})
bent_value("a target without hashes", "targets", setter("targets", {"a": {"length": 1}}), "'hashes'",
           {"root": 1, "timestamp": 1, "snapshot": 1})

repo = fresh()
start = first_root(repo)
repo.bend("timestamp", setter("spec_version", "1.0"))
repo.publish()
case("a version of two numbers is what real repositories write", start, step(repo.files, versions={"timestamp": 1}))

# ---------------------------------------------------------------- keys and thresholds

for threshold in [0, -1, True, "1", None]:
    bent_value(f"a threshold of {threshold!r}", "root", setter("roles", "timestamp", "threshold", threshold),
               "fewer than one" if threshold in (0, -1) and threshold is not True else "'threshold'")


def doubled(signed):
    signed = copy.deepcopy(signed)
    role = signed["roles"]["timestamp"]
    role["keyids"] = role["keyids"] * 2
    return signed


bent_value("a key id twice in a role", "root", doubled, "twice in one role")


def mislabelled():
    """The key has an id that is not its digest; the document uses that id."""
    repo = fresh()
    start = first_root(repo)
    one = repo.signers["timestamp"][0]
    wrong = "ab" * 32

    def change(signed):
        signed = copy.deepcopy(signed)
        right = one.public_key.keyid
        signed["keys"][wrong] = signed["keys"].pop(right)
        signed["roles"]["timestamp"]["keyids"] = [wrong]
        return signed

    repo.bend("root", change)
    repo.root.version = 2
    one.claimed = wrong
    repo.publish()
    case("a key whose id is not its digest cannot count", start,
         step(repo.files, "signed by 0 of the keys", versions={"root": 2}))


mislabelled()


def one_key_two_ids():
    """One key with two ids, each the right digest of its own description: one signer."""
    repo = fresh()
    start = first_root(repo)
    one = repo.signers["timestamp"][0]
    twin_dict = {**one.public_key.to_dict(), "note": "again"}
    twin_id = keyid(twin_dict)
    twin = signer("timestamp")
    twin.claimed = twin_id

    def change(signed):
        signed = copy.deepcopy(signed)
        signed["keys"][twin_id] = twin_dict
        signed["roles"]["timestamp"]["keyids"].append(twin_id)
        signed["roles"]["timestamp"]["threshold"] = 2
        return signed

    repo.bend("root", change)
    repo.root.version = 2
    repo.signers["timestamp"].append(twin)
    repo.publish()
    case("one key under two ids is one signer", start,
         step(repo.files, "signed by 1 of the keys", versions={"root": 2}))


one_key_two_ids()


def with_key(name, key, expect, seal=None):
    """The timestamp's key is replaced by another kind of key."""
    repo = fresh()
    start = first_root(repo)
    old = repo.signers["timestamp"][0].public_key.keyid
    key_dict, one = key
    new_id = keyid(key_dict)

    def change(signed):
        signed = copy.deepcopy(signed)
        del signed["keys"][old]
        signed["keys"][new_id] = key_dict
        signed["roles"]["timestamp"]["keyids"] = [new_id]
        return signed

    repo.bend("root", change)
    repo.root.version = 2
    one.claimed = new_id
    repo.signers["timestamp"] = [one]
    repo.publish()
    case(name, start, step(repo.files, expect, versions={"root": 2}))


def made(private, **changes):
    one = CryptoSigner(private)
    value = {**one.public_key.to_dict(), **changes}
    return value, one


RSA_2048 = rsa.generate_private_key(65537, 2048)
P256 = ec.generate_private_key(ec.SECP256R1())
with_key("RSA-PSS of 2048 bits", made(RSA_2048), "ok")
with_key("ECDSA on P-256", made(P256), "ok")
with_key("ECDSA under the old name of its key type", made(P256, keytype="ecdsa-sha2-nistp256"), "ok")
with_key("RSA of 1024 bits cannot count", made(rsa.generate_private_key(65537, 1024)), "signed by 0")


def p384():
    private = ec.generate_private_key(ec.SECP384R1())
    public = private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)

    class Signer384:
        def sign(self, data):
            made = private.sign(data, ec.ECDSA(hashes.SHA256()))
            return Signature(self.claimed, made.hex())

    value = {"keytype": "ecdsa", "scheme": "ecdsa-sha2-nistp256", "keyval": {"public": public.decode()}}
    return value, Signer384()


with_key("a key of another curve cannot count", p384(), "signed by 0")
with_key("a scheme that we do not know cannot count",
         made(ed25519.Ed25519PrivateKey.from_private_bytes(b"7" * 32), scheme="ed25519ph"), "signed by 0")
with_key("a key type that does not fit the scheme cannot count",
         made(ed25519.Ed25519PrivateKey.from_private_bytes(b"7" * 32), keytype="rsa"), "signed by 0")
with_key("a key that is no key cannot count",
         made(P256, keyval={"public": "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"}), "signed by 0")

# ---------------------------------------------------------------- the clock

repo = fresh()
case("a clock that went back is not believed", first_root(repo),
     step(repo.files, now="2026-11-21T12:00:00Z"),
     step(repo.files, "the clock went back", now="2026-11-21T11:00:00Z", versions={"timestamp": 1}),
     step(repo.files, now="2026-11-21T11:55:00Z"))

# ---------------------------------------------------------------- endless data

repo = fresh()
start = first_root(repo)
repo.root.version = 2
files = repo.publish()
big = dict(files)
case("a root larger than any", start, step({**big, "metadata/2.root.json": b" " * 512_001}, "longer than 512000", versions={"root": 1}))
repo = fresh()
case("a timestamp larger than any", first_root(repo),
     step({**repo.files, "metadata/timestamp.json": b" " * 16_385}, "longer than 16384", versions={"root": 1}))
case("a snapshot larger than any", first_root(repo),
     step({**repo.files, "metadata/1.snapshot.json": b" " * 2_000_001}, "longer than 2000000", versions={"timestamp": 1}))
case("a targets document larger than any", first_root(repo),
     step({**repo.files, "metadata/1.targets.json": b" " * 5_000_001}, "longer than 5000000", versions={"snapshot": 1}))
repo = Repository()
repo.hashes = True
repo.publish()
snapshot = repo.files["metadata/1.snapshot.json"]
case("a snapshot longer than listed", first_root(repo),
     step({**repo.files, "metadata/1.snapshot.json": snapshot + b" "}, f"longer than {len(snapshot)}", versions={"timestamp": 1}))
case("a snapshot shorter than listed", first_root(repo),
     step({**repo.files, "metadata/1.snapshot.json": snapshot[:-1]}, f"has {len(snapshot) - 1} bytes", versions={"timestamp": 1}))
case("a snapshot of the listed length and another digest", first_root(repo),
     step({**repo.files, "metadata/1.snapshot.json": snapshot[:-1] + b" "}, "another sha256", versions={"timestamp": 1}))

# ---------------------------------------------------------------- the network

repo = fresh()
start = first_root(repo)
repo.root.version = 2
repo.publish()
case("an error of the server does not end the chain of roots", start,
     step(repo.files, "the server is ill", fail="metadata/2.root.json", versions={"root": 1}),
     step(repo.files, versions={"root": 2}))
case("an error at the timestamp leaves what was trusted", start,
     step(repo.files), step(repo.files, "the server is ill", fail="metadata/timestamp.json",
                            versions={"root": 2, "timestamp": 1, "snapshot": 1, "targets": 1}))

# ---------------------------------------------------------------- expiry

repo = Repository()
repo.timestamp.expires = datetime(2026, 11, 22, tzinfo=timezone.utc)
repo.publish()
case("the stored timestamp of the same version is tested again", first_root(repo),
     step(repo.files), step(repo.files, "timestamp expired", now="2026-11-22T00:00:00Z"))
repo = Repository()
repo.timestamp.expires = datetime(2026, 11, 22, tzinfo=timezone.utc)
repo.root.unrecognized_fields["custom"] = {"yardmaster": {"offline-grace": 86_400 * 3}}
repo.publish()
case("an expired timestamp freezes nobody who is online", first_root(repo),
     step(repo.files), step(repo.files, "timestamp expired", now="2026-11-23T00:00:00Z"))
case("a depot without network goes on within the grace that root signs", first_root(repo),
     step(repo.files), step({}, now="2026-11-23T00:00:00Z", do="resume", grace=86_400 * 7),
     step({}, "timestamp expired", now="2026-11-25T00:00:00Z", do="resume", grace=86_400 * 7),
     step({}, "timestamp expired", now="2026-11-25T00:00:00Z", do="resume", grace=86_400))
repo2 = Repository()
repo2.timestamp.expires = datetime(2026, 11, 22, tzinfo=timezone.utc)
repo2.publish()
case("without a grace that root signs there is none", first_root(repo2),
     step(repo2.files), step({}, "timestamp expired", now="2026-11-22T00:00:00Z", do="resume", grace=86_400 * 7))

# ---------------------------------------------------------------- rollback, over restarts

repo = fresh()
old = dict(repo.files)
start = first_root(repo)
repo.delegate(None, "vendor", ["v/*"])
repo.delegated["vendor"].version = 5
repo.bump()
repo.publish()
repo.add_target("v/image", b"image of the vendor", "vendor")
repo.publish()
newer = dict(repo.files)
case("an update from one state to the next", start, step(old), step(newer, do="find", path="v/image", content="image of the vendor", versions={"timestamp": 2, "vendor": 5}))
case("a stale copy of the repository", start, step(newer), step(old, "timestamp was rolled back", versions={"timestamp": 2}))
repo.delegated["vendor"].version = 4
repo.bump("snapshot", "timestamp")
repo.publish()
case("a delegated role that goes back in the snapshot", start, step(newer),
     step(repo.files, "delegated role 'vendor' was rolled back", versions={"snapshot": 2, "timestamp": 3}))

# a rejected timestamp must not be kept: it would freeze the client
repo = fresh()
start = first_root(repo)
good = dict(repo.files)
repo.timestamp.version = 100
repo.timestamp.expires = datetime(2026, 11, 1, tzinfo=timezone.utc)
repo.publish()
bad = dict(repo.files)
repo.timestamp.version = 2
repo.timestamp.expires = EXPIRY
repo.publish()
case("a timestamp that was refused is not kept", start, step(good), step(bad, "timestamp expired", versions={"timestamp": 1}),
     step(repo.files, versions={"timestamp": 2}))

# a refused root must not be kept either
repo = fresh()
start = first_root(repo)
repo.root.version = 2
repo.signers["root"] = [signer("stranger")]
bad = dict(repo.publish())
repo.signers["root"] = [signer("root")]
good = dict(repo.publish())
case("a root that was refused is not kept", start, step(bad, "root is signed by 0", versions={"root": 1}), step(good, versions={"root": 2}))


# a root with other keys must be signed by the keys of the previous root and by its own
repo = fresh()
start = first_root(repo)
own, stranger = repo.signers["root"][0], signer("stranger")
repo.root.revoke_key(own.public_key.keyid, "root")
repo.root.add_key(stranger.public_key, "root")
repo.root.version = 2
repo.signers["root"] = [stranger]
bad = dict(repo.publish())
repo.signers["root"] = [own]
unsigned = dict(repo.publish())
repo.signers["root"] = [own, stranger]
good = dict(repo.publish())
case("a root that only its own keys have signed", start, step(bad, "root is signed by 0 of the keys", versions={"root": 1}),
     step(good, versions={"root": 2}))
case("a root that its own keys have not signed", start, step(unsigned, "root is signed by 0 of the keys", versions={"root": 1}),
     step(good, versions={"root": 2}))


# a key was rotated, and the old one is used
def rotated():
    repo = fresh()
    start = first_root(repo)
    before = dict(repo.files)
    old_signer = repo.signers["timestamp"][0]
    new_signer = signer("timestamp again")
    repo.root.revoke_key(old_signer.public_key.keyid, "timestamp")
    repo.root.add_key(new_signer.public_key, "timestamp")
    repo.signers["timestamp"] = [new_signer]
    repo.root.version = 2
    repo.publish()
    good = dict(repo.files)
    repo.signers["timestamp"] = [old_signer]
    repo.timestamp.version = 9
    repo.publish()
    case("a key was rotated and the old one is used", start, step(before), step(good, versions={"root": 2, "timestamp": 1}),
         step(repo.files, "timestamp is signed by 0 of the keys that root names", versions={"timestamp": 1}))


rotated()



def recovered(name, keep_old):
    """Somebody signed a version that is higher than any honest one; other keys end that."""
    repo = Repository()
    repo.timestamp.version = 100
    repo.snapshot.version = 100
    repo.publish()
    start = first_root(repo)
    before = dict(repo.files)
    for role in ["timestamp", "snapshot"]:
        old = repo.signers[role][0]
        new = signer(f"{role} again")
        if not keep_old:
            repo.root.revoke_key(old.public_key.keyid, role)
            repo.signers[role] = []
        repo.root.add_key(new.public_key, role)
        repo.signers[role].append(new)
    repo.root.version = 2
    repo.timestamp.version = 1
    repo.snapshot.version = 1
    repo.publish()
    case(name, start, step(before, versions={"timestamp": 100, "snapshot": 100}),
         step(repo.files, versions={"root": 2, "timestamp": 1, "snapshot": 1}))


recovered("other keys end a fast-forward", False)
recovered("a further key ends a fast-forward too", True)

# ---------------------------------------------------------------- delegations


def delegated(**options):
    repo = Repository()
    repo.delegate(None, "vendor", ["v/*"], **options)
    repo.add_target("v/image", b"image of the vendor", "vendor")
    return repo


repo = delegated()
repo.hashes = True
repo.publish()
vendor = repo.files["metadata/1.vendor.json"]
start = first_root(repo)
case("a delegated role leads to its file", start, step(repo.files, do="find", path="v/image", content="image of the vendor", versions={"vendor": 1}))
case("a delegated document of another digest", start,
     step({**repo.files, "metadata/1.vendor.json": vendor[:-1] + b" "}, "another sha256", do="find", path="v/image"))
case("a delegated document longer than listed", start,
     step({**repo.files, "metadata/1.vendor.json": vendor + b" "}, f"longer than {len(vendor)}", do="find", path="v/image"))

repo = delegated()
repo.delegated["vendor"].expires = datetime(2026, 11, 20, tzinfo=timezone.utc)
repo.publish()
case("a delegated document that expired", first_root(repo), step(repo.files, "expired", do="find", path="v/image"))

repo = delegated()
repo.publish()
repo.snapshot.meta["vendor.json"].version = 2
good = dict(repo.files)
wrong = Repository.publish
repo.delegated["vendor"].version = 2
files = repo.publish()
files["metadata/2.vendor.json"] = good["metadata/1.vendor.json"]
case("a delegated document of another version", first_root(repo), step(files, "version 2 is wanted", do="find", path="v/image"))

repo = delegated(threshold=2, keys=2)
repo.publish()
good = dict(repo.files)
repo.raw["vendor"] = lambda text: json.dumps({**json.loads(text), "signatures": json.loads(text)["signatures"][:1] * 2})
files = dict(repo.publish())
case("a delegated threshold is not met by one signature twice", first_root(repo), step(files, "signed twice", do="find", path="v/image"))
repo.raw["vendor"] = lambda text: json.dumps({**json.loads(text), "signatures": json.loads(text)["signatures"][:1]})
files = dict(repo.publish())
case("a delegated threshold of two is not met by one", first_root(repo), step(files, "signed by 1 of the keys that targets names", do="find", path="v/image"))
case("a delegated threshold of two is met by two", first_root(repo), step(good, do="find", path="v/image", content="image of the vendor"))


def twin_delegated():
    repo = delegated()
    one = repo.signers["vendor"][0]
    twin_dict = {**one.public_key.to_dict(), "note": "again"}
    twin_id = keyid(twin_dict)
    twin = signer("vendor-0")
    twin.claimed = twin_id

    def change(signed):
        signed = copy.deepcopy(signed)
        signed["delegations"]["keys"][twin_id] = twin_dict
        role = signed["delegations"]["roles"][0]
        role["keyids"].append(twin_id)
        role["threshold"] = 2
        return signed

    repo.bend("targets", change)
    repo.signers["vendor"].append(twin)
    repo.publish()
    case("one key under two ids is one signer of a delegated role too", first_root(repo),
         step(repo.files, "signed by 1", do="find", path="v/image"))


twin_delegated()

for name in ["root", "timestamp", "snapshot", "targets", ""]:
    repo = delegated()
    repo.bend("targets", setter("delegations", "roles", 0, "name", name))
    repo.publish()
    case(f"nobody delegates to '{name}'", first_root(repo), step(repo.files, "no name for that", versions={"snapshot": 1}))

repo = delegated()
repo.bend("targets", lambda s: {**s, "delegations": {**s["delegations"], "roles": s["delegations"]["roles"] * 2}})
repo.publish()
case("a role that is delegated to twice in one document", first_root(repo), step(repo.files, "twice", versions={"snapshot": 1}))
repo = delegated()
repo.bend("targets", setter("delegations", "roles", 0, "path_hash_prefixes", ["00"]))
repo.publish()
case("patterns and prefixes in one delegation", first_root(repo), step(repo.files, "'paths'", versions={"snapshot": 1}))
repo = delegated()
repo.bend("targets", setter("delegations", "roles", 0, "threshold", 0))
repo.publish()
case("a delegated threshold of zero", first_root(repo), step(repo.files, "fewer than one", versions={"snapshot": 1}))

repo = Repository()
previous = None
for number in range(40):
    name = f"r{number}"
    repo.delegate(previous, name, ["*"])
    previous = name
repo.add_target("deep", b"deep", "r31")
repo.add_target("deeper", b"deeper", "r32")
repo.publish()
case("the 32nd delegated role is still asked", first_root(repo), step(repo.files, do="find", path="deep", content="deep"))
case("no more than 32 delegated roles are asked", first_root(repo), step(repo.files, "more than 32", do="find", path="deeper"))

repo = Repository()
digest = hashlib.sha256(b"bins/image").hexdigest()
repo.delegate(None, "other", prefixes=[f"{(int(digest[0], 16) + 1) % 16:x}"])
repo.delegate(None, "right", prefixes=[digest[:3]])
repo.add_target("bins/image", b"by the digest of its name", "right")
repo.publish()
case("prefixes of the digest of a path", first_root(repo),
     step(repo.files, do="find", path="bins/image", content="by the digest of its name"),
     step(repo.files, "no role that may speak", do="find", path="bins/other"))


def succinct(bits):
    repo = Repository()
    one = signer("bins")
    repo.targets.delegations = Delegations({}, succinct_roles=SuccinctRoles([], 1, bits, "bin"))
    repo.targets.add_key(one.public_key)
    path = "some/image"
    name = repo.targets.delegations.succinct_roles.get_role_for_target(path)
    repo.signers[name] = [one]
    repo.delegated[name] = Targets(expires=EXPIRY)
    repo.add_target(path, b"in its bin", name)
    repo.publish()
    case(f"bins of {bits} bits", first_root(repo), step(repo.files, do="find", path=path, content="in its bin"))


for bits in [1, 4, 5, 12, 32]:
    succinct(bits)
for bits in [0, 33, -1]:
    repo = Repository()
    repo.targets.delegations = Delegations({}, succinct_roles=SuccinctRoles([], 1, 4, "bin"))
    repo.targets.add_key(signer("bins").public_key)
    repo.bend("targets", setter("delegations", "succinct_roles", "bit_length", bits))
    repo.publish()
    case(f"bins of {bits} bits are none", first_root(repo), step(repo.files, "'bit_length'", versions={"snapshot": 1}))

repo = Repository()
repo.delegate(None, "first", ["a/*"], terminating=True)
repo.delegate(None, "second", ["a/*"])
repo.add_target("a/image", b"of the second", "second")
repo.publish()
case("a terminating delegation ends the search", first_root(repo), step(repo.files, "no role that may speak", do="find", path="a/image"))

# ---------------------------------------------------------------- targets

repo = Repository()
for path in ["caf\u00e9", "cafe\u0301"]:
    repo.add_target(path, f"bytes of {len(path)}".encode())
repo.publish()
case("names are bytes: two spellings of a letter are two names", first_root(repo),
     step({**repo.files, **{"targets/" + hashlib.sha256(b"bytes of 4").hexdigest() + ".caf%C3%A9": b"bytes of 4",
                            "targets/" + hashlib.sha256(b"bytes of 5").hexdigest() + ".cafe%CC%81": b"bytes of 5"}},
          do="find", path="caf\u00e9", content="bytes of 4"),
     step({**repo.files, **{"targets/" + hashlib.sha256(b"bytes of 5").hexdigest() + ".cafe%CC%81": b"bytes of 5"}},
          do="find", path="cafe\u0301", content="bytes of 5"))

repo = Repository()
repo.add_target("image", b"the right bytes")
repo.publish()
wire = "targets/" + hashlib.sha256(b"the right bytes").hexdigest() + ".image"
start = first_root(repo)
case("a target that goes on and on", start, step({**repo.files, wire: b"the right bytes!"}, "longer than 15", do="find", path="image"))
case("a target that ends early", start, step({**repo.files, wire: b"the right byte"}, "has 14 bytes", do="find", path="image"))
case("a target of other bytes", start, step({**repo.files, wire: b"the wrong bytes"}, "another sha256", do="find", path="image"))
for path in ["/image", "../image", "a//b", "a/./b", "a/..", "", "a/", "a\u0000b", "a\nb"]:
    case(f"'{path}' is no name of a target", start, step(repo.files, "no name of a target", do="find", path=path))
repo.bend("targets", setter("targets", "image", "hashes", {"sha256": hashlib.sha256(b"the right bytes").hexdigest(), "sha512": "00" * 64}))
repo.publish()
case("every digest that is listed and known must agree", start, step(repo.files, "another sha512", do="find", path="image"))
repo.bends = {}
repo.bend("targets", setter("targets", "image", "hashes", {"blake9": "00"}))
repo.publish()
case("a target without a digest that we know", start, step(repo.files, "without a digest", do="find", path="image"))
repo.bends = {}
repo.bend("targets", setter("targets", "image", "length", 5 << 30))
repo.publish()
case("a target of 5 GiB is not begun", start, step(repo.files, "67108864 are the most", do="find", path="image"))

repo = Repository(consistent=False)
repo.add_target("plain/image", b"not consistent")
repo.delegate(None, "vendor", ["v/*"])
repo.add_target("v/image", b"of the vendor", "vendor")
repo.publish()
case("a repository without consistent names", first_root(repo),
     step(repo.files, do="find", path="plain/image", content="not consistent"),
     step(repo.files, do="find", path="v/image", content="of the vendor"))

# ---------------------------------------------------------------- mix and match

repo = fresh()
start = first_root(repo)
repo.add_target("a", b"a")
repo.bump()
repo.publish()
files = dict(repo.files)
files["metadata/2.targets.json"] = files["metadata/1.targets.json"]
case("targets of another snapshot", start, step(files, "targets is version 1, version 2 is wanted", versions={"snapshot": 2}))

json.dump({"now": NOW, "blobs": BLOBS, "cases": CASES}, sys.stdout, ensure_ascii=True, separators=(",", ":"), sort_keys=True)
sys.stdout.write("\n")

#!/usr/bin/env python3
"""Makes attestations.json: statements about the demo's image, signed by securesystemslib.

    python3 -m venv V && V/bin/pip install 'securesystemslib[crypto]==1.6.0' in-toto-attestation
    V/bin/python make-attestations.py > attestations.json

The keys are new each time, and the private ones are not kept.
"""

import hashlib
import json
import pathlib
import sys

from cryptography.hazmat.primitives import serialization
from in_toto_attestation.v1.resource_descriptor import ResourceDescriptor
from in_toto_attestation.v1.statement import Statement
from google.protobuf.json_format import MessageToDict
from securesystemslib.dsse import Envelope
from securesystemslib.signer import CryptoSigner

IMAGE = pathlib.Path(__file__).parents[3] / "manifests/demo/city-4.12.0.zip"
TYPE = "application/vnd.in-toto+json"


def pem(signer):
    return signer._private_key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    ).decode()


def statement(digests, kind="https://slsa.dev/provenance/v1"):
    subjects = [ResourceDescriptor(name=n, digest={"sha256": d}).pb for n, d in digests.items()]
    predicate = {
        "buildDefinition": {"buildType": "https://example.com/firmware/v1"},
        "runDetails": {"builder": {"id": "https://example.com/builders/7"}},
    }
    made = Statement(subjects, kind, predicate)
    made.validate()
    return json.dumps(MessageToDict(made.pb, preserving_proto_field_name=False)).encode()


def sealed(payload, *signers, kind=TYPE):
    envelope = Envelope(payload, kind, {})
    for signer in signers:
        envelope.sign(signer)
    return json.dumps(envelope.to_dict())


image = hashlib.sha256(IMAGE.read_bytes()).hexdigest()
other = hashlib.sha256(b"another image").hexdigest()
signers = {
    "ed25519": CryptoSigner.generate_ed25519(),
    "ecdsa": CryptoSigner.generate_ecdsa(),
    "rsa": CryptoSigner.generate_rsa(),
}
about = statement({"city-4.12.0.zip": image})
files = {name: sealed(about, signer) for name, signer in signers.items()}
files["all"] = sealed(about, *signers.values())
files["several"] = "\n".join([
    sealed(statement({"x.zip": other}), signers["ed25519"]),
    sealed(about, signers["rsa"]),
    sealed(statement({"a": other, "b": image}, "https://example.com/test-result/v1"),
           signers["ed25519"]),
]) + "\n"
files["other subject"] = sealed(statement({"x.zip": other}), signers["ed25519"])
files["other payload"] = sealed(b"hello", signers["ed25519"], kind="text/plain")
json.dump(
    {"image": image, "keys": {n: pem(s) for n, s in signers.items()}, "files": files},
    sys.stdout, indent=1,
)
print()

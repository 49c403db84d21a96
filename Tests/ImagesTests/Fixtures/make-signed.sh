#!/bin/sh
# Makes signed.zip and wrong-signer.zip with nrfutil 6.1.7 (PyPI), and signer.der, the public key of the
# first. The keys are made only for these files, and deleted.
#
#   make-signed.sh [NRFUTIL]
set -eu
cd "$(dirname "$0")"
nrfutil=${1:-nrfutil}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -c "
s, out = 7, bytearray()
for _ in range(600):
    s = (s * 1103515245 + 12345) & 0x7fffffff
    out.append(s >> 16 & 0xff)
open('$work/app.bin', 'wb').write(out)"
for name in signed wrong-signer; do
    "$nrfutil" keys generate "$work/$name.pem"
    "$nrfutil" pkg generate --hw-version 52 --sd-req 0x00 --application "$work/app.bin" \
        --application-version-string 2.7.31 --key-file "$work/$name.pem" "$name.zip"
done
openssl pkey -in "$work/signed.pem" -pubout -outform DER -out signer.der

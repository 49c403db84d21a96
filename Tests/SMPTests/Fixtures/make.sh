#!/bin/sh
# Makes the images of this folder again, with imgtool 2.5.0 (PyPI). The key is made for them only and
# thrown away: who makes them again gets other signatures and another public key.
#
#   make.sh [IMGTOOL]
set -eu
cd "$(dirname "$0")"
imgtool=${1:-imgtool}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Payloads that look like nothing in particular and are the same every time.
payload() { python3 -c "
import sys
n, s = int(sys.argv[1]), int(sys.argv[2])
out = bytearray()
for _ in range(n):
    s = (s * 1103515245 + 12345) & 0x7fffffff
    out.append(s >> 16 & 0xff)
sys.stdout.buffer.write(out)" "$1" "$2" >"$work/$3"; }

payload 90 1 tiny.bin
payload 700 2 small.bin
payload 20000 3 large.bin
payload 1500 4 net.bin
"$imgtool" keygen -t ecdsa-p256 -k "$work/key.pem"
"$imgtool" keygen -t ecdsa-p256 -k "$work/other.pem"
"$imgtool" keygen -t ecdsa-p384 -k "$work/long.pem"
"$imgtool" getpub -k "$work/other.pem" -e pem >"$work/other-public.pem"
"$imgtool" getpub -k "$work/key.pem" -e raw >/dev/null 2>&1 || true
openssl pkey -in "$work/key.pem" -pubout -outform DER -out public-key.der

sign() { "$imgtool" sign --pad-header --slot-size 0x20000 --align 4 "$@"; }
sign --header-size 0x20 --version 1.2.3+45 "$work/tiny.bin" tiny.img
sign --header-size 0x20 --version 2.0.1 --key "$work/key.pem" --security-counter auto \
    -d '(0, 1.0.0+0)' "$work/tiny.bin" signed.img
sign --header-size 0x20 --version 2.0.1 --key "$work/other.pem" "$work/tiny.bin" \
    wrong-key.img
sign --header-size 0x200 --version 2.0.0 "$work/large.bin" large.img
sign --header-size 0x20 --version 3.1.0 "$work/net.bin" net.img
sign --header-size 0x20 --version 2.1.0 -d '(1, 3.0.0+0)' "$work/small.bin" needs-net.img
sign --header-size 0x20 --version 1.2.4 --sha 512 "$work/tiny.bin" sha512.img
sign --header-size 0x20 --version 1.2.4 --key "$work/long.pem" "$work/tiny.bin" sha384.img
sign --header-size 0x20 --version 1.2.4 --encrypt "$work/other-public.pem" "$work/small.bin" \
    encrypted.img
head -c 9000 /dev/zero >"$work/zeros.bin"
sign --header-size 0x20 --version 1.2.4 --compression lzma2 "$work/zeros.bin" compressed.img
# Words of 32 bits of which the last byte looks like that of a Thumb instruction: these compress well.
python3 - "$work/thumb.bin" <<'END'
import random, sys
random = random.Random(9)
words = [bytes([random.randrange(256) for _ in range(3)] + [0xF0 + random.randrange(8)]) for _ in range(40)]
open(sys.argv[1], "wb").write(b"".join(random.choice(words) for _ in range(3000)))
END
sign --header-size 0x20 --version 1.2.4 --compression lzma2armthumb "$work/thumb.bin" compressed-thumb.img
sign --header-size 0x20 --version 1.2.4 --compression lzma2armthumb --encrypt "$work/other-public.pem" \
    "$work/thumb.bin" compressed-encrypted.img
"$imgtool" sign --pad-header --header-size 0x20 --slot-size 0x1000 --align 8 --max-sectors 1 \
    --version 1.2.3+45 --pad "$work/tiny.bin" padded.img
"$imgtool" sign --pad-header --header-size 0x20 --slot-size 0x1000 --align 8 --max-sectors 1 \
    --version 1.2.3+45 --confirm "$work/tiny.bin" confirmed.img

# What the nRF Connect SDK packs, by hand: its own script needs a whole build.
python3 - <<'END'
import json, os, zipfile
def package(name, files, text=None):
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as zip:
        def add(arc, data):
            info = zipfile.ZipInfo(arc, (2026, 1, 5, 22, 0, 0))
            info.external_attr = 0o644 << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            zip.writestr(info, data)
        manifest = {"format-version": 0, "time": 1767650400, "name": "sample",
            "files": [dict(type=t, board="nrf5340dk", soc="nRF5340_CPUAPP", load_address=32768,
                size=os.path.getsize(f), file=f, modtime="1767650400", image_index=i, **v)
                for f, t, i, v in files]}
        add("manifest.json", text or json.dumps(manifest, indent=4))
        for f, *_ in files:
            add(f, open(f, "rb").read())
package("dfu_application.zip", [
    ("needs-net.img", "application", "0", {"version_MCUBOOT": "2.1.0+0"}),
    ("net.img", "net-core", "1", {"version_MCUBOOT": "3.1.0+0"})])
package("bare-hex.zip", [("tiny.img", "application", "0", {})], """{
  "format-version": 0, "files": [ { "file": "tiny.img", "size": %d, "type": "application",
  "board": "thingy52 0x1F", "load_address": 0xC000, "version_MCUBOOT": "1.2.3+45", "modtime": "1" } ] }
""" % os.path.getsize("tiny.img"))
END

# The same for modules that run images where they lie: one file a slot.
for seed in 5 6 7 8; do payload 700 $seed $seed.bin; done
sign --header-size 0x20 --version 2.0.0 "$work/5.bin" "$work/slot0-2.0.img"
sign --header-size 0x20 --version 2.0.0 "$work/6.bin" "$work/slot1-2.0.img"
sign --header-size 0x20 --version 2.1.0 "$work/7.bin" "$work/slot0-2.1.img"
sign --header-size 0x20 --version 2.1.0 "$work/8.bin" "$work/slot1-2.1.img"
python3 - "$work" <<'END'
import json, os, sys, zipfile
work = sys.argv[1]
for version in ("2.0", "2.1"):
    with zipfile.ZipFile(f"xip-{version}.zip", "w", zipfile.ZIP_DEFLATED) as zip:
        def add(arc, data):
            info = zipfile.ZipInfo(arc, (2026, 1, 5, 22, 0, 0))
            info.external_attr = 0o644 << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            zip.writestr(info, data)
        names = [f"slot{slot}-{version}.img" for slot in (0, 1)]
        add("manifest.json", json.dumps({"format-version": 1, "time": 1767650400, "name": "sample",
            "files": [dict(type="application", board="nrf52840dk", soc="nRF52840", file=name,
                size=os.path.getsize(f"{work}/{name}"), modtime="1767650400", image_index="0",
                slot=str(slot), **{"version_MCUBOOT+XIP": version + ".0"})
                for slot, name in enumerate(names)]}, indent=4))
        for name in names:
            add(name, open(f"{work}/{name}", "rb").read())
END

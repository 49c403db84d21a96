#!/usr/bin/env python3
"""SMP by other authors: the packages smp 4.2.0 and smpclient 7.3.0 (PyPI), unchanged.

  peer.py vectors          writes vectors.json: messages made by smp, with their contents
  peer.py decode           reads our messages from standard input, one per line in hex, and prints
                           each message as smp decodes it
  peer.py update PORT FILE updates the device behind the UDP port of this machine with smpclient
"""

import asyncio
import functools
import json
import pathlib
import sys

from smp import file_management as files, header, image_management as img, os_management as osm
from smp import settings_management as settings, statistics_management as statistics
from smp.error import Err

H1, H2 = bytes(range(32)), bytes(range(64, 96))


def dumps(message):
    return bytes(message).hex()


def requests():
    data = bytes(range(200))
    yield "echo", osm.EchoWriteRequest(d="hello", sequence=1)
    yield "reset", osm.ResetWriteRequest(sequence=2)
    yield "forced reset", osm.ResetWriteRequest(force=1, sequence=3)
    yield "parameters", osm.MCUMgrParametersReadRequest(sequence=4)
    yield "bootloader mode", osm.BootloaderInformationReadRequest(query="mode", sequence=5)
    yield "image state", img.ImageStatesReadRequest(sequence=6)
    yield "test", img.ImageStatesWriteRequest(hash=H1, confirm=False, sequence=7)
    yield "confirm", img.ImageStatesWriteRequest(confirm=True, sequence=8)
    yield "first piece", img.ImageUploadWriteRequest(
        off=0, data=data, len=70000, sha=H1, image=1, sequence=9)
    yield "later piece", img.ImageUploadWriteRequest(off=66000, data=data[:20], sequence=10)
    yield "erase", img.ImageEraseRequest(slot=3, sequence=11)
    yield "statistics", statistics.GroupDataRequest(name="app", sequence=12)
    yield "setting", settings.ReadSettingRequest(name="app/rate", sequence=13)
    yield "set", settings.WriteSettingRequest(name="app/rate", val=b"\x2c\x01", sequence=14)
    yield "commit", settings.CommitSettingsRequest(sequence=15)
    yield "save", settings.SaveSettingsRequest(sequence=16)
    yield "file", files.FileDownloadRequest(name="/lfs1/mode", off=300, sequence=17)
    yield "first of a file", files.FileUploadRequest(
        name="/lfs1/mode", off=0, data=b"quiet", len=11, sequence=18)
    yield "rest of a file", files.FileUploadRequest(
        name="/lfs1/mode", off=5, data=b" night", sequence=19)


def replies():
    yield "parameters", osm.MCUMgrParametersReadResponse(buf_size=2475, buf_count=4, sequence=4)
    yield "bootloader", osm.BootloaderInformationReadResponse(bootloader="MCUboot", sequence=5)
    yield "image state", img.ImageStatesReadResponse(images=[
        img.ImageState(slot=0, version="1.2.3.45", hash=H1, bootable=True, active=True,
                       confirmed=True),
        img.ImageState(slot=1, image=1, version="2.0.0", hash=H2, pending=True, permanent=False),
    ], splitStatus=0, sequence=6)
    yield "offset", img.ImageUploadWriteResponse(off=66000, sequence=9)
    yield "end", img.ImageUploadWriteResponse(off=70000, match=True, sequence=10)
    yield "statistics", statistics.GroupDataResponse(
        name="app", fields={"errors": 0, "ticks": 4711000000}, sequence=12)
    yield "setting", settings.ReadSettingResponse(val=b"\x2c\x01", sequence=13)
    yield "file", files.FileDownloadResponse(off=0, data=b"quiet", len=11, sequence=17)
    yield "taken", files.FileUploadResponse(off=11, sequence=19)
    yield "busy", img.ImageManagementErrorV1(header=failed(header.Version.V1, 5, 12), rc=10)
    code = img.IMG_MGMT_ERR.NO_FREE_SLOT
    yield "refusal", img.ImageManagementErrorV2(
        header=failed(header.Version.V2, 17, 13), err=Err[img.IMG_MGMT_ERR](rc=code, group=1))


def failed(version, length, sequence):
    return header.Header(op=header.OP.WRITE_RSP, version=version, flags=header.Flag(0),
                         length=length, group_id=1, sequence=sequence, command_id=1)


def vectors():
    out = []
    for kind, messages in (("requests", requests()), ("replies", replies())):
        rows = []
        for name, message in messages:
            try:
                rows.append({"name": name, "hex": dumps(message)})
            except Exception as error:
                print(f"{name}: {error}", file=sys.stderr)
        out.append((kind, rows))
    path = pathlib.Path(__file__).with_name("vectors.json")
    path.write_text(json.dumps(dict(out), indent=2) + "\n")


CLASSES = [
    osm.EchoWriteRequest, osm.ResetWriteRequest, osm.MCUMgrParametersReadRequest,
    osm.BootloaderInformationReadRequest, img.ImageStatesReadRequest,
    img.ImageStatesWriteRequest, img.ImageUploadWriteRequest, img.ImageEraseRequest,
    statistics.GroupDataRequest, settings.ReadSettingRequest, settings.WriteSettingRequest,
    settings.CommitSettingsRequest, settings.SaveSettingsRequest, files.FileDownloadRequest,
    files.FileUploadRequest,
]


def decode():
    for line in sys.stdin:
        data = bytes.fromhex(line.strip())
        head = header.Header.loads(data[:8])
        found = "nothing"
        for candidate in CLASSES:
            if (candidate._GROUP_ID, candidate._COMMAND_ID) != (head.group_id, head.command_id):
                continue
            try:
                message = candidate.loads(data)
            except Exception:
                continue
            if head.op != candidate._OP:
                continue
            fields = message.model_dump(exclude={"header", "version", "sequence", "smp_data"},
                                        exclude_none=True)
            fields = {k: v.hex() if isinstance(v, bytes) else v for k, v in fields.items()}
            found = f"{candidate.__name__} {head.sequence} {json.dumps(fields, sort_keys=True)}"
        print(found)


async def update(port, path):
    from smpclient import SMPClient
    from smpclient.generics import error, success
    from smpclient.mcuboot import ImageInfo
    from smpclient.requests.image_management import ImageStatesRead, ImageStatesWrite
    from smpclient.requests.os_management import EchoWrite, ResetWrite
    from smpclient.transport.udp import SMPUDPTransport

    transport = SMPUDPTransport()
    transport.connect = functools.partial(transport.connect, port=port)
    client = SMPClient(transport, "127.0.0.1")
    await client.connect(5.0)
    steps = []
    data = pathlib.Path(path).read_bytes()
    info = ImageInfo.load_file(path)
    wanted = bytes(info.get_tlv(0x10).value)

    async def ask(request):
        reply = await client.request(request)
        if error(reply):
            raise SystemExit(f"error: {reply}")
        assert success(reply)
        return reply

    assert (await ask(EchoWrite(d="hello"))).r == "hello"
    steps.append("echo")
    before = (await ask(ImageStatesRead())).images
    assert len(before) == 1 and before[0].active
    offsets = [off async for off in client.upload(data)]
    assert offsets[-1] == len(data), offsets
    steps.append(f"upload of {len(data)} bytes in {len(offsets)} pieces")
    staged = (await ask(ImageStatesRead())).images
    assert bytes(staged[1].hash) == wanted
    marked = (await ask(ImageStatesWrite(hash=wanted))).images
    assert marked[1].pending
    steps.append("marked")
    await ask(ResetWrite())
    tried = (await ask(ImageStatesRead())).images
    assert bytes(tried[0].hash) == wanted and tried[0].active and not tried[0].confirmed
    steps.append("tried")
    await ask(ImageStatesWrite(confirm=True))
    after = (await ask(ImageStatesRead())).images
    assert bytes(after[0].hash) == wanted and after[0].active and after[0].confirmed
    steps.append("confirmed")
    await client.disconnect()
    print("; ".join(steps))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["vectors"]: vectors()
        case ["decode"]: decode()
        case ["update", port, path]: asyncio.run(update(int(port), path))
        case _: sys.exit(__doc__)

#!/usr/bin/env python3
"""Bluetooth programs by other authors with a served depot: bleak, smpclient, bluez-peripheral, bless.

All are from PyPI and unchanged. DBUS_SYSTEM_BUS_ADDRESS names the bus.

  clients.py scan SECONDS        scans with bleak and prints each device
  clients.py echo NAME COUNT     sends COUNT echo requests of SMP to a module with bleak
  clients.py gone NAME           connects and waits until the link is lost
  clients.py update NAME FILE    updates a module with smpclient, which uses bleak
  clients.py serve UUID          serves the car-share socket with bluez-peripheral
  clients.py bless UUID          serves the car-share socket with bless
"""

import asyncio
import sys
import time

NOTIFY = "430f2ea3-c765-4051-9134-a341254cfd00"
WRITE = "906ee7e0-d8db-44f3-af54-6b0dfcecdf1c"
SMP = "da2e7828-fbce-4e01-ae9e-261174997c48"


async def scan(seconds):
    from bleak import BleakScanner

    found = await BleakScanner.discover(timeout=float(seconds), return_adv=True)
    for address, (device, heard) in sorted(found.items()):
        data = ",".join(f"{k:04x}:{v.hex()}" for k, v in sorted(heard.manufacturer_data.items()))
        print("found", address, heard.local_name or "-", heard.rssi, data or "-",
              ",".join(sorted(heard.service_uuids)) or "-")


async def client(name, gone=None):
    from bleak import BleakClient, BleakScanner

    device = await BleakScanner.find_device_by_name(name, timeout=10)
    if device is None:
        sys.exit(f"{name} is not heard")
    return BleakClient(device, disconnected_callback=gone)


async def echo(name, count):
    from smp import os_management as osm

    answers = asyncio.Queue()
    async with await client(name) as link:
        await link.start_notify(SMP, lambda _, data: answers.put_nowait(bytes(data)))
        print("mtu", link.mtu_size)
        began = time.monotonic()
        for number in range(int(count)):
            request = bytes(osm.EchoWriteRequest(d="x" * 40, sequence=number % 256))
            await link.write_gatt_char(SMP, request, response=False)
            answer = await asyncio.wait_for(answers.get(), 10)
            if answer[6] != number % 256 or b"x" * 40 not in answer:
                sys.exit(f"echo {number}: {answer.hex()}")
        took = time.monotonic() - began
        await link.stop_notify(SMP)
        print(f"echoes {count} in {took:.2f} s")
    print("disconnected")


async def gone(name):
    lost = asyncio.Event()
    link = await client(name, lambda _: lost.set())
    await link.connect()
    print("connected", flush=True)
    await link.start_notify(SMP, lambda _, data: None)
    await link.write_gatt_char(SMP, b"?", response=False)
    await asyncio.wait_for(lost.wait(), 20)
    print("lost")


async def update(name, path):
    from smpclient import SMPClient
    from smpclient.generics import success
    from smpclient.requests.image_management import ImageStatesRead, ImageStatesWrite
    from smpclient.requests.os_management import ResetWrite
    from smpclient.transport.ble import SMPBLETransport

    image = open(path, "rb").read()
    client = SMPClient(SMPBLETransport(), name)
    await client.connect(10)
    began = time.monotonic()
    async for _ in client.upload(image, slot=0, first_timeout_s=20):
        pass
    print(f"uploaded {len(image)} bytes in {time.monotonic() - began:.2f} s")
    state = await client.request(ImageStatesRead())
    assert success(state), state
    fresh = [entry for entry in state.images if entry.slot == 1][0]
    state = await client.request(ImageStatesWrite(hash=fresh.hash))
    assert success(state), state
    await client.request(ResetWrite())
    # The restart ends the link, and the module installs the new image.
    await asyncio.sleep(8)
    client = SMPClient(SMPBLETransport(), name)
    await client.connect(10)
    state = await client.request(ImageStatesRead())
    assert success(state), state
    active = [entry for entry in state.images if entry.slot == 0][0]
    assert active.hash == fresh.hash, state
    state = await client.request(ImageStatesWrite(hash=active.hash, confirm=True))
    assert success(state), state
    await client.disconnect()
    print("runs", active.version)


async def handshake(written, notify):
    """The beginning of a car-share session: sync bytes until the vehicle requests the handshake."""
    for _ in range(10):
        notify(bytes([0x55]))
        try:
            data = await asyncio.wait_for(written.get(), 2)
            print("written", data.hex())
            return
        except asyncio.TimeoutError:
            continue
    sys.exit("nothing was written")


async def serve(uuid):
    from bluez_peripheral.advert import Advertisement
    from bluez_peripheral.gatt.characteristic import CharacteristicFlags as Flags
    from bluez_peripheral.gatt.characteristic import characteristic
    from bluez_peripheral.gatt.service import Service
    from bluez_peripheral.util import Adapter, get_message_bus

    written = asyncio.Queue()

    class Socket(Service):
        def __init__(self):
            super().__init__(uuid, True)

        @characteristic(NOTIFY, Flags.NOTIFY)
        def out(self, options):
            return bytes(1)

        @characteristic(WRITE, Flags.WRITE | Flags.WRITE_WITHOUT_RESPONSE)
        def taken(self, options):
            return bytes(1)

        @taken.setter
        def taken(self, value, options):
            written.put_nowait(bytes(value))

    bus = await get_message_bus()
    service = Socket()
    await service.register(bus)
    adapter = await Adapter.get_first(bus)
    advert = Advertisement("socket", [uuid], 0, 60)
    await advert.register(bus, adapter)
    print("serving", flush=True)
    await handshake(written, lambda data: service.out.changed(data))
    await service.unregister()


async def bless(uuid):
    from bless import BlessServer, GATTAttributePermissions as Permissions
    from bless import GATTCharacteristicProperties as Properties

    written = asyncio.Queue()
    server = BlessServer(name="socket")
    server.read_request_func = lambda characteristic, **_: characteristic.value or bytearray(1)
    server.write_request_func = lambda _, value, **__: written.put_nowait(bytes(value))
    await server.add_new_service(uuid)
    await server.add_new_characteristic(
        uuid, NOTIFY, Properties.notify, bytearray(1), Permissions.readable)
    await server.add_new_characteristic(
        uuid, WRITE, Properties.write | Properties.write_without_response, None,
        Permissions.writeable)
    await server.start()
    print("serving", flush=True)

    def notify(data):
        server.get_characteristic(NOTIFY).value = bytearray(data)
        server.update_value(uuid, NOTIFY)

    await handshake(written, notify)
    await server.stop()


if __name__ == "__main__":
    verbs = {f.__name__: f for f in (scan, echo, gone, update, serve, bless)}
    if len(sys.argv) < 3 or sys.argv[1] not in verbs:
        sys.exit(__doc__)
    asyncio.run(verbs[sys.argv[1]](*sys.argv[2:]))

"""A module of family mcumgr over Bumble: its own Bluetooth host on a virtual controller.

    module.py ADAPTER ORDERS

It keeps MCUboot's two slots in memory, and prints what it got and what it runs. The file ORDERS has one
habit a line. It is read at the start of each link; with other orders it is another module, which runs its old
image and has the old one's bonds:

    mtu N                the largest MTU that it accepts
    write-only           its characteristic takes only writes with response
    indicates            its characteristic indicates, and does not notify
    encrypted            its characteristic and the CCC want an encrypted link
    passkey N            they want a bond by this passkey, which is printed on it
    private              it has another resolvable private address for each link
    moves BYTES          when it has so many bytes of the image, its service gets other handles, once, and
                         it indicates that its services have changed
    refuse KIND N CODE   the request number N of its kind on each link gets this ATT error; 0: every one
    asks BYTES MIN MAX TIMEOUT
                         asks, once, when it has so many bytes of the image, for an interval of the link between
                         these and for this supervision timeout, all in milliseconds
    drop BYTES REASON    ends the link, once, when it has so many bytes of the image
    forget               loses its bonds

The kinds: mtu, services, characteristics, descriptors, read; ccc, request and command: writes to its
characteristic; write: all others.
"""

import asyncio
import hashlib
import logging
import secrets
import signal
import struct
import sys

from bumble import att, gatt, hci
from bumble.core import UUID, AdvertisingData, ConnectionParameterUpdateError
from bumble.device import Device, DeviceConfiguration
from bumble.pairing import PairingConfig, PairingDelegate
from bumble.transport import open_transport

NAME = "YM-0001"
SERVICE = UUID("8d53dc1d-1db7-4cd3-868b-8a527460aa84")
SMP = UUID("da2e7828-fbce-4e01-ae9e-261174997c48")
CCC = gatt.GATT_CLIENT_CHARACTERISTIC_CONFIGURATION_DESCRIPTOR

KINDS = {
    att.Opcode.ATT_EXCHANGE_MTU_REQUEST: "mtu",
    att.Opcode.ATT_READ_BY_GROUP_TYPE_REQUEST: "services",
    att.Opcode.ATT_FIND_BY_TYPE_VALUE_REQUEST: "services",
    att.Opcode.ATT_READ_BY_TYPE_REQUEST: "characteristics",
    att.Opcode.ATT_FIND_INFORMATION_REQUEST: "descriptors",
    att.Opcode.ATT_READ_REQUEST: "read",
    att.Opcode.ATT_WRITE_REQUEST: "write",
    att.Opcode.ATT_WRITE_COMMAND: "command",
}


def say(*words):
    print(*words, flush=True)


# CBOR, as far as SMP needs it.


def encode(value):
    def head(major, number):
        for size, code in ((1, 24), (2, 25), (4, 26)):
            if number < 24:
                return bytes([major << 5 | number])
            if number < 1 << 8 * size:
                return bytes([major << 5 | code]) + number.to_bytes(size, "big")
        raise ValueError(number)

    match value:
        case bool():
            return b"\xf5" if value else b"\xf4"
        case int():
            return head(0, value)
        case bytes():
            return head(2, len(value)) + value
        case str():
            return head(3, len(value.encode())) + value.encode()
        case list():
            return head(4, len(value)) + b"".join(map(encode, value))
        case dict():
            pairs = (encode(key) + encode(item) for key, item in value.items())
            return head(5, len(value)) + b"".join(pairs)


def decode(data):
    """The first value in the data, and the rest."""
    major, number, rest = data[0] >> 5, data[0] & 31, data[1:]
    if major == 7:
        return {20: False, 21: True}.get(number), rest
    if 24 <= number <= 27:
        size = 1 << number - 24
        number, rest = int.from_bytes(rest[:size], "big"), rest[size:]
    if major in (2, 3):
        value = rest[:number]
        return (value.decode() if major == 3 else value), rest[number:]
    if major == 4:
        items = []
        for _ in range(number):
            item, rest = decode(rest)
            items.append(item)
        return items, rest
    if major == 5:
        members = {}
        for _ in range(number):
            key, rest = decode(rest)
            members[key], rest = decode(rest)
        return members, rest
    return number, rest


class Image:
    """An image in a slot: what MCUboot reads of it."""

    def __init__(self, data):
        magic, header, protected, size = struct.unpack_from("<I4xHHI", data)
        if magic != 0x96F3B83D:
            raise ValueError("no image")
        major, minor, revision, _ = struct.unpack_from("<BBHI", data, 20)
        self.data, self.version, self.hash = data, f"{major}.{minor}.{revision}", b""
        at = header + size + protected
        signed, end = data[:at], at + struct.unpack_from("<H", data, at + 2)[0]
        at += 4
        while at < end:
            kind, length = struct.unpack_from("<HH", data, at)
            if kind == 0x10:
                self.hash = data[at + 4 : at + 4 + length]
            at += 4 + length
        self.is_whole = self.hash == hashlib.sha256(signed).digest()


class Old:
    """The image that it runs at first."""

    version, hash, data, is_whole = "1.0.0", bytes(32), b"", True


class Memory:
    """Two slots, and the upload into the second one."""

    def __init__(self):
        self.active, self.other, self.mark, self.confirmed = Old(), None, None, True
        self.sha, self.length, self.got = b"", 0, b""

    def state(self):
        images = [
            {
                "slot": 0,
                "version": self.active.version,
                "hash": self.active.hash,
                "bootable": True,
                "active": True,
                "confirmed": self.confirmed,
            }
        ]
        if self.other:
            images.append(
                {
                    "slot": 1,
                    "version": self.other.version,
                    "hash": self.other.hash,
                    "bootable": True,
                    "pending": self.mark is not None,
                    "permanent": self.mark == "permanent",
                }
            )
        return {"images": images}

    def change(self, body):
        if body.get("hash") in (None, b"", self.active.hash):
            if body.get("confirm"):
                self.confirmed = True
        elif self.other and self.other.hash == body["hash"]:
            self.mark = "permanent" if body.get("confirm") else "test"
        else:
            return {"rc": 5}
        return self.state()

    def upload(self, body):
        offset, data = body["off"], body.get("data", b"")
        if offset == 0 and not (self.sha and self.sha == body.get("sha")):
            self.sha, self.length, self.got = body.get("sha", b""), body["len"], b""
            self.other = None
        if offset == len(self.got) and self.length:
            self.got += data
        answer = {"off": len(self.got)}
        if self.length and len(self.got) == self.length:
            answer["match"] = hashlib.sha256(self.got).digest() == self.sha
            self.other, self.sha, self.length = Image(self.got), b"", 0
        return answer

    def restart(self):
        if self.mark and self.other.is_whole:
            self.active, self.other = self.other, self.active
            self.confirmed = self.mark == "permanent"
        elif not self.confirmed:
            self.active, self.other, self.confirmed = self.other, self.active, True
        self.mark = None
        digest = hashlib.sha256(self.active.data).hexdigest()
        say("runs", self.active.version, "of SHA-256", digest)


class Label(PairingDelegate):
    """A passkey that does not change."""

    def __init__(self, passkey):
        super().__init__(PairingDelegate.DISPLAY_OUTPUT_ONLY)
        self.passkey = passkey

    async def generate_passkey(self):
        return self.passkey


class Module:
    def __init__(self, device, orders):
        self.device, self.path, self.links, self.is_over = device, orders, 0, False
        server = device.gatt_server
        self.pass_on, server.on_gatt_pdu = server.on_gatt_pdu, self.requested
        self.before, self.services = len(server.attributes), len(server.services)
        self.begin(self.read_orders())
        device.pairing_config_factory = lambda _: self.pairing()
        device.on(device.EVENT_CONNECTION, self.linked)

    def begin(self, orders):
        self.orders, self.memory, self.done, self.restarts = orders, Memory(), set(), False
        self.serve()

    def pairing(self):
        labels = [Label(int(digits)) for (digits,) in self.habits("passkey")]
        return PairingConfig(
            mitm=bool(labels),
            delegate=labels[0] if labels else None,
            identity_address_type=PairingConfig.AddressType.PUBLIC,
        )

    def read_orders(self):
        with open(self.path) as lines:
            return [line.split() for line in lines if line.strip()]

    def habits(self, word):
        return [order[1:] for order in self.orders if order[0] == word]

    def serve(self, others=()):
        """Its one service, the management service of MCUmgr, behind others."""
        server = self.device.gatt_server
        del server.attributes[self.before :]
        del server.services[self.services :]
        server.attributes_by_handle.clear()
        for each in others:
            self.device.add_service(each)
        flags = gatt.Characteristic.Properties
        needs = att.Attribute.Permissions
        writes = needs.READABLE | needs.WRITEABLE
        if self.habits("encrypted"):
            writes |= needs.WRITE_REQUIRES_ENCRYPTION
        if self.habits("passkey"):
            writes |= needs.WRITE_REQUIRES_AUTHENTICATION
        self.indicates = bool(self.habits("indicates"))
        self.smp = gatt.Characteristic(
            SMP,
            (flags.WRITE if self.habits("write-only") else flags.WRITE_WITHOUT_RESPONSE)
            | (flags.INDICATE if self.indicates else flags.NOTIFY),
            writes,
            gatt.CharacteristicValue(write=lambda _, piece: self.pieces.put_nowait(piece)),
        )
        self.ccc = gatt.Descriptor(CCC, writes, server.make_descriptor_value(self.smp))
        self.smp.descriptors = (self.ccc,)
        self.device.add_service(gatt.Service(SERVICE, [self.smp]))

    async def advertise(self):
        kind, address = hci.OwnAddressType.PUBLIC, self.device.public_address
        if self.habits("private"):
            kind = hci.OwnAddressType.RANDOM
            address = hci.Address.generate_private_address(self.device.irk)
            await self.device.send_sync_command(
                hci.HCI_LE_Set_Random_Address_Command(random_address=address)
            )
            self.device.random_address = address
        data = AdvertisingData(
            [
                (AdvertisingData.FLAGS, b"\x06"),
                (AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS, bytes(SERVICE)),
                (AdvertisingData.COMPLETE_LOCAL_NAME, NAME.encode()),
            ]
        )
        await self.device.start_advertising(
            own_address_type=kind,
            advertising_data=bytes(data),
            scan_response_data=b"",
            advertising_interval_min=100,
            advertising_interval_max=100,
        )
        say("advertises as", address)

    def linked(self, connection):
        orders = self.read_orders()
        if orders != self.orders:
            self.begin(orders)
        self.links += 1
        self.message, self.counts = b"", {}
        self.pieces = asyncio.Queue()
        for (limit,) in self.habits("mtu") or [["517"]]:
            self.device.gatt_server.max_mtu = int(limit)
        if self.habits("forget"):
            asyncio.ensure_future(self.device.keystore.delete_all())
        connection.on(connection.EVENT_PAIRING, self.paired)
        connection.on(connection.EVENT_CONNECTION_PARAMETERS_UPDATE, lambda: self.has(connection))
        connection.on(
            connection.EVENT_DISCONNECTION, lambda reason: self.unlinked(connection, reason)
        )
        say("link", self.links)
        self.work = asyncio.ensure_future(self.answer(connection))

    def has(self, connection):
        now = connection.parameters
        say(f"has {now.connection_interval:g} ms and {now.supervision_timeout:g} ms now")

    def paired(self, keys):
        key = keys.ltk or keys.ltk_central
        say("is bonded by passkey" if key.authenticated else "is bonded")

    def unlinked(self, connection, reason):
        self.work.cancel()
        counts = " ".join(f"{kind}={count}" for kind, count in sorted(self.counts.items()))
        say(
            f"link {self.links} ended by 0x{reason:02x}, mtu={connection.att_mtu}",
            "encrypted" if connection.encryption else "plain",
            counts,
        )
        asyncio.ensure_future(self.come_back())

    async def come_back(self):
        if self.restarts:
            self.restarts = False
            self.memory.restart()
            await asyncio.sleep(1)
        if not self.is_over:
            await self.advertise()

    def requested(self, bearer, pdu):
        """Each ATT packet passes here: it is counted, and refused where an order says so."""
        kind, handle = KINDS.get(pdu.op_code, "other"), getattr(pdu, "attribute_handle", 0)
        if kind == "write" and handle == self.smp.handle:
            kind = "request"
        elif kind == "write" and handle == self.ccc.handle:
            kind = "ccc"
            say("ccc", pdu.attribute_value.hex())
        count = self.counts[kind] = self.counts.get(kind, 0) + 1
        for which, number, code in self.habits("refuse"):
            if which == kind and int(number) in (0, count):
                say("refuses", kind, code)
                self.device.gatt_server.send_response(
                    bearer,
                    att.ATT_Error_Response(
                        request_opcode_in_error=pdu.op_code,
                        attribute_handle_in_error=handle,
                        error_code=int(code, 0),
                    ),
                )
                return
        self.pass_on(bearer, pdu)

    async def answer(self, connection):
        """Puts writes together to messages, and answers each."""
        while True:
            self.message += await self.pieces.get()
            while len(self.message) >= 8:
                end = 8 + int.from_bytes(self.message[2:4], "big")
                if len(self.message) < end:
                    break
                message, self.message = self.message[:end], self.message[end:]
                await self.reply(connection, message)

    async def reply(self, connection, message):
        first, _, _, group, sequence, command = struct.unpack(">BBHHBB", message[:8])
        body = encode(self.carry_out(first & 7, group, command, decode(message[8:])[0]))
        answer = struct.pack(">BBHHBB", first + 1, 0, len(body), group, sequence, command) + body
        size = connection.att_mtu - 3
        server = self.device.gatt_server
        send = server.indicate_subscriber if self.indicates else server.notify_subscriber
        for start in range(0, len(answer), size):
            await send(connection, self.smp, answer[start : start + size])
        if self.restarts:
            await connection.disconnect()
        for at, reason in self.due("drop"):
            say(f"drops its link at {at} bytes by {reason}")
            await connection.disconnect(int(reason, 0))
        for (at,) in self.due("moves"):
            await self.move(connection, at)
        for at, *wish in self.due("asks"):
            asyncio.ensure_future(self.ask(connection, at, *map(int, wish)))

    def due(self, word):
        """The habits whose number of bytes has come, each once."""
        for habit in self.habits(word):
            if len(self.memory.got) >= int(habit[0]) and (word, *habit) not in self.done:
                self.done.add((word, *habit))
                yield habit

    async def ask(self, connection, at, least, most, timeout):
        """By L2CAP, as a peripheral that does not know whether the central's controller can do more."""
        say(f"asks for {least} to {most} ms and {timeout} ms at {at} bytes")
        try:
            await connection.update_parameters(least, most, 0, timeout, use_l2cap=True)
            say(f"is granted {least} to {most} ms and {timeout} ms")
        except ConnectionParameterUpdateError:
            say(f"is denied {least} to {most} ms and {timeout} ms")

    async def move(self, connection, at):
        first = self.device.gatt_server.attributes[self.before].handle
        name = gatt.Characteristic(
            UUID("5a1e0001-7d5c-4f0a-9a43-1c2f7c6f8e21"),
            gatt.Characteristic.Properties.READ,
            gatt.Characteristic.Permissions.READABLE,
            NAME.encode(),
        )
        self.serve([gatt.Service(UUID("5a1e0000-7d5c-4f0a-9a43-1c2f7c6f8e21"), [name])])
        say(f"moves its service at {at} bytes")
        await self.device.indicate_subscriber(
            connection,
            self.device.gatt_service.service_changed_characteristic,
            struct.pack("<HH", first, 0xFFFF),
        )
        say("has told that its services have changed")

    def carry_out(self, operation, group, command, body):
        match group, command, operation:
            case 0, 0, 2:
                return {"r": body["d"]}
            case 0, 5, 2:
                self.restarts = True
                return {}
            case 0, 6, 0:
                return {"buf_size": 1024, "buf_count": 3}
            case 0, 8, 0:
                return {"mode": 3} if body.get("query") == "mode" else {"bootloader": "MCUboot"}
            case 1, 0, 0:
                return self.memory.state()
            case 1, 0, 2:
                answer = self.memory.change(body)
                say("is asked to confirm" if body.get("confirm") else "is asked to test")
                return answer
            case 1, 1, 2:
                return self.memory.upload(body)
        return {"rc": 8}


async def main(adapter, orders):
    async with await open_transport(f"hci-socket:{adapter}") as controller:
        configuration = DeviceConfiguration(name=NAME, irk=secrets.token_bytes(16))
        device = Device.from_config_with_hci(configuration, controller.source, controller.sink)
        module = Module(device, orders)
        await device.power_on()
        await module.advertise()
        over = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, over.set)
        await over.wait()
        module.is_over = True
        for connection in list(device.connections.values()):
            await connection.disconnect()
        # The virtual controller crashes when it is reset while it advertises.
        await device.stop_advertising()


logging.basicConfig(level=logging.WARNING)
asyncio.run(main(*sys.argv[1:]))

import Base
import BlueZ

/// The script's scenes as a central.
extension HostScript {
    func playCentral() async {
        await scene("what there is at first") { await listAdapter() }
        await scene("a scan") { await scan() }
        await scene("a link") { await connect() }
        await scene("requests") { await requests() }
        await scene("notifications by signals") { await signals() }
        await scene("sockets") { await acquire() }
        await scene("the peer ends the link") { await loseLink() }
        await scene("a link again, and its end") { await reconnect() }
        await scene("a peer that is not there") { await connectInVain() }
        await scene("an adapter that is switched off under a link") { await powerCycle() }
        await scene("agents") { await agents() }
        await scene("a device that is removed") { await remove() }
    }

    private var echo: ObjectPath { found("ff01") }
    private var store: ObjectPath { found("ff02") }
    private var refusing: ObjectPath { found("ff03") }
    private var order: ObjectPath { found("ff04") }
    private var indicating: ObjectPath { found("ff05") }

    private func found(_ uuid: String) -> ObjectPath { transcript.path(of: uuid) ?? peer }

    private static let none = DBusValue.properties([:])

    private static func type(_ word: String) -> DBusValue { .properties(["type": .string(word)]) }

    private func listAdapter() async {
        let properties = "org.freedesktop.DBus.Properties"
        for interface in ["Adapter1", "GattManager1", "LEAdvertisingManager1"] {
            guard
                let values = await call(
                    "GetAll",
                    properties,
                    adapter,
                    .string("org.bluez." + interface)
                ), let all = values.first?.asProperties
            else { continue }
            transcript.add(Transcript.text(["org.bluez." + interface: all]))
        }
    }

    private func scan() async {
        func filter(_ note: String, _ values: [String: DBusValue]) async {
            await call("SetDiscoveryFilter", "Adapter1", adapter, .properties(values), note: note)
        }
        await call("StopDiscovery", "Adapter1", adapter, note: "without a scan")
        await filter("by smoke", ["Transport": .string("smoke")])
        await filter("by two distances", ["RSSI": .int16(-60), "Pathloss": .uint16(60)])
        await filter("by a wrong type", ["RSSI": .string("near")])
        await filter("by what is unknown", ["Taste": .string("sweet")])
        await filter("low energy", ["Transport": .string("le"), "DuplicateData": .boolean(true)])
        await call("StartDiscovery", "Adapter1", adapter)
        await until("added peer")
        await call("StartDiscovery", "Adapter1", adapter, note: "again")
        await call("StopDiscovery", "Adapter1", adapter)
        await quiet()
        await call("StopDiscovery", "Adapter1", adapter, note: "again")
    }

    private func find() async {
        await call("StartDiscovery", "Adapter1", adapter)
        await quiet()
        await call("StopDiscovery", "Adapter1", adapter)
        await quiet()
    }

    private func connect() async {
        await call("Disconnect", "Device1", peer, note: "without a link")
        await call("Connect", "Device1", peer)
        await until("changed peer Device1.ServicesResolved=true")
        await quiet()
        await call("Connect", "Device1", peer, note: "again")
    }

    private func requests() async {
        let characteristic = "GattCharacteristic1"
        func read(_ path: ObjectPath, _ options: DBusValue, _ note: String = "") async {
            await call("ReadValue", characteristic, path, options, note: note)
        }
        func write(
            _ path: ObjectPath,
            _ bytes: [UInt8],
            _ options: DBusValue,
            _ note: String
        ) async {
            await call("WriteValue", characteristic, path, .bytes(bytes), options, note: note)
        }
        await write(store, [1, 2, 3], Self.none, "[010203]")
        await read(store, Self.none)
        await read(store, .properties(["offset": .uint16(1)]), "from 1")
        await read(store, .properties(["offset": .uint16(9)]), "from 9")
        await write(store, [4], Self.type("command"), "as a command")
        await write(store, [5], Self.type("request"), "as a request")
        await write(store, [6], Self.type("wish"), "as a wish")
        await write(store, [UInt8](repeating: 7, count: 600), Self.none, "600 bytes")
        await write(echo, [UInt8](repeating: 8, count: 600), Self.type("command"), "600 bytes")
        await read(echo, Self.none)
        await read(refusing, Self.none)
        await write(refusing, [1], Self.none, "[01]")
        await write(order, [9], Self.none, "[09]")
        await read(indicating, Self.none)
        let configuration = found("ff01/2902")
        await call("ReadValue", "GattDescriptor1", configuration, Self.none)
        let on = DBusValue.bytes([1, 0])
        await call("WriteValue", "GattDescriptor1", configuration, on, Self.none)
    }

    private func signals() async {
        let characteristic = "GattCharacteristic1"
        await call("StopNotify", characteristic, echo, note: "without a start")
        await call("StartNotify", characteristic, store)
        await call("StartNotify", characteristic, echo)
        await call("StartNotify", characteristic, echo, note: "again")
        await call("WriteValue", characteristic, echo, .bytes([1]), Self.type("command"))
        await until("changed ff01 GattCharacteristic1.Value")
        await call("AcquireNotify", characteristic, echo, Self.none, note: "while it notifies")
        await call("StopNotify", characteristic, echo)
        await quiet()
        await call("StopNotify", characteristic, echo, note: "again")
        await call("StartNotify", characteristic, indicating)
        await call("WriteValue", characteristic, order, .bytes([2]), Self.none)
        await until("changed ff05 GattCharacteristic1.Value")
        await call("StopNotify", characteristic, indicating)
    }

    private func acquire() async {
        await call("AcquireWrite", "GattCharacteristic1", store, Self.none)
        await call("AcquireNotify", "GattCharacteristic1", store, Self.none)
        await takeSockets()
        await call("AcquireWrite", "GattCharacteristic1", echo, Self.none, note: "again")
        await call("AcquireNotify", "GattCharacteristic1", echo, Self.none, note: "again")
        await call("StartNotify", "GattCharacteristic1", echo)
        await call("WriteValue", "GattCharacteristic1", echo, .bytes([2]), Self.none)
        await call("ReadValue", "GattCharacteristic1", store, Self.none)
        sockets.send([0x31, 0x32], by: "write")
        await until("packet by notify")
        sockets.close("write")
        await quiet()
        sockets.close("notify")
    }

    private func takeSockets() async {
        for (member, name) in [("AcquireWrite", "write"), ("AcquireNotify", "notify")] {
            let values = await call(member, "GattCharacteristic1", echo, Self.none)
            if let socket = values?.first?.asDescriptor { sockets.keep(socket, as: name) }
        }
    }

    private func loseLink() async {
        await takeSockets()
        await quiet()
        await call("WriteValue", "GattCharacteristic1", order, .bytes([1]), Self.type("request"))
        await until("changed peer Device1.Connected=false")
        await quiet()
        sockets.tellEnds()
        await call("ReadValue", "GattCharacteristic1", store, Self.none)
        await call("WriteValue", "GattCharacteristic1", store, .bytes([1]), Self.none)
        await call("AcquireWrite", "GattCharacteristic1", echo, Self.none)
        await call("StartNotify", "GattCharacteristic1", indicating)
        await call("StopNotify", "GattCharacteristic1", indicating)
    }

    private func reconnect() async {
        await find()
        await call("Connect", "Device1", peer)
        await until("changed peer Device1.ServicesResolved=true")
        await quiet()
        await call("StartNotify", "GattCharacteristic1", echo)
        await quiet()
        await call("Disconnect", "Device1", peer)
        await until("changed peer Device1.Connected=false")
    }

    private func connectInVain() async {
        await cause(.peerLeaves)
        await quiet()
        await call("Connect", "Device1", peer)
        await cause(.peerReturns)
    }

    private func powerCycle() async {
        await find()
        await call("Connect", "Device1", peer)
        await until("changed peer Device1.ServicesResolved=true")
        await quiet()
        await setPower(false)
        await until("changed adapter Adapter1.Powered=false")
        await quiet()
        await call("StartDiscovery", "Adapter1", adapter)
        await call("StopDiscovery", "Adapter1", adapter)
        await call("Connect", "Device1", peer)
        await call("Pair", "Device1", peer)
        await setPower(true)
        await until("changed adapter Adapter1.Powered=true")
    }

    private func setPower(_ on: Bool) async {
        await call(
            "Set",
            "org.freedesktop.DBus.Properties",
            adapter,
            .string("org.bluez.Adapter1"),
            .string("Powered"),
            .variant(.boolean(on)),
            note: on ? "on" : "off"
        )
    }

    private func agents() async {
        guard let manager = ObjectPath("/org/bluez"), let agent = ObjectPath("/script/agent") else {
            return
        }
        let path = DBusValue.objectPath(agent)
        await call("RequestDefaultAgent", "AgentManager1", manager, path, note: "of none")
        await call("UnregisterAgent", "AgentManager1", manager, path, note: "of none")
        func register(_ word: String, _ note: String) async {
            await call("RegisterAgent", "AgentManager1", manager, path, .string(word), note: note)
        }
        await register("Telepathy", "with telepathy")
        await register("NoInputNoOutput", "with nothing")
        await quiet()
        await register("KeyboardOnly", "again")
        await call("RequestDefaultAgent", "AgentManager1", manager, path)
        await call("UnregisterAgent", "AgentManager1", manager, path)
        await quiet()
        await call("CancelPairing", "Device1", peer)
    }

    private func remove() async {
        let stranger = adapter.appending("dev_00_00_00_00_00_42") ?? .root
        await call("RemoveDevice", "Adapter1", adapter, .objectPath(stranger), note: "a stranger")
        await call("RemoveDevice", "Adapter1", adapter, .objectPath(peer))
        await until("removed peer")
        await quiet()
        await call("Connect", "Device1", peer)
        await call("ReadValue", "GattCharacteristic1", store, Self.none)
    }
}

import Base
import BlueZ

/// The script's scenes as a peripheral.
extension HostScript {
    func playPeripheral() async {
        await scene("an application and an advertisement", isBrief: true) { await register() }
        await scene("a central comes and goes", isBrief: true) { await serve() }
        await scene("they are taken away", isBrief: true) { await unregister() }
    }

    private static let root = ObjectPath("/script/application") ?? .root
    private static let advertisement = ObjectPath("/script/advertisement") ?? .root

    private func manage(
        _ member: String,
        _ interface: String,
        _ path: ObjectPath,
        note: String = ""
    ) async {
        guard member.hasPrefix("Register") else {
            await call(member, interface, adapter, .objectPath(path), note: note)
            return
        }
        await call(member, interface, adapter, .objectPath(path), .properties([:]), note: note)
    }

    private func register() async {
        await export()
        await manage("UnregisterApplication", "GattManager1", Self.root, note: "of none")
        await manage("UnregisterAdvertisement", "LEAdvertisingManager1", Self.root, note: "of none")
        await manage("RegisterApplication", "GattManager1", Self.root)
        await manage("RegisterApplication", "GattManager1", Self.root, note: "again")
    }

    private func serve() async {
        await manage("RegisterAdvertisement", "LEAdvertisingManager1", Self.advertisement)
        await until("asked AcquireNotify")
        await quiet()
        await manage(
            "RegisterAdvertisement",
            "LEAdvertisingManager1",
            Self.advertisement,
            note: "again"
        )
        sockets.send([1, 2, 3, 4], by: "central")
        await until("asked WriteValue fe02 [0304]")
        await quiet()
        await cause(.centralLeaves)
        await until("changed central Device1.Connected=false")
        await quiet()
        sockets.tellEnds()
    }

    private func unregister() async {
        await manage("UnregisterAdvertisement", "LEAdvertisingManager1", Self.advertisement)
        await manage("UnregisterApplication", "GattManager1", Self.root)
        await manage("UnregisterApplication", "GattManager1", Self.root, note: "again")
    }

    // MARK: The served objects

    private func export() async {
        let service = Self.root.appending("service0") ?? .root
        await bus.exportManager(at: Self.root)
        await bus.export(
            InterfaceDescription("org.bluez.GattService1"),
            at: service,
            properties: ["UUID": Self.uuid("fe00"), "Primary": .boolean(true)]
        )
        await exportCharacteristic("fe01", ["notify"], ["NotifyAcquired": .boolean(false)], service)
        await exportCharacteristic("fe02", ["write", "write-without-response"], [:], service)
        await bus.export(
            InterfaceDescription(
                "org.bluez.LEAdvertisement1",
                methods: [.init("Release")]
            ),
            at: Self.advertisement,
            properties: [
                "Type": .string("peripheral"),
                "ServiceUUIDs": .array(of: .string, [Self.uuid("fe00")]),
            ]
        ) { [transcript] call in
            transcript.add("asked \(call.member) of the advertisement")
            call.reply()
        }
    }

    private static func uuid(_ short: String) -> DBusValue {
        .string("0000\(short)-0000-1000-8000-00805f9b34fb")
    }

    private func exportCharacteristic(
        _ uuid: String,
        _ flags: [String],
        _ more: [String: DBusValue],
        _ service: ObjectPath
    ) async {
        guard let path = service.appending(uuid) else { return }
        var properties: [String: DBusValue] = [
            "UUID": Self.uuid(uuid), "Service": .objectPath(service), "Flags": .strings(flags),
        ]
        properties.merge(more) { $1 }
        let options = InterfaceDescription.Argument("options", Self.optionsType)
        let bytes = InterfaceDescription.Argument("value", Self.bytesType)
        let description = InterfaceDescription(
            "org.bluez.GattCharacteristic1",
            methods: [
                .init("WriteValue", takes: [bytes, options]),
                .init("AcquireNotify", takes: [options]),
                .init("StartNotify"), .init("StopNotify"), .init("Confirm"),
            ]
        )
        await bus.export(description, at: path, properties: properties) { [self] in
            asked($0, uuid)
        }
    }

    private static let optionsType = Signature("a{sv}") ?? .variant
    private static let bytesType = Signature("ay") ?? .variant

    /// Handles a call to one of the served objects, on the loop's thread.
    private func asked(_ call: IncomingCall, _ uuid: String) {
        let options = call.arguments.last?.asProperties ?? [:]
        let told = options.sorted { $0.key < $1.key }.map { name, value in
            name == "device" ? name : name + "=" + (Transcript.text(of: value) ?? "")
        }
        let bytes = call.arguments.first?.asBytes.map { " [" + Hex.text($0) + "]" } ?? ""
        transcript.add("asked \(call.member) \(uuid)\(bytes) (\(told.joined(separator: " ")))")
        guard call.member == "AcquireNotify", let pair = UnixDescriptor.packetPair() else {
            return call.reply()
        }
        sockets.keep(pair.ours, as: "central")
        call.reply(.descriptor(pair.theirs), .uint16(185))
    }
}

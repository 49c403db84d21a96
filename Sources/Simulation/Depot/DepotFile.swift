import Domain
package import Marked
import Wire

/// A simulated depot as its YAML file describes it.
package struct DepotFile: Sendable, Equatable {
    package var name: String
    package var seed: UInt64
    package var adapters: [String]
    package var linksPerAdapter: Int
    /// Room for an image in each module, in bytes.
    package var imageCapacity: Int
    /// Of family `comodule`.
    package var modules: [ModulePlan]
    /// Of family `lrdevice`.
    package var locks: [LRDevicePlan] = []
    /// Of family `mcumgr`.
    package var smpModules: [SMPModulePlan] = []
    /// Of family `geotab-go`.
    package var goDevices: [GOPlan] = []
    /// Of the Bluetooth service, where the depot is served as one.
    package var host = HostPlan()

    /// A depot without modules, for those who put them there themselves.
    package static func empty(_ name: String) -> DepotFile {
        DepotFile(
            name: name,
            seed: 1,
            adapters: ["hci0"],
            linksPerAdapter: 7,
            imageCapacity: 1 << 20,
            modules: []
        )
    }

    /// Reads a depot; nil when `diagnostics` got the reasons.
    package static func load(
        path: String,
        _ diagnostics: Diagnostics
    ) throws(FileError) -> DepotFile? {
        guard let tree = try MarkedNode.load(path: path, diagnostics) else { return nil }
        return read(tree, diagnostics)
    }

    package static func read(_ tree: MarkedNode, _ diagnostics: Diagnostics) -> DepotFile? {
        var reader = FieldReader(tree, diagnostics, as: "a simulated depot")
        let name = reader.text("name") ?? ""
        let seed = reader.integer("seed", in: 0...Int.max, default: 1)
        let adapters = reader.list("adapters", .optional, of: "adapter names")
            .compactMap { $0.text(diagnostics) }
        let links = reader.integer("links-per-adapter", in: 1...20, default: 7)
        let capacity = reader.byteCount("image-capacity", in: 4_096...(64 << 20), .optional)
        let link = reader.reader("link", as: "a link", .optional).map { read(link: $0) }
        var seen: [Serial: Place] = [:]
        var modules: [ModulePlan] = []
        var locks: [LRDevicePlan] = []
        var smpModules: [SMPModulePlan] = []
        var goDevices: [GOPlan] = []
        let tenants = GOReader.tenants(&reader, diagnostics)
        let host = reader.reader("host", as: "a host", .optional).map { field in
            var reader = HostReader(field, diagnostics)
            return reader.read()
        }
        func take(_ serial: Serial, _ place: Place) {
            if let first = seen[serial] {
                diagnostics.error(
                    place,
                    "the serial \(serial) is taken by the module at \(first)",
                    hint: "give every module a serial of its own"
                )
            }
            seen[serial] = place
        }
        for node in reader.list("modules", of: "modules") {
            let link = link ?? LinkParameters()
            switch family(of: node) {
            case .lrdevice:
                var lock = LRDeviceReader(node, link, diagnostics)
                guard let plan = lock.read() else { continue }
                take(plan.serial, node.place)
                locks.append(plan)
                continue
            case .geotabGo:
                var device = GOReader(node, link, tenants: tenants, diagnostics)
                for plan in device.read() {
                    take(plan.serial, node.place)
                    goDevices.append(plan)
                }
                continue
            case .mcumgr:
                var module = SMPModuleReader(node, link, diagnostics)
                for plan in module.read() {
                    take(plan.serial, node.place)
                    smpModules.append(plan)
                }
                continue
            case .comodule: break
            }
            var module = ModuleReader(node, link, diagnostics)
            for plan in module.read() {
                take(plan.serial, node.place)
                modules.append(plan)
            }
        }
        reader.finish()
        guard !diagnostics.hasErrors else { return nil }
        return DepotFile(
            name: name,
            seed: UInt64(seed),
            adapters: adapters.isEmpty ? ["hci0"] : adapters,
            linksPerAdapter: links,
            imageCapacity: capacity?.bytes ?? 1 << 20,
            modules: modules,
            locks: locks,
            smpModules: smpModules,
            goDevices: goDevices,
            host: host ?? HostPlan()
        )
    }

    /// What the item says about its family: each family has keys of its own.
    private static func family(of node: MarkedNode) -> Family {
        // Other faults of the item are told by whoever reads it.
        var peek = FieldReader(node, Diagnostics(), as: "a simulated module")
        return peek.choice("family", Family.self, .optional) ?? .comodule
    }

    /// What stands under `link`, on top of what holds for the whole depot.
    static func read(
        link field: FieldReader,
        over base: LinkParameters = LinkParameters()
    ) -> LinkParameters {
        var reader = field
        var link = base
        link.interval = reader.duration(
            "interval",
            in: .microseconds(7_500)...(.seconds(4)),
            default: base.interval
        )
        link.mtu = reader.integer("mtu", in: 23...517, default: base.mtu)
        link.phy = reader.choice("phy", default: base.phy)
        link.dataLength = reader.integer("data-length", in: 27...251, default: base.dataLength)
        link.packetsPerInterval = reader.integer(
            "packets-per-interval",
            in: 1...100,
            default: base.packetsPerInterval
        )
        link.loss =
            reader.percent("loss", .optional).map { Double($0.hundredths) / 10_000 } ?? base.loss
        link.supervisionTimeout = reader.duration(
            "supervision-timeout",
            in: .milliseconds(100)...(.seconds(32)),
            default: base.supervisionTimeout
        )
        reader.finish()
        return link
    }
}

/// Reads one item of a depot's `modules`, which may stand for many modules.
private struct ModuleReader {
    private var reader: FieldReader
    private let place: Place
    private let link: LinkParameters
    private let diagnostics: Diagnostics

    init(_ node: MarkedNode, _ link: LinkParameters, _ diagnostics: Diagnostics) {
        reader = FieldReader(node, diagnostics, as: "a simulated module")
        place = node.place
        self.link = link
        self.diagnostics = diagnostics
    }

    mutating func read() -> [ModulePlan] {
        let serial = serial()
        let count = reader.integer("count", in: 1...100_000, default: 1)
        guard var plan = serial.map({ ModulePlan(serial: $0) }) else {
            return []
        }
        if let family = reader.choice("family", Family.self, .optional), family != .comodule {
            diagnostics.error(
                reader.place(of: "family"),
                "modules of family \(family.rawValue) cannot be simulated yet",
                hint: "leave the key out, or write `family: comodule`"
            )
        }
        plan.name = reader.text("name", default: plan.name)
        plan.key = key()
        plan.firmwareType = UInt16(reader.integer("type", in: 0...65_535, default: 0))
        plan.firmwareVariant = UInt16(reader.integer("variant", in: 0...65_535, default: 0))
        plan.version = version("version", default: plan.version)
        plan.primaryVersion = version("primary-version", default: plan.primaryVersion)
        plan.stateOfCharge = UInt8(reader.integer("state-of-charge", in: 0...100, default: 80))
        plan.speedTenths = UInt16(reader.integer("speed", in: 0...300, default: 0) * 10)
        plan.signal = reader.integer("signal", in: -120...0, default: -60)
        if reader.boolean("out-of-reach", default: false) { plan.signal = nil }
        plan.advertisingInterval = reader.duration(
            "advertising-interval",
            in: .milliseconds(20)...(.seconds(11)),
            default: plan.advertisingInterval
        )
        plan.restartTime = reader.duration("restart-time", default: plan.restartTime)
        plan.activationTime = reader.duration("activation-time", default: plan.activationTime)
        plan.eraseTime = reader.duration("erase-time", default: plan.eraseTime)
        plan.keepsProgress = reader.boolean("keeps-progress", default: true)
        plan.bootloaderVersion = version("bootloader-version", default: plan.bootloaderVersion)
        plan.external1Version = version("external-1-version", default: plan.external1Version)
        plan.external2Version = version("external-2-version", default: plan.external2Version)
        plan.handoverTime = reader.duration("handover-time", default: plan.handoverTime)
        let pool = reader.integer("packet-pool", in: 0...1_000, default: 0)
        plan.packetPool = pool > 0 ? pool : nil
        plan.pageWriteTime = reader.duration("page-write-time", default: plan.pageWriteTime)
        plan.isBonded = reader.boolean("bonded", default: false)
        plan.isNameless = reader.boolean("nameless-bootloader", default: false)
        plan.publicKey = DepotFile.publicKey(&reader, diagnostics)
        plan.preventsDowngrade = reader.boolean("prevents-downgrade", default: false)
        DepotFile.readVehicle(&reader, into: &plan.vehicle)
        plan.link = link
        if let own = reader.reader("link", as: "a link", .optional) {
            plan.link = DepotFile.read(link: own, over: link)
        }
        let faults = reader.list("faults", .optional, of: "faults")
        plan.faults = faults.compactMap { fault($0) }
        reader.finish()
        return series(of: plan, count: count)
    }

    private mutating func serial() -> Serial? {
        guard let text = reader.text("serial") else { return nil }
        guard text.utf8.count == 16, Hex.bytes(text) != nil else {
            diagnostics.error(
                reader.place(of: "serial"),
                "a Comodule serial has 16 hex digits",
                hint: "for example \"00a0000000000001\", in quotes"
            )
            return nil
        }
        return Serial(text)
    }

    private mutating func key() -> [UInt8] {
        let text = reader.text("key") ?? ""
        guard let bytes = Hex.bytes(text), (1...20).contains(bytes.count) else {
            if !text.isEmpty {
                diagnostics.error(
                    reader.place(of: "key"),
                    "a simulated module's key is 1 to 20 bytes in hex",
                    hint: "invent one: up to 40 hex digits, in quotes"
                )
            }
            return []
        }
        return bytes + [UInt8](repeating: 0, count: 20 - bytes.count)
    }

    private mutating func version(
        _ key: String,
        default fallback: FirmwareVersion
    ) -> FirmwareVersion {
        guard let text = reader.text(key, .optional) else { return fallback }
        guard let version = FirmwareVersion(text) else {
            diagnostics.error(
                reader.place(of: key),
                "`\(text)` is not a version",
                hint: "write two to four numbers in quotes, as in \"4.11.3\""
            )
            return fallback
        }
        return version
    }

    /// Serials that count up from the first one.
    private func series(of plan: ModulePlan, count: Int) -> [ModulePlan] {
        guard let first = UInt64(plan.serial.text, radix: 16) else { return [] }
        return (0..<UInt64(count)).compactMap { step in
            var next = plan
            guard let serial = Serial(bytes: (first &+ step).bigBytes) else { return nil }
            next.serial = serial
            return next
        }
    }

    private func fault(_ node: MarkedNode) -> ModulePlan.Fault? {
        var reader = FieldReader(node, diagnostics, as: "a fault")
        let times = reader.integer("times", in: 1...255, default: 1)
        let period = reader.duration(
            "period",
            in: .milliseconds(200)...(.seconds(600)),
            default: .seconds(6)
        )
        var kinds: [ModulePlan.Fault.Kind] = []
        let bytes = 1...(64 << 20)
        if let at = reader.byteCount("link-lost-at", in: bytes, .optional) {
            kinds.append(.linkLost(at: at.bytes))
        }
        if let at = reader.byteCount("silent-at", in: bytes, .optional) {
            kinds.append(.silent(at: at.bytes))
        }
        if let at = reader.byteCount("restart-at", in: bytes, .optional) {
            kinds.append(.restart(at: at.bytes))
        }
        let positions: [(String, (Int) -> ModulePlan.Fault.Kind)] = [
            ("drops-packet-at", { .dropPacket(at: $0) }),
            ("wrong-checksum-from", { .wrongChecksum(from: $0) }),
            ("wrong-offset-from", { .wrongOffset(from: $0) }),
            ("restarts-in-erase-at", { .restartInErase(at: $0) }),
        ]
        for (key, kind) in positions {
            if let at = reader.byteCount(key, in: 0...(64 << 20), .optional) {
                kinds.append(kind(at.bytes))
            }
        }
        for (key, kind) in Self.numbered {
            let number = reader.integer(key, in: 0...1_000_000, default: 0)
            if number > 0 { kinds.append(kind(number)) }
        }
        if let delay = reader.duration("reverts-after", .optional) {
            kinds.append(.revert(after: delay))
        }
        if let total = reader.duration("ongoing-for", .optional) {
            kinds.append(.flap(total: total, period: period))
        }
        kinds += DepotFile.conversationFaults(&reader, diagnostics)
        for (key, kind) in Self.switches where reader.boolean(key, default: false) {
            kinds.append(kind)
        }
        reader.finish()
        guard kinds.count == 1 else {
            diagnostics.error(
                node.place,
                "a fault is one thing that goes wrong, here are \(kinds.count)",
                hint: "one list item for each, as in `- {link-lost-at: 20KiB}`"
            )
            return nil
        }
        return ModulePlan.Fault(kinds[0], times: times)
    }

    private static let numbered: [(String, @Sendable (Int) -> ModulePlan.Fault.Kind)] = [
        ("loses-notification", { .loseNotification($0) }),
        ("repeats-notification", { .repeatNotification($0) }),
    ]

    private static let switches: [(String, ModulePlan.Fault.Kind)] = [
        ("refuses-init", .refuseInit), ("refuses-bootloader", .refuseBootloader),
        ("returns-unchanged", .returnUnchanged), ("never-returns", .neverReturn),
        ("restarts-after-return", .restartAfterReturn), ("connect-fails", .connectFails),
        ("address-changes", .addressChanges), ("flash-full", .flashFull),
        ("refuses-boot", .refuseBoot), ("wrong-record", .wrongRecord),
        ("garbage", .garbage), ("refuses-key", .refuseKey),
        ("refuses-key-change", .refuseKeyChange), ("refuses-bond", .refuseBond),
        ("ignores-writes", .ignoresWrites),
    ]
}

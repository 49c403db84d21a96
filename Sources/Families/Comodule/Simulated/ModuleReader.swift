import Domain
import Modules
import Protocols
import Simulation
import SourceTree
import Wire

/// Reads one item of a depot's `modules`, which may stand for many modules.
struct ModuleReader {
    private var reader: FieldReader
    private let place: Place
    private let link: LinkParameters
    private let item: DepotItem
    private let diagnostics: Diagnostics

    init(_ item: DepotItem) {
        reader = FieldReader(item.node, item.diagnostics, as: "a simulated module")
        place = item.node.place
        link = item.link
        self.item = item
        diagnostics = item.diagnostics
    }

    mutating func read() -> [ModulePlan] {
        let profile = item.profile(of: .comodule, &reader)
        let serial = serial(profile)
        let count = reader.integer("count", in: 1...100_000, default: 1)
        guard var plan = serial.map({ ModulePlan(serial: $0) }) else {
            return []
        }
        if let family = reader.family(), family != .comodule {
            diagnostics.error(
                reader.place(of: "family"),
                "modules of family \(family.rawValue) cannot be simulated yet",
                hint: "leave the key out, or write `family: comodule`"
            )
        }
        plan.profile = profile
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
        plan.bond = AirSecurity.Plan.read(&reader, diagnostics)
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

    private mutating func serial(_ profile: Profile?) -> Serial? {
        guard let text = reader.text("serial") else { return nil }
        // Other profiles have serials of other forms.
        if profile != nil, let serial = Serial(text) { return serial }
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

    /// The modules whose serials count up from the first one.
    private func series(of plan: ModulePlan, count: Int) -> [ModulePlan] {
        guard count > 1 else { return [plan] }
        guard plan.serial.text.utf8.count == 16, let first = UInt64(plan.serial.text, radix: 16)
        else {
            diagnostics.error(
                place,
                "several modules need a serial of 16 hex digits",
                hint: "give each an item of its own"
            )
            return []
        }
        return (0..<UInt64(count)).compactMap { step in
            var next = plan
            guard let serial = Serial(bytes: (first &+ step).bigBytes) else { return nil }
            next.serial = serial
            return next
        }
    }

    private func fault(_ node: SourceNode) -> ModulePlan.Fault? {
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
        ("ignores-writes", .ignoresWrites), ("impostor", .impostor),
    ]
}

import Domain
import Modules
import Protocols
import Simulation
import SourceTree

/// Reads an item of a depot's `modules` that is of family `mcumgr`; one item may describe many
/// modules.
struct SMPModuleReader {
    /// The words of depot files for the behaviour of the bootloader.
    private enum Bootloader: String, CaseIterable {
        case swap, overwrite
        case directXIP = "direct-xip"
        case directXIPRevert = "direct-xip-revert"
        case ramLoad = "ram-load"

        var mode: BootloaderMode {
            switch self {
            case .swap: .swapMove
            case .overwrite: .overwrite
            case .directXIP: .directXIP
            case .directXIPRevert: .directXIPRevert
            case .ramLoad: .ramLoad
            }
        }
    }

    private var reader: FieldReader
    private let link: LinkParameters
    private let item: DepotItem
    private let diagnostics: Diagnostics

    init(_ item: DepotItem) {
        reader = FieldReader(item.node, item.diagnostics, as: "a simulated module")
        link = item.link
        self.item = item
        diagnostics = item.diagnostics
    }

    mutating func read() -> [SMPModulePlan] {
        _ = reader.family()
        let serial = reader.text("serial").flatMap { Serial($0) }
        if serial == nil, reader.has("serial") {
            diagnostics.error(
                reader.place(of: "serial"),
                "a serial is 1 to 64 visible characters without spaces",
                hint: "it is the name that the module advertises, such as ym-0001"
            )
        }
        let count = reader.integer("count", in: 1...100_000, default: 1)
        // The rest is read even without a serial, so that all faults are reported together.
        guard let stand = serial ?? Serial("none") else { return [] }
        var plan = SMPModulePlan(serial: stand)
        plan.profile = item.profile(of: .mcumgr, &reader)
        if let name = reader.text("name", .optional) { plan.name = name }
        if reader.boolean("nameless", default: false) { plan.name = nil }
        plan.versions = versions() ?? plan.versions
        plan.rules = rules()
        readValues(into: &plan)
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
        plan.messageTime = reader.duration("message-time", default: plan.messageTime)
        plan.bond = AirSecurity.Plan.read(&reader, diagnostics)
        plan.link = link
        if let own = reader.reader("link", as: "a link", .optional) {
            plan.link = DepotFile.read(link: own, over: link)
        }
        plan.faults = reader.list("faults", .optional, of: "faults").compactMap { fault($0) }
        reader.finish()
        return serial == nil ? [] : series(of: plan, count: count)
    }

    /// One version, or one for each image.
    private mutating func versions() -> [FirmwareVersion]? {
        if reader.has("versions") {
            let nodes = reader.list("versions", .optional, of: "versions")
            let versions = nodes.compactMap { node in
                node.text(diagnostics).flatMap { version($0, node.place) }
            }
            guard (1...4).contains(nodes.count) else {
                diagnostics.error(
                    reader.place(of: "versions"),
                    "a module has 1 to 4 images, here are \(nodes.count)",
                    hint: "one version for each, the main image first"
                )
                return nil
            }
            return versions.count == nodes.count ? versions : nil
        }
        guard let text = reader.text("version", .optional) else { return nil }
        return version(text, reader.place(of: "version")).map { [$0] }
    }

    private func version(_ text: String, _ place: Place) -> FirmwareVersion? {
        guard let version = FirmwareVersion(text) else {
            diagnostics.error(
                place,
                "`\(text)` is not a version",
                hint: "write two to four numbers in quotes, as in \"1.2.3\""
            )
            return nil
        }
        return version
    }

    private mutating func readValues(into plan: inout SMPModulePlan) {
        for group in reader.map("statistics", .optional, of: "groups of statistics") {
            let entries = group.value.entries(diagnostics, of: "names and numbers") ?? []
            var fields: [String: UInt64] = [:]
            for entry in entries {
                fields[entry.key] = entry.value.integer(in: 0...Int.max, diagnostics)
                    .map { UInt64($0) }
            }
            plan.values.statistics[group.key] = fields
        }
        for entry in reader.map("settings", .optional, of: "settings") {
            plan.values.saved[entry.key] = hex(entry.value)
        }
        plan.values.settings = plan.values.saved
        for entry in reader.map("files", .optional, of: "files") {
            plan.values.files[entry.key] = entry.value.text(diagnostics).map { Array($0.utf8) }
        }
        let size = plan.values.size
        if size > 1_024 {
            diagnostics.error(
                reader.place(of: reader.has("files") ? "files" : "settings"),
                "settings and files are \(size) bytes with their names",
                hint: "a simulated module has room for 1024"
            )
        }
        for node in reader.list("characteristics", .optional, of: "characteristics") {
            var part = FieldReader(node, diagnostics, as: "a characteristic")
            let service = uuid("service", &part)
            let own = uuid("uuid", &part)
            let value = part.node("value").flatMap { hex($0) }
            part.finish()
            guard let service, let own, let value else { continue }
            plan.characteristics[Characteristic(own, of: service)] = value
        }
    }

    private func uuid(_ key: String, _ part: inout FieldReader) -> GATTUUID? {
        guard let node = part.node(key), let text = node.text(diagnostics, "a UUID") else {
            return nil
        }
        if let uuid = GATTUUID(text) { return uuid }
        diagnostics.error(
            node.place,
            "expected a UUID, found `\(text)`",
            hint: "write four hex digits, or 32 with dashes after 8, 12, 16 and 20"
        )
        return nil
    }

    private func hex(_ node: SourceNode) -> [UInt8]? {
        guard let text = node.text(diagnostics, "bytes in hex") else { return nil }
        if let bytes = Hex.bytes(text) { return bytes }
        diagnostics.error(
            node.place,
            "`\(text)` is not in hex",
            hint: "two digits a byte in quotes, as in \"2c01\""
        )
        return nil
    }

    private mutating func rules() -> SMPServerRules {
        var rules = SMPServerRules()
        rules.mode = (reader.choice("bootloader", Bootloader.self, .optional) ?? .swap).mode
        rules.bufferSize =
            reader.byteCount("buffer-size", in: 64...65_535, .optional)?.bytes
            ?? rules.bufferSize
        rules.bufferCount = reader.integer("buffers", in: 1...64, default: rules.bufferCount)
        rules.wantsRequests = reader.boolean("wants-requests", default: false)
        rules.reassembles = reader.boolean("reassembles", default: true)
        rules.isVersion1 = reader.integer("protocol", in: 1...2, default: 2) == 1
        rules.refusesDowngrade = reader.boolean("refuses-downgrade", default: false)
        rules.erasesAsItGoes = !reader.boolean("erases-first", default: false)
        rules.recall =
            reader.choice("recalls-upload", UploadRecall.self, .optional) ?? rules.recall
        rules.key = DepotFile.publicKey(&reader, diagnostics)
        return rules
    }

    /// The modules whose serials count up in their last digits.
    private func series(of plan: SMPModulePlan, count: Int) -> [SMPModulePlan] {
        guard count > 1 else { return [plan] }
        let text = plan.serial.text
        let digits = String(text.reversed().prefix { $0.isASCII && $0.isNumber }.reversed())
        guard let first = Int(digits.suffix(9)), digits.count <= 9 else {
            diagnostics.error(
                reader.place(of: "serial"),
                "several modules need a serial that ends in up to nine digits",
                hint: "as in ym-0001"
            )
            return []
        }
        let head = text.dropLast(digits.count)
        return (0..<count).compactMap { step in
            let number = String(first + step)
            let zeros = String(repeating: "0", count: max(0, digits.count - number.count))
            guard let serial = Serial(head + zeros + number) else { return nil }
            var next = plan
            next.serial = serial
            if plan.name == plan.serial.text { next.name = serial.text }
            return next
        }
    }

    private func fault(_ node: SourceNode) -> SMPModulePlan.Fault? {
        var reader = FieldReader(node, diagnostics, as: "a fault")
        let times = reader.integer("times", in: 1...255, default: 1)
        var kinds: [SMPModulePlan.Fault.Kind] = []
        for (key, kind) in Self.offsets {
            if let at = reader.byteCount(key, in: 1...(64 << 20), .optional) {
                kinds.append(kind(at.bytes))
            }
        }
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
        return SMPModulePlan.Fault(kinds[0], times: times)
    }

    private static let offsets: [(String, @Sendable (Int) -> SMPModulePlan.Fault.Kind)] = [
        ("link-lost-at", { .linkLost(at: $0) }), ("silent-at", { .silent(at: $0) }),
        ("restart-at", { .restart(at: $0) }), ("answer-lost-at", { .answerLost(at: $0) }),
        ("answer-twice-at", { .answerTwice(at: $0) }), ("piece-lost-at", { .pieceLost(at: $0) }),
        ("corrupted-at", { .corrupted(at: $0) }), ("wrong-offset-at", { .wrongOffset(at: $0) }),
        ("flash-full-at", { .flashFull(at: $0) }),
    ]

    private static let switches: [(String, SMPModulePlan.Fault.Kind)] = [
        ("busy", .busy), ("restarts-in-erase", .restartInErase), ("marks-lost", .marksLost),
        ("crashes", .crashes), ("refuses-test", .refusesTest),
        ("refuses-confirm", .refusesConfirm), ("ignores-reset", .ignoresReset),
        ("never-returns", .neverReturns), ("connect-fails", .connectFails),
        ("address-changes", .addressChanges),
    ]
}

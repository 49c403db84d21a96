import Base
import Radio
import Simulation

/// The words of depot files for the behaviour of the bootloader.
private let bootloaders: KeyValuePairs<String, BootloaderMode> = [
    "swap": .swapMove, "overwrite": .overwrite, "direct-xip": .directXIP,
    "direct-xip-revert": .directXIPRevert, "ram-load": .ramLoad,
]

extension PlanReader {
    /// Reads an item of family `mcumgr`, which may describe many modules.
    mutating func smpModules() -> [SMPModulePlan] {
        var plan: SMPModulePlan = begin(
            hint: "it is the name that the module advertises, such as ym-0001"
        )
        plan.name = name(default: plan.name)
        plan.versions = versions() ?? plan.versions
        plan.rules = rules()
        readValues(into: &plan)
        reader.read("restart-time", into: &plan.restartTime)
        reader.read("activation-time", into: &plan.activationTime)
        reader.read("erase-time", into: &plan.eraseTime)
        reader.read("message-time", into: &plan.messageTime)
        plan.bond = AirSecurity.Plan.read(&reader, diagnostics)
        return series(
            of: plan,
            "several modules need a serial that ends in up to nine digits",
            hint: "as in ym-0001",
            at: "serial"
        ) { plan, step in
            let text = plan.serial.text
            let digits = String(text.reversed().prefix { $0.isASCII && $0.isNumber }.reversed())
            guard digits.count <= 9, let first = Int(digits) else { return nil }
            let number = String(first + step)
            let zeros = String(repeating: "0", count: max(0, digits.count - number.count))
            guard let serial = Serial(text.dropLast(digits.count) + zeros + number) else {
                return nil
            }
            if plan.name == text { plan.name = serial.text }
            return serial
        }
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
        return reader.text("version", .optional)
            .flatMap { version($0, reader.place(of: "version")) }.map { [$0] }
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
            plan.values.saved[entry.key] = bytes(entry.value)
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
            let value = part.node("value").flatMap { bytes($0) }
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

    private func bytes(_ node: SourceNode) -> [UInt8]? {
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
        let bootloader = reader.word("bootloader", of: bootloaders.map(\.key), .optional)
        rules.mode = bootloaders.first { $0.key == bootloader }?.value ?? rules.mode
        reader.read(bytes: "buffer-size", in: 64...65_535, into: &rules.bufferSize)
        reader.read("buffers", in: 1...64, into: &rules.bufferCount)
        reader.read("wants-requests", into: &rules.wantsRequests)
        reader.read("reassembles", into: &rules.reassembles)
        rules.isVersion1 = reader.integer("protocol", in: 1...2, default: 2) == 1
        reader.read("refuses-downgrade", into: &rules.refusesDowngrade)
        rules.erasesAsItGoes = !reader.boolean("erases-first", default: false)
        reader.read("recalls-upload", into: &rules.recall)
        rules.key = DepotFile.publicKey(&reader, diagnostics)
        return rules
    }
}

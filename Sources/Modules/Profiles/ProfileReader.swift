import Domain
package import Marked

extension Profile {
    /// A file larger than this is no profile.
    package static let limits = {
        var limits = YAMLLimits()
        limits.bytes = 1 << 20
        limits.nodes = 100_000
        return limits
    }()

    /// Reads a profile that is already in memory; nil when `diagnostics` got the reasons.
    package static func parse(
        _ bytes: [UInt8],
        file: String,
        _ diagnostics: Diagnostics
    ) -> Profile? {
        MarkedNode.parse(bytes, file: file, diagnostics, limits: limits)
            .flatMap { read($0, diagnostics) }
    }

    /// Reads a profile's file; nil when `diagnostics` got the reasons.
    package static func load(
        path: String,
        _ diagnostics: Diagnostics
    ) throws(FileError) -> Profile? {
        try MarkedNode.load(path: path, diagnostics, limits: limits)
            .flatMap { read($0, diagnostics) }
    }

    package static func read(_ tree: MarkedNode, _ diagnostics: Diagnostics) -> Profile? {
        let before = diagnostics.errorCount
        var reader = ProfileReader(tree, diagnostics)
        let profile = reader.read()
        return diagnostics.errorCount == before ? profile : nil
    }
}

/// Reads one profile; whatever is wrong in it is told in one go.
struct ProfileReader {
    private static let mostItems = 1_000

    private var reader: FieldReader
    private let diagnostics: Diagnostics

    init(_ tree: MarkedNode, _ diagnostics: Diagnostics) {
        reader = FieldReader(tree, diagnostics, as: "a profile")
        self.diagnostics = diagnostics
    }

    mutating func read() -> Profile? {
        let name = name()
        let family = reader.choice("family", Family.self)
        let title = reader.text("title") ?? ""
        let basis = reader.text("known-from") ?? ""
        let advertisement = advertisement(of: family)
        let gatt = gatt(of: family)
        let authentication = authentication(of: family)
        let properties = properties(of: family)
        let features = features(of: family)
        let firmware = reader.list("firmware", .optional, of: "firmware targets")
            .prefix(Self.mostItems).compactMap { target($0) }
        twice(firmware.map(\.part.rawValue), "firmware")
        let cloud = cloud()
        reader.finish()
        guard let name, let family, let gatt else { return nil }
        return Profile(
            name: name,
            family: family,
            title: title,
            basis: basis,
            advertisement: advertisement,
            gatt: gatt,
            authentication: authentication,
            properties: properties,
            features: features,
            firmware: firmware,
            cloud: cloud
        )
    }

    private mutating func cloud() -> ByteField? {
        guard var part = reader.reader("data-to-cloud", as: "a place", .optional) else {
            return nil
        }
        defer { part.finish() }
        return FieldPlace.read(&part, diagnostics, lengths: 1...4, defaultLength: 1)
    }

    private mutating func name() -> String? {
        guard let node = reader.node("profile"), let text = node.text(diagnostics) else {
            return nil
        }
        let isWord =
            text.utf8.count <= 64
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x61...0x7A, 0x30...0x39, 0x2D...0x2E, 0x5F: true
                default: false
                }
            }
        guard isWord else {
            diagnostics.error(
                node.place,
                "\(quoted(text)) is no name of a profile",
                hint: "1 to 64 of a-z, 0-9, `.`, `_` and `-`"
            )
            return nil
        }
        return text
    }

    private func twice(_ names: [String], _ key: String) {
        var seen: Set<String> = []
        for name in names where !seen.insert(name).inserted {
            diagnostics.error(
                reader.place(of: key),
                "`\(name)` is there twice under `\(key)`",
                hint: "remove one of them"
            )
        }
    }

    // MARK: How it is known

    private mutating func advertisement(of family: Family?) -> AdvertisementForm? {
        let place = reader.place(of: "advertisement")
        let presence: FieldReader.Presence = family == .geotabGo ? .optional : .required
        guard var part = reader.reader("advertisement", as: "an advertisement", presence) else {
            return nil
        }
        let company = part.node("company", .optional)?.hex16(diagnostics)
        let service = part.node("service", .optional)?.uuid(diagnostics)
        let found = part.reader("serial", as: "the serial's place")
        let serial = found.flatMap { self.serial($0) }
        part.finish()
        guard let serial else { return nil }
        if let form = AdvertisementForm(company: company, service: service, serial: serial) {
            return form
        }
        if case .manufacturerData = serial, !part.has("company") {
            diagnostics.error(
                place,
                "a serial in the manufacturer data needs the key `company`",
                hint: "add `company: \"020f\"` with the company's number"
            )
        } else if !part.has("company"), !part.has("service") {
            diagnostics.error(
                place,
                "nothing tells these modules from others",
                hint: "add `company` or `service`"
            )
        }
        return nil
    }

    private func serial(_ field: FieldReader) -> AdvertisementForm.SerialPlace? {
        enum Place: String, CaseIterable {
            case manufacturerData = "manufacturer-data"
            case name
        }
        var part = field
        defer { part.finish() }
        switch part.choice("in", Place.self) {
        case .manufacturerData?:
            let offset = part.integer("at", in: 0...30, default: 0)
            let length = part.integer("length", in: 1...30)
            let form = part.choice("form", default: AdvertisementForm.SerialForm.hex)
            let isExact = part.boolean("exact", default: true)
            return length.map {
                .manufacturerData(offset: offset, length: $0, form: form, isExact: isExact)
            }
        case .name?:
            return part.text("after").map { .name(after: $0) }
        case nil:
            for key in ["at", "length", "form", "exact", "after"] { part.know(key) }
            return nil
        }
    }

    // MARK: How it is spoken with

    private mutating func gatt(of family: Family?) -> GATTForm? {
        guard let node = reader.node("gatt"), let family else { return nil }
        var groups = FieldReader(node, diagnostics, as: "the GATT numbers")
        var services: [String: GATTUUID] = [:]
        var uuids: [GATTRole: GATTUUID] = [:]
        let roles = GATTRole.roles(of: family)
        for group in Set(roles.map(\.group)).sorted() {
            guard var part = groups.reader(group, as: "the \(group) service") else { continue }
            if family != .geotabGo {
                services[group] = part.node("service")?.uuid(diagnostics)
            }
            for role in roles where role.group == group {
                uuids[role] = part.node(role.rawValue)?.uuid(diagnostics)
            }
            part.finish()
        }
        groups.finish()
        return GATTForm(services: services, uuids: uuids)
    }

    private mutating func authentication(of family: Family?) -> AuthenticationForm {
        let form = reader.choice("authentication", AuthenticationForm.self) ?? .none
        guard let family, reader.has("authentication") else { return form }
        let known: [AuthenticationForm] =
            switch family {
            case .comodule: [.challengeResponse]
            case .lrdevice: [.keyExchange, .none]
            case .mcumgr: [.none]
            case .geotabGo: [.token]
            }
        if !known.contains(form) {
            diagnostics.error(
                reader.place(of: "authentication"),
                "modules of family \(family.rawValue) do not know `\(form.rawValue)`",
                hint: "write " + known.map { "`\($0.rawValue)`" }.joined(separator: " or ")
            )
        }
        return form
    }

    // MARK: What it can do

    private mutating func properties(of family: Family?) -> [PropertySpec] {
        let items = reader.list("properties", .optional, of: "properties")
        if let family, family != .comodule, !items.isEmpty {
            diagnostics.error(
                reader.place(of: "properties"),
                "modules of family \(family.rawValue) have no registers, so no properties",
                hint: "write what they understand under `features`"
            )
        }
        if items.count > Self.mostItems {
            diagnostics.error(
                reader.place(of: "properties"),
                "more than \(Self.mostItems) properties",
                hint: "make several profiles of it"
            )
        }
        var seen: [String: Place] = [:]
        return items.prefix(Self.mostItems).compactMap { node in
            var part = PropertyReader(node, diagnostics)
            let spec = part.read()
            guard let name = part.name else { return spec }
            let key = name + "\u{1F}" + (part.variant ?? "")
            if let first = seen[key] {
                diagnostics.error(
                    node.place,
                    "the property `\(name)` is there twice, first at \(first)",
                    hint: "give one of them another name or `variant`"
                )
            }
            seen[key] = node.place
            return spec
        }
    }

    private mutating func features(of family: Family?) -> [FeatureSpec] {
        let items = reader.list("features", .optional, of: "features")
        if let family, family != .lrdevice, !items.isEmpty {
            diagnostics.error(
                reader.place(of: "features"),
                "modules of family \(family.rawValue) have no features",
                hint: "write what they can do under `properties`"
            )
        }
        let features = items.prefix(Self.mostItems).compactMap { feature($0) }
        twice(features.map(\.name), "features")
        return features
    }

    private func feature(_ node: MarkedNode) -> FeatureSpec? {
        var part = FieldReader(node, diagnostics, as: "a feature")
        let name = part.node("name")?.propertyName(diagnostics)
        let command = part.node("command")?.hex8(diagnostics)
        let namespace = part.node("namespace")?.hex8(diagnostics)
        let seal = part.choice("sealed", default: FeatureSpec.Seal.none)
        let word = part.node("payload")?.word(
            of: FeatureSpec.Payload.words,
            diagnostics,
            "a kind of payload"
        )
        var payload: FeatureSpec.Payload?
        switch word {
        case "none"?: payload = FeatureSpec.Payload.none
        case "boolean"?: payload = .boolean
        case "byte"?: payload = .byte
        case "text"?: payload = .text(limit: part.integer("limit", in: 1...250, default: 250))
        case "texts"?: payload = .texts
        case "states"?:
            let states = part.node("states").map { $0.states(in: 0...255, diagnostics) } ?? []
            payload = states.isEmpty ? nil : .states(states)
        default: for key in ["limit", "states"] { part.know(key) }
        }
        part.finish()
        guard let name, let command, let namespace, let payload else { return nil }
        return FeatureSpec(
            name: name,
            command: command,
            namespace: namespace,
            payload: payload,
            seal: seal
        )
    }

    // MARK: What can be updated

    private func target(_ node: MarkedNode) -> FirmwareTarget? {
        var part = FieldReader(node, diagnostics, as: "a firmware target")
        let which = part.choice("part", FirmwareTarget.Part.self)
        let `protocol` = part.choice("protocol", FirmwareTarget.UpdateProtocol.self)
        let selector = part.node("selector", .optional)?.hex8(diagnostics)
        let chip = part.text("chip", .optional)
        let version: FirmwareTarget.VersionSource?
        if `protocol` == .smp {
            part.know("version")
            version = .protocol
        } else {
            version = part.reader("version", as: "a version's place").flatMap { self.source($0) }
        }
        part.finish()
        guard let which, let `protocol`, let version else { return nil }
        return FirmwareTarget(
            part: which,
            protocol: `protocol`,
            selector: selector,
            version: version,
            chip: chip
        )
    }

    private func source(_ field: FieldReader) -> FirmwareTarget.VersionSource? {
        var part = field
        defer { part.finish() }
        if part.has("information") {
            return part.node("information")?.hex16(diagnostics).map { .information($0) }
        }
        let place = FieldPlace.read(&part, diagnostics, lengths: 3...4, defaultLength: 3)
        return place.map { .record($0) }
    }
}

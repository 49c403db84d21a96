package import Base

extension Profile {
    /// The size limits of a profile file.
    package static let limits = {
        var limits = YAMLLimits()
        limits.bytes = 1 << 20
        limits.nodes = 100_000
        return limits
    }()

    /// Reads a profile from memory; nil when `diagnostics` has received errors.
    package static func parse(
        _ bytes: [UInt8],
        file: String,
        of shapes: [ProfileShape],
        _ diagnostics: Diagnostics
    ) -> Profile? {
        SourceNode.parse(bytes, file: file, diagnostics, limits: limits)
            .flatMap { read($0, of: shapes, diagnostics) }
    }

    /// Reads a profile file; nil when `diagnostics` has received errors.
    package static func load(
        path: String,
        of shapes: [ProfileShape],
        _ diagnostics: Diagnostics
    ) throws(FileError) -> Profile? {
        let tree = try SourceNode.load(path: path, diagnostics, limits: limits)
        var profile = tree.flatMap { read($0, of: shapes, diagnostics) }
        profile?.source = path
        return profile
    }

    private static func read(
        _ tree: SourceNode,
        of shapes: [ProfileShape],
        _ diagnostics: Diagnostics
    ) -> Profile? {
        let before = diagnostics.errorCount
        var reader = ProfileReader(tree, of: shapes, diagnostics)
        let profile = reader.read()
        return diagnostics.errorCount == before ? profile : nil
    }
}

/// Reads one profile, and reports all errors in it together.
struct ProfileReader {
    private static let mostItems = 1_000

    private var reader: FieldReader
    /// What profiles of each family may contain.
    private let shapes: [ProfileShape]
    private let diagnostics: Diagnostics

    init(_ tree: SourceNode, of shapes: [ProfileShape], _ diagnostics: Diagnostics) {
        reader = FieldReader(tree, diagnostics, as: "a profile")
        self.shapes = shapes
        self.diagnostics = diagnostics
    }

    mutating func read() -> Profile? {
        let name = name()
        let family = reader.word("family", of: shapes.map(\.family.rawValue))
            .map(Family.init(rawValue:))
        let title = reader.text("title") ?? ""
        let basis = reader.text("known-from") ?? ""
        let shape = shapes.first { $0.family == family }
        let advertisement = advertisement(of: shape)
        let authentication = authentication(of: shape)
        let gatt = gatt(of: shape, opened: authentication)
        let defaultKey = defaultKey(of: shape, opened: authentication)
        let pairing = reader.choice("pairing", default: PairingKind.none)
        let properties = properties(of: shape)
        let features = features(of: shape)
        let firmware = reader.list("firmware", .optional, of: "firmware targets")
            .prefix(Self.mostItems).compactMap { target($0, of: shape) }
        twice(firmware.map(\.part.rawValue), "firmware")
        let cloud = cloud()
        let times = times(of: shape)
        let wrongAnswers = wrongAnswers(of: shape)
        let takesDowngrade = reader.boolean("downgrade", default: true)
        let success =
            shape?.isHeard == false
            ? reader.choice("success", default: CommandSuccess.result) : .result
        reader.finish()
        guard let name, let family, let gatt else { return nil }
        var profile = Profile(
            name: name,
            family: family,
            title: title,
            basis: basis,
            advertisement: advertisement,
            gatt: gatt,
            authentication: authentication,
            pairing: pairing,
            properties: properties,
            features: features,
            firmware: firmware,
            cloud: cloud,
            times: times,
            unnamed: shape?.unnamed ?? "",
            answerLimit: times.answer ?? shape?.answerLimit,
            wrongAnswers: wrongAnswers
        )
        profile.defaultKey = defaultKey
        profile.success = success
        profile.takesDowngrade = takesDowngrade
        return profile
    }

    // MARK: Times

    private mutating func times(of shape: ProfileShape?) -> ProfileTimes {
        var times = ProfileTimes()
        let long = Duration.zero ... .seconds(3_600)
        let least = Duration.seconds(1) ... .seconds(3_600)
        if var part = reader.reader("settle", as: "the settle times", .optional) {
            times.quiet = part.duration("quiet", in: long, .optional)
            times.confirmGap = part.duration("confirm-gap", in: long, .optional)
            times.deadline = part.duration(
                "deadline",
                in: .seconds(1) ... .seconds(86_400),
                .optional
            )
            times.wrongVersionGrace = part.duration("wrong-version-after", in: long, .optional)
            times.poll = part.duration("look-every", in: least, .optional)
            part.finish()
            if let usual = SettleRules().map({ UpdateLimits(settle: $0) }),
                times.applied(to: usual) == nil
            {
                let key = ["deadline", "quiet", "confirm-gap"].first(where: part.has)
                diagnostics.error(
                    part.place(of: key ?? "deadline"),
                    "an update can never settle: the quiet time and the time between two readings "
                        + "do not fit before the deadline",
                    hint: "make `deadline` longer than `quiet` and `confirm-gap` together"
                )
            }
        }
        if var part = reader.reader("limits", as: "the time limits", .optional) {
            times.answer = part.duration("answer", in: least, .optional)
            if shape?.isHeard == false {
                times.arrival = part.duration("arrival", in: least, .optional)
                times.handshake = part.duration("handshake", in: least, .optional)
                times.result = part.duration("result", in: least, .optional)
                part.finish()
                return times
            }
            times.roleChange = part.duration("role-change", in: least, .optional)
            times.exchange = part.duration("exchange", in: least, .optional)
            times.opening = part.duration("first-byte", in: least, .optional)
            times.stall = part.duration("next-byte", in: least, .optional)
            times.bootloaderPatience = part.duration("bootloader-idle", in: long, .optional)
            times.continuation = part.duration("bootloader-after", in: long, .optional)
            times.check = part.duration("image-check", in: least, .optional)
            part.finish()
        }
        return times
    }

    private mutating func wrongAnswers(of shape: ProfileShape?) -> WrongAnswers {
        let usual = shape?.wrongAnswers ?? .none
        guard var part = reader.reader("wrong-answers", as: "the wrong answers", .optional) else {
            return usual
        }
        defer { part.finish() }
        let range = 0...WrongAnswers.most
        return WrongAnswers(
            rotation: part.integer("rotation", in: range, default: usual.rotation),
            verdict: part.integer("verdict", in: range, default: usual.verdict)
        )
    }

    private mutating func cloud() -> ByteField? {
        guard var part = reader.reader("data-to-cloud", as: "a place", .optional) else {
            return nil
        }
        defer { part.finish() }
        return FieldPlace([.register], 1...4, defaultLength: 1).read(&part, diagnostics)
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

    // MARK: Advertisement

    private mutating func advertisement(of shape: ProfileShape?) -> AdvertisementForm? {
        let place = reader.place(of: "advertisement")
        let isHeard = shape?.isHeard ?? true
        guard
            var part = reader.reader(
                "advertisement",
                as: "an advertisement",
                isHeard ? .required : .optional
            )
        else { return nil }
        let company = part.node("company", .optional)?.hex16(diagnostics)
        let service = part.node("service", .optional)?.uuid(diagnostics)
        let name = part.node("name", .optional).flatMap { pattern($0) }
        let serials = part.node("serial").map { places($0) } ?? []
        part.finish()
        guard !serials.isEmpty else { return nil }
        if let form = AdvertisementForm(
            company: company,
            service: service,
            name: name,
            serials: serials
        ) {
            return form
        }
        let isInData = serials.contains { if case .manufacturerData = $0 { true } else { false } }
        if isInData, !part.has("company") {
            diagnostics.error(
                place,
                "a serial in the manufacturer data needs the key `company`",
                hint: "add `company: \"020f\"` with the company's number"
            )
        } else if !part.has("company"), !part.has("service"), !part.has("name") {
            diagnostics.error(
                place,
                "nothing distinguishes these modules from others",
                hint: "add `company`, `service` or `name`"
            )
        }
        return nil
    }

    private func pattern(_ node: SourceNode) -> NamePattern? {
        guard let text = node.text(diagnostics, "a name with `*` in it") else { return nil }
        if let pattern = NamePattern(text) { return pattern }
        diagnostics.error(
            node.place,
            "every name matches \(quoted(text))",
            hint: "write what their names have in common, as in \"Tracker *\""
        )
        return nil
    }

    /// One place, or several in the order in which they are tried.
    private func places(_ node: SourceNode) -> [AdvertisementForm.SerialPlace] {
        guard case .list(let items) = node.value else {
            return serial(FieldReader(node, diagnostics, as: "the serial's place"))
                .map { [$0] } ?? []
        }
        if items.isEmpty {
            diagnostics.error(
                node.place,
                "the serial has no place",
                hint: "write `{in: name, after: \"\"}`, or another place"
            )
        }
        let places = items.compactMap { item in
            serial(FieldReader(item, diagnostics, as: "the serial's place"))
        }
        return places.count == items.count ? places : []
    }

    private func serial(_ field: FieldReader) -> AdvertisementForm.SerialPlace? {
        enum Carrier: String, CaseIterable {
            case manufacturerData = "manufacturer-data"
            case name, address
        }
        var part = field
        defer { part.finish() }
        switch part.choice("in", Carrier.self) {
        case .manufacturerData?:
            let offset = part.integer("at", in: 0...30, default: 0)
            let length = part.integer("length", in: 1...30)
            let form = part.choice("form", default: AdvertisementForm.SerialForm.hex)
            let isExact = part.boolean("exact", default: true)
            return length.map {
                .manufacturerData(offset: offset, length: $0, form: form, isExact: isExact)
            }
        case .name?: return .name(after: part.text("after", .optional) ?? "")
        case .address?: return .address
        case nil:
            for key in ["at", "length", "form", "exact", "after"] { part.know(key) }
            return nil
        }
    }

    // MARK: GATT and authentication

    private mutating func gatt(
        of shape: ProfileShape?,
        opened authentication: AuthenticationForm
    ) -> GATTForm? {
        guard let node = reader.node("gatt"), let shape else { return nil }
        var groups = FieldReader(node, diagnostics, as: "the GATT numbers")
        var characteristics: [GATTRole: Characteristic] = [:]
        var uuids: [GATTRole: GATTUUID] = [:]
        for group in shape.groups.sorted(by: { $0.name < $1.name }) {
            let isRequired =
                group.isRequired && (group.opens == nil || group.opens == authentication)
            let presence: FieldReader.Presence = isRequired ? .required : .optional
            var part = groups.reader(group.name, as: "the \(group.name) service", presence)
            var service = group.service
            if service != nil {
                // A missing service or characteristic is an error only in a required group.
                service = part?.node("service", presence)?.uuid(diagnostics) ?? service
            }
            for role in group.roles {
                let own = part?.node(role.role.rawValue, presence)?.uuid(diagnostics)
                if let service {
                    characteristics[role.role] = Characteristic(own ?? role.standard, of: service)
                } else {
                    uuids[role.role] = own ?? role.standard
                }
            }
            part?.finish()
        }
        groups.finish()
        return GATTForm(characteristics: characteristics, uuids: uuids)
    }

    private mutating func authentication(of shape: ProfileShape?) -> AuthenticationForm {
        let all = shapes.flatMap(\.authentications).map(\.rawValue) + ["none"]
        var words: [String] = []
        for word in all where !words.contains(word) { words.append(word) }
        let word = reader.node("authentication")?.word(of: words, diagnostics, "a word")
        guard let word else { return .none }
        let form = AuthenticationForm(rawValue: word)
        if let shape, !shape.authentications.contains(form) {
            let known = shape.authentications.map { "`\($0.rawValue)`" }
            diagnostics.error(
                reader.place(of: "authentication"),
                "modules of family \(shape.family.rawValue) do not know `\(form.rawValue)`",
                hint: "write " + known.joined(separator: " or ")
            )
        }
        return form
    }

    private mutating func defaultKey(
        of shape: ProfileShape?,
        opened authentication: AuthenticationForm
    ) -> SecretReference? {
        guard let text = reader.text("default-key", .optional), let shape else { return nil }
        let place = reader.place(of: "default-key")
        guard shape.keyed.contains(authentication) else {
            diagnostics.error(
                place,
                "modules of family \(shape.family.rawValue) with `authentication: "
                    + "\(authentication.rawValue)` have no default key",
                hint: "leave it out"
            )
            return nil
        }
        let folder = FileReference.directory(of: place.file)
        if let reference = try? SecretReference(text, relativeTo: folder) { return reference }
        // The text may be the key itself, so it is not shown.
        diagnostics.error(
            place,
            "a key must be a reference, not the key itself",
            hint: "write `file:PATH`, `credential:NAME` or `env:NAME`"
        )
        return nil
    }

    // MARK: Properties and features

    private mutating func properties(of shape: ProfileShape?) -> [PropertySpec] {
        let items = reader.list("properties", .optional, of: "properties")
        if let shape, shape.places.isEmpty, !items.isEmpty {
            diagnostics.error(
                reader.place(of: "properties"),
                "modules of family \(shape.family.rawValue) have no properties",
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
            var part = PropertyReader(node, shape?.places ?? ValuePlace.Kind.allCases, diagnostics)
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

    private mutating func features(of shape: ProfileShape?) -> [FeatureSpec] {
        let items = reader.list("features", .optional, of: "features")
        if let shape, !shape.hasFeatures, !items.isEmpty {
            diagnostics.error(
                reader.place(of: "features"),
                "modules of family \(shape.family.rawValue) have no features",
                hint: "write what they can do under `properties`"
            )
        }
        let features = items.prefix(Self.mostItems).compactMap { feature($0) }
        twice(features.map(\.name), "features")
        return features
    }

    private func feature(_ node: SourceNode) -> FeatureSpec? {
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
        case "byte"?: payload = .byte(mayBeOff: part.boolean("off", default: false))
        case "text"?:
            payload = .text(
                limit: part.integer("limit", in: 1...250, default: 250),
                isCut: part.boolean("cut", default: false)
            )
        case "texts"?: payload = .texts
        case "states"?:
            let states = part.node("states").map { $0.states(in: 0...255, diagnostics) } ?? []
            payload = states.isEmpty ? nil : .states(states)
        default: for key in ["limit", "cut", "off", "states"] { part.know(key) }
        }
        let refusals = part.list("refused-by", .optional, of: "answers")
            .compactMap { $0.hex8(diagnostics) }
        part.finish()
        guard let name, let command, let namespace, let payload else { return nil }
        return FeatureSpec(
            name: name,
            command: command,
            namespace: namespace,
            payload: payload,
            seal: seal,
            refusals: part.has("refused-by") ? Set(refusals) : [0]
        )
    }

    // MARK: Firmware

    private func target(_ node: SourceNode, of shape: ProfileShape?) -> FirmwareTarget? {
        var part = FieldReader(node, diagnostics, as: "a firmware target")
        let which = part.choice("part", FirmwareTarget.Part.self)
        let known = (shape.map(\.protocols) ?? shapes.flatMap(\.protocols)) + [.none]
        let word = part.node("protocol")?.word(
            of: known.map(\.name),
            diagnostics,
            "a protocol"
        )
        let `protocol` = known.first { $0.name == word }
        let selector = part.node("selector", .optional)?.hex8(diagnostics)
        let chip = part.text("chip", .optional)
        let version: FirmwareTarget.VersionSource?
        if `protocol`?.tellsVersion == true {
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
        let place = FieldPlace([.register], 3...4, defaultLength: 3).read(&part, diagnostics)
        return place.map { .record($0) }
    }
}

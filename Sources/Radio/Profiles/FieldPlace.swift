import Base

/// Reads the place of a field as a profile writes it: `{register: "0401", at: 2, bytes: 1}`.
struct FieldPlace {
    /// The places that fields of the family may have; the first is the default.
    private let kinds: [ValuePlace.Kind]
    private let lengths: ClosedRange<Int>
    private let defaultLength: Int?
    private let isText: Bool
    private let isWritten: Bool

    init(
        _ kinds: [ValuePlace.Kind],
        _ lengths: ClosedRange<Int>,
        defaultLength: Int? = nil,
        isText: Bool = false,
        isWritten: Bool = false
    ) {
        self.kinds = kinds
        self.lengths = lengths
        self.defaultLength = defaultLength
        self.isText = isText
        self.isWritten = isWritten
    }

    func read(_ part: inout FieldReader, _ diagnostics: Diagnostics) -> ByteField? {
        let given = ValuePlace.Kind.allCases.first { part.has($0.rawValue) }
        let kind = given ?? kinds.first ?? .register
        guard kinds.contains(kind) else {
            diagnostics.error(
                part.place(of: kind.rawValue),
                "modules of this family have no `\(kind.rawValue)`",
                hint: "write " + kinds.map { "`\($0.rawValue)`" }.joined(separator: " or ")
            )
            for key in ["namespace", "service", "entry", "save", "at", "bytes", "order", "signed"] {
                part.know(key)
            }
            for kind in ValuePlace.Kind.allCases { part.know(kind.rawValue) }
            return nil
        }
        switch kind {
        case .register, .command: return record(kind, &part, diagnostics)
        case .statistic: return statistic(&part, diagnostics)
        case .characteristic, .setting, .file, .value: return whole(kind, &part, diagnostics)
        }
    }

    // MARK: Records

    private func record(
        _ kind: ValuePlace.Kind,
        _ part: inout FieldReader,
        _ diagnostics: Diagnostics
    ) -> ByteField? {
        // A request is identified by its command and namespace, and its answer has no identifier.
        let isAsked = kind == .command
        let first = isAsked ? 0 : ByteField.firstByte
        let register: UInt16?
        if isAsked {
            let command = part.node("command")?.hex8(diagnostics)
            let namespace = part.node("namespace")?.hex8(diagnostics)
            register = command.flatMap { high in namespace.map { UInt16(high) << 8 | UInt16($0) } }
        } else {
            register = part.node("register")?.hex16(diagnostics)
        }
        let last = first + ByteField.recordLength - ByteField.firstByte - 1
        let offset =
            isAsked
            ? part.integer("at", in: first...last, default: 0)
            : part.integer("at", in: first...last)
        let length =
            if let defaultLength {
                part.integer("bytes", in: lengths, default: defaultLength) as Int?
            } else {
                part.integer("bytes", in: lengths)
            }
        let order = part.choice("order", default: ByteField.ByteOrder.little)
        let isSigned = part.boolean("signed", default: false)
        guard let register, let offset, let length else { return nil }
        guard
            let field = ByteField(
                register: register,
                offset: offset + ByteField.firstByte - first,
                length: length,
                order: order,
                isSigned: isSigned
            )
        else {
            diagnostics.error(
                part.place(of: "at"),
                "\(length) bytes from \(offset) on go beyond the record's \(ByteField.recordLength)",
                hint: "a record's data is at 2 to 9"
            )
            return nil
        }
        return field
    }

    // MARK: Other values

    /// A counter of the module: its width is fixed.
    private func statistic(
        _ part: inout FieldReader,
        _ diagnostics: Diagnostics
    ) -> ByteField? {
        let group = name("statistic", &part, diagnostics)
        let entry = name("entry", &part, diagnostics)
        if isWritten {
            diagnostics.error(
                part.place(of: "statistic"),
                "a statistic can be read and not written",
                hint: "write `access: read-only`"
            )
        }
        guard let group, let entry, !isWritten else { return nil }
        let place = ValuePlace.statistic(group, entry: entry)
        return ByteField(in: place, offset: ByteField.firstByte, length: place.limit)
    }

    private func whole(
        _ kind: ValuePlace.Kind,
        _ part: inout FieldReader,
        _ diagnostics: Diagnostics
    ) -> ByteField? {
        let place: ValuePlace?
        switch kind {
        case .characteristic:
            let uuid = part.node("characteristic")?.uuid(diagnostics)
            let service = part.node("service")?.uuid(diagnostics)
            place = uuid.flatMap { uuid in
                service.map { .characteristic(Characteristic(uuid, of: $0)) }
            }
        case .setting:
            let key = name("setting", &part, diagnostics)
            let isSaved = isWritten ? part.boolean("save", default: true) : true
            place = key.map { .setting($0, isSaved: isSaved) }
        case .file: place = name("file", &part, diagnostics).map { .file($0) }
        case .value: place = part.node("value")?.hex16(diagnostics).map { .value($0) }
        case .register, .command, .statistic: return nil
        }
        let limit = place?.limit ?? 512
        // A write replaces the whole value, so that it never has to be merged with the old one.
        let offset = isWritten ? 0 : part.integer("at", in: 0...(limit - 1), default: 0)
        // Numbers are limited to the same few bytes as in other places.
        let most = lengths.upperBound < 8 ? lengths.upperBound : limit
        let length: Int? =
            if let fallback = defaultLength ?? (isText ? limit : nil) {
                part.integer("bytes", in: 1...most, default: fallback)
            } else {
                part.integer("bytes", in: 1...most)
            }
        let order = part.choice("order", default: ByteField.ByteOrder.little)
        let isSigned = part.boolean("signed", default: false)
        guard let place, let length else { return nil }
        guard
            let field = ByteField(
                in: place,
                offset: offset + ByteField.firstByte,
                length: length,
                order: order,
                isSigned: isSigned
            )
        else {
            diagnostics.error(
                part.place(of: "at"),
                "\(length) bytes from \(offset) on go beyond the \(limit) that can be there",
                hint: "write a smaller `at`, or fewer `bytes`"
            )
            return nil
        }
        return field
    }

    private func name(
        _ key: String,
        _ part: inout FieldReader,
        _ diagnostics: Diagnostics
    ) -> String? {
        guard let node = part.node(key), let text = node.text(diagnostics, "a name") else {
            return nil
        }
        guard (1...128).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            diagnostics.error(
                node.place,
                "\(quoted(text)) is no name that a module can have",
                hint: "1 to 128 visible characters of ASCII, without spaces"
            )
            return nil
        }
        return text
    }
}

import Base

/// Reads one item of a profile's `properties`.
struct PropertyReader {
    private var part: FieldReader
    /// The places where properties of the family may be.
    private let places: [ValuePlace.Kind]
    private let diagnostics: Diagnostics
    private let place: Place
    private(set) var name: String?
    private(set) var variant: String?

    init(_ node: SourceNode, _ places: [ValuePlace.Kind], _ diagnostics: Diagnostics) {
        self.places = places
        part = FieldReader(node, diagnostics, as: "a property")
        place = node.place
        self.diagnostics = diagnostics
    }

    mutating func read() -> PropertySpec? {
        name = part.node("name")?.propertyName(diagnostics)
        variant = part.text("variant", .optional)
        let kind = part.choice("type", PropertyKind.self)
        let access = part.choice("access", PropertySpec.Access.self)
        let unit = part.node("unit", .optional)?.propertyName(diagnostics)
        let result = kind.flatMap { read($0, access, unit: unit) }
        if kind == nil {
            for key in ["read", "write", "scale", "offset", "limits", "states"] { part.know(key) }
        }
        part.finish()
        return result
    }

    private mutating func read(
        _ kind: PropertyKind,
        _ access: PropertySpec.Access?,
        unit: String?
    ) -> PropertySpec? {
        let before = diagnostics.errorCount
        if let access {
            demand("read", access.isReadable, access)
            demand("write", access.isWritable, access)
        }
        if unit != nil, kind != .range {
            complain("unit", "only a range has a unit", "remove it, or write `type: range`")
        }
        let empty = part.node("empty", .optional)?.propertyName(diagnostics)
        var writing: FieldReader?
        let (source, target) = fields(of: kind, &writing)
        if case .statistic? = source?.place, kind != .range, kind != .states {
            complain("read", "a statistic is a number", "write `type: range`, or `type: states`")
        }
        let form: PropertySpec.Form?
        switch kind {
        case .range: form = range(&writing, target)
        case .states: form = states(&writing, [source, target].compactMap { $0 })
        case .raw:
            if let source, let target, source.length != target.length {
                complain(
                    "write",
                    "it is read as \(source.length) bytes and written as \(target.length)",
                    "make both the same"
                )
            }
            form = (target ?? source).map { .raw(length: $0.length) }
        case .text: form = .text
        }
        writing?.finish()
        guard diagnostics.errorCount == before, let name, let access, let form else { return nil }
        return PropertySpec(
            name: name,
            variant: variant,
            unit: unit,
            access: access,
            form: form,
            source: source,
            target: target,
            empty: empty
        )
    }

    /// Where the property is read and written; `writing` also has the rules for its values.
    private mutating func fields(
        of kind: PropertyKind,
        _ writing: inout FieldReader?
    ) -> (source: ByteField?, target: ByteField?) {
        let lengths =
            switch kind {
            case .range, .states: 1...4
            case .raw, .text: 1...8
            }
        var reading = part.reader("read", as: "where it is read", .optional)
        let source = reading.read(
            FieldPlace(places, lengths, defaultLength: kind == .text ? 1 : nil),
            diagnostics
        )
        reading?.finish()
        writing = part.reader("write", as: "where it is written", .optional)
        let target = writing.read(
            FieldPlace(places, lengths, isText: kind == .text, isWritten: true),
            diagnostics
        )
        return (source, target)
    }

    private func complain(_ key: String, _ what: String, _ hint: String) {
        diagnostics.error(part.place(of: key), what, hint: hint)
    }

    private mutating func demand(
        _ key: String,
        _ isWanted: Bool,
        _ access: PropertySpec.Access
    ) {
        part.know(key)
        guard part.has(key) != isWanted else { return }
        diagnostics.error(
            isWanted ? place : part.place(of: key),
            isWanted
                ? "a property that is `\(access.rawValue)` needs the key `\(key)`"
                : "a property that is `\(access.rawValue)` has no `\(key)`",
            hint: isWanted
                ? "add `\(key): \(example)`" : "remove it, or change `access`"
        )
    }

    private var example: String {
        switch places.first {
        case .register?, nil: "{register: …, at: …, bytes: …}"
        case let kind?: "{\(kind.rawValue): …}"
        }
    }

    // MARK: Ranges

    private mutating func range(
        _ writing: inout FieldReader?,
        _ target: ByteField?
    ) -> PropertySpec.Form? {
        let scale = part.node("scale", .optional)?.decimal(diagnostics) ?? .one
        let offset = part.node("offset", .optional)?.decimal(diagnostics) ?? .zero
        let limits = part.node("limits", .optional)?.limits(diagnostics)
        let allowed = writing?.node("limits")?.limits(diagnostics)
        let step = writing?.node("step", .optional)?.decimal(diagnostics)
        let initial = writing?.node("default", .optional)?.decimal(diagnostics)
        guard let plain = RangeForm(scale: scale, offset: offset, limits: limits) else {
            complain(
                part.has("scale") ? "scale" : "offset",
                scale.digits == 0
                    ? "a scale of 0 gives every reading the same value"
                    : "scale and offset have too many digits together",
                "write at most nine digits"
            )
            return nil
        }
        guard let reader = writing, let target, let allowed else {
            return writing == nil ? .range(plain) : nil
        }
        do throws(RangeMistake) {
            let rule = try rule(allowed, step, initial, for: plain, by: scale, target)
            return RangeForm(scale: scale, offset: offset, limits: limits, writing: rule)
                .map { .range($0) }
        } catch {
            diagnostics.error(reader.place(of: error.key), error.what, hint: error.hint)
            return nil
        }
    }

    /// What is wrong with the values that may be written, under which key.
    private struct RangeMistake: Error {
        let key: String
        let what: String
        let hint: String
    }

    private func rule(
        _ allowed: ClosedRange<Double>,
        _ step: Decimal?,
        _ initial: Decimal?,
        for plain: RangeForm,
        by scale: Decimal,
        _ target: ByteField
    ) throws(RangeMistake) -> RangeForm.Writing {
        let width = step?.number ?? abs(scale.number)
        guard let rule = RangeForm.Writing(limits: allowed, step: width, initial: nil) else {
            throw RangeMistake(
                key: "step",
                what: "a step must be more than 0",
                hint: "leave it out for the finest"
            )
        }
        for limit in [allowed.lowerBound, allowed.upperBound] {
            if let raw = plain.raw(limit), target.integers.contains(raw) { continue }
            throw RangeMistake(
                key: "limits",
                what: "\(PropertyValue.number(limit)) does not fit into "
                    + "\(counted(target.length, "byte")) at this scale",
                hint: "make the field wider, or the limits narrower"
            )
        }
        if step != nil, plain.raw(allowed.lowerBound + width) == nil {
            throw RangeMistake(
                key: "step",
                what: "the step is finer than the register, which knows \(scale)",
                hint: "write a multiple of \(scale)"
            )
        }
        guard let initial else { return rule }
        if let whole = RangeForm.Writing(limits: allowed, step: width, initial: initial.number) {
            return whole
        }
        throw RangeMistake(
            key: "default",
            what: "the default \(initial) may not be written",
            hint: "write one that is inside the limits and on a step"
        )
    }

    // MARK: States

    private mutating func states(
        _ writing: inout FieldReader?,
        _ fields: [ByteField]
    ) -> PropertySpec.Form? {
        let most = fields.map { Int($0.integers.upperBound) }.min() ?? Int(UInt32.max)
        if let field = fields.first(where: \.isSigned) {
            diagnostics.error(
                part.place(of: field == fields.last && writing != nil ? "write" : "read"),
                "states have no sign",
                hint: "remove `signed`"
            )
        }
        let states = part.node("states")?.states(in: 0...max(most, 1), diagnostics) ?? []
        let initial = writing?.text("default", .optional)
        guard !states.isEmpty else { return nil }
        if let initial, !states.contains(where: { $0.name == initial }) {
            diagnostics.error(
                writing?.place(of: "default") ?? place,
                "the default \(quoted(initial)) is not one of the states",
                hint: Nearest.hint(initial, among: states.map(\.name))
            )
        }
        return StatesForm(states, initial: initial).map { .states($0) }
    }
}

extension FieldReader? {
    fileprivate mutating func read(
        _ place: FieldPlace,
        _ diagnostics: Diagnostics
    ) -> ByteField? {
        guard var field = self else { return nil }
        let found = place.read(&field, diagnostics)
        self = field
        return found
    }
}

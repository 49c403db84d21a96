/// One property of a profile: its name, its place, and the values that it can be set to.
package struct PropertySpec: Sendable, Hashable {
    package enum Access: String, CaseIterable, Sendable, Hashable {
        case readOnly = "read-only"
        case writeOnly = "write-only"
        case readWrite = "read-write"

        package var isReadable: Bool { self != .writeOnly }
        package var isWritable: Bool { self != .readOnly }
    }

    /// The possible values of a property.
    package enum Form: Sendable, Hashable {
        case range(RangeForm)
        case states(StatesForm)
        case raw(length: Int)
        case text

        package var kind: PropertyKind {
            switch self {
            case .range: .range
            case .states: .states
            case .raw: .raw
            case .text: .text
            }
        }
    }

    package let name: String
    /// The variant of the vehicle that it is for, where one kind of module is in several; nil for
    /// all.
    package let variant: String?
    /// For example `kilometer_per_hour`; nil where there is none.
    package let unit: String?
    package let access: Access
    package let form: Form
    /// The place to read it from; nil for a property that can only be written.
    package let source: ByteField?
    /// The place to write it to; nil for a property that can only be read.
    package let target: ByteField?
    /// The state that an empty answer of the module represents; nil where an empty answer is
    /// invalid.
    package let empty: String?

    /// Nil unless exactly the places are present that the access requires.
    package init?(
        name: String,
        variant: String? = nil,
        unit: String? = nil,
        access: Access,
        form: Form,
        source: ByteField?,
        target: ByteField?,
        empty: String? = nil
    ) {
        guard (source != nil) == access.isReadable, (target != nil) == access.isWritable else {
            return nil
        }
        self.name = name
        self.variant = variant
        self.unit = unit
        self.access = access
        self.form = form
        self.source = source
        self.target = target
        self.empty = empty
    }
}

/// A number: its calculation from an integer, and the values that may be written.
package struct RangeForm: Sendable, Hashable {
    /// The values that may be written.
    package struct Writing: Sendable, Hashable {
        package let limits: ClosedRange<Double>
        package let step: Double
        package let initial: Double?

        /// Nil unless the step is positive and the initial value is on a step.
        package init?(limits: ClosedRange<Double>, step: Double, initial: Double? = nil) {
            guard step > 0, step.isFinite else { return nil }
            self.limits = limits
            self.step = step
            self.initial = initial
            guard initial.map({ limits.contains($0) && isOnStep($0) }) ?? true else { return nil }
        }

        package var steps: Int {
            Int(((limits.upperBound - limits.lowerBound) / step).rounded(.down))
        }

        func isOnStep(_ number: Double) -> Bool {
            let steps = (number - limits.lowerBound) / step
            return abs(steps - steps.rounded()) < 1e-6
        }
    }

    /// The change of the number for each unit in the register.
    package let scale: Decimal
    /// The number for a register value of zero.
    package let offset: Decimal
    /// The limits of a reading; nil when only the field's width limits it.
    package let limits: ClosedRange<Double>?
    /// Nil for a number that cannot be written.
    package let writing: Writing?

    private let places: Int
    private let factor: Int64
    private let addend: Int64

    /// Nil when scale and offset together have more digits than the calculation allows.
    package init?(
        scale: Decimal = .one,
        offset: Decimal = .zero,
        limits: ClosedRange<Double>? = nil,
        writing: Writing? = nil
    ) {
        places = max(scale.places, offset.places)
        guard scale.digits != 0, let factor = scale.digits(places: places),
            let addend = offset.digits(places: places), abs(factor) < 1 << 30
        else { return nil }
        self.factor = factor
        self.addend = addend
        self.scale = scale
        self.offset = offset
        self.limits = limits
        self.writing = writing
    }

    package func number(_ raw: Int64) -> Double {
        let power = Double(Decimal.power(places) ?? 1)
        let (product, overflow) = raw.multipliedReportingOverflow(by: factor)
        let (sum, overflowed) = product.addingReportingOverflow(addend)
        guard !overflow, !overflowed else {
            return (Double(raw) * Double(factor) + Double(addend)) / power
        }
        return Double(sum) / power
    }

    /// The register value for a number; nil when the register's resolution is too coarse for it.
    package func raw(_ number: Double) -> Int64? {
        let power = Double(Decimal.power(places) ?? 1)
        let exact = (number * power - Double(addend)) / Double(factor)
        guard let raw = Int64(exactly: exact.rounded()), abs(exact - exact.rounded()) < 1e-6 else {
            return nil
        }
        return raw
    }
}

/// Words for the values of a register.
package struct StatesForm: Sendable, Hashable {
    package struct State: Sendable, Hashable {
        package let name: String
        package let raw: UInt64

        package init(_ name: String, _ raw: UInt64) {
            self.name = name
            self.raw = raw
        }
    }

    /// In the profile's order.
    package let states: [State]
    package let initial: String?

    /// Nil unless names and numbers are all different and the initial state is one of them.
    package init?(_ states: [State], initial: String? = nil) {
        guard !states.isEmpty, Set(states.map(\.name)).count == states.count,
            Set(states.map(\.raw)).count == states.count,
            initial.map({ name in states.contains { $0.name == name } }) ?? true
        else { return nil }
        self.states = states
        self.initial = initial
    }

    package var names: [String] { states.map(\.name) }

    package func raw(_ name: String) -> UInt64? { states.first { $0.name == name }?.raw }

    /// The name of the state; a value without a name is kept as a number.
    package func value(_ raw: UInt64) -> PropertyValue {
        states.first { $0.raw == raw }.map { .state($0.name) } ?? .unknownState(raw)
    }
}

// MARK: Encoding

extension PropertySpec {
    /// The value from the data of its record; nil when the data is too short.
    package func value(in data: [UInt8]) -> PropertyValue? {
        guard let source else { return nil }
        if data.isEmpty, let empty { return .state(empty) }
        switch form {
        case .range(let form): return source.integer(in: data).map { .number(form.number($0)) }
        case .states(let form): return source.unsigned(in: data).map { form.value($0) }
        case .raw: return source.bytes(in: data).map { .bytes($0) }
        case .text:
            // Several words are separated by 1F, and some modules end the text with a zero byte, as
            // in C.
            let words = data.prefix { $0 != 0 }.split(separator: 0x1F)
                .map { String(decoding: $0, as: UTF8.self) }
            return .state(words.joined(separator: ", "))
        }
    }

    /// Writes a checked value into a record's data; false when it does not fit.
    package func put(_ value: PropertyValue, into data: inout [UInt8]) -> Bool {
        guard let target else { return false }
        switch (form, value) {
        case (.range(let form), .number(let number)):
            guard let raw = form.raw(number) else { return false }
            return target.put(raw, into: &data)
        case (.states(let form), .state(let name)):
            guard let raw = form.raw(name) else { return false }
            return target.put(Int64(clamping: raw), into: &data)
        case (.states, .unknownState(let raw)):
            return target.put(Int64(clamping: raw), into: &data)
        case (.raw, .bytes(let bytes)):
            return target.put(bytes, into: &data)
        case (.text, .state(let words)) where target.place.isWhole:
            data = Array(words.utf8)
            return true
        case (.range, _), (.states, _), (.raw, _), (.text, _):
            return false
        }
    }

    /// The profile's default value; nil where it has none.
    package var initial: PropertyValue? {
        switch form {
        case .range(let form): form.writing?.initial.map { .number($0) }
        case .states(let form): form.initial.map { .state($0) }
        case .raw, .text: nil
        }
    }
}

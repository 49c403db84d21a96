import Base

extension PropertySpec {
    /// Checks that this property accepts a value: access, type, bounds, step, state, size, in that
    /// order.
    package func check(_ value: PropertyValue) throws(PropertyWriteError) {
        guard access.isWritable, let target else { throw .propertyNotWritable(name) }
        switch (form, value) {
        case (.range(let form), .number(let number)):
            guard let writing = form.writing else { throw .propertyNotWritable(name) }
            guard writing.limits.contains(number) else {
                throw .rangeOutOfBounds(name, writing.limits)
            }
            guard writing.isOnStep(number), let raw = form.raw(number),
                target.integers.contains(raw)
            else {
                throw .invalidWriteStep(
                    name,
                    step: writing.step,
                    from: writing.limits.lowerBound
                )
            }
        case (.states(let form), .state(let state)):
            guard form.raw(state) != nil else {
                throw .unknownState(name, known: form.names)
            }
        case (.states(let form), .unknownState):
            throw .unknownState(name, known: form.names)
        case (.raw(let length), .bytes(let bytes)):
            guard bytes.count == length else {
                throw .valueBytesInvalidSize(name, capacity: length)
            }
        case (.text, .state(let words)) where target.place.isWhole:
            guard words.utf8.count <= target.length else {
                throw .textTooLong(name, limit: target.length)
            }
        case (.range, _), (.states, _), (.raw, _), (.text, _):
            throw .propertyWrongType(name, is: form.kind)
        }
    }

    /// The value that a manifest's word or number represents, checked against the values that may
    /// be written.
    package func value(of literal: String) throws(PropertyWriteError) -> PropertyValue {
        guard access.isWritable else { throw .propertyNotWritable(name) }
        let value = try parse(literal)
        try check(value)
        return value
    }

    /// The value that a word or number represents, even if it may not be written.
    func parse(_ literal: String) throws(PropertyWriteError) -> PropertyValue {
        if let empty, literal == empty { return .state(literal) }
        switch form {
        case .range:
            guard literal.utf8.count <= 32, PlainNumber.looksLikeOne(literal),
                let number = Double(literal), number.isFinite, !literal.contains("x")
            else { throw .propertyWrongType(name, is: .range) }
            return .number(number)
        case .states, .text:
            return .state(literal)
        case .raw:
            guard literal.hasPrefix("0x"), let bytes = Hex.bytes(literal.dropFirst(2)) else {
                throw .propertyWrongType(name, is: .raw)
            }
            return .bytes(bytes)
        }
    }
}

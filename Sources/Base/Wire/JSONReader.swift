extension JSONValue {
    /// Reads one value, with nothing but white space after it.
    ///
    /// Stricter than RFC 8259: duplicate members, lone surrogates and numbers that do not fit into
    /// 64 bits are rejected, so that every reader gets the value that was checked.
    package init(json bytes: Span<UInt8>) throws(JSONError) {
        var reader = JSONReader()
        self = try reader.document(bytes)
    }

    package init(json bytes: [UInt8]) throws(JSONError) {
        try self.init(json: bytes.span)
    }

    package init(json text: String) throws(JSONError) {
        try self.init(json: Array(text.utf8).span)
    }
}

/// A recursive-descent reader for RFC 8259 text; its only state is its position.
struct JSONReader {
    /// The deepest nesting of arrays and objects.
    static let depthLimit = 64
    /// The longest number that is accepted.
    static let numberLimit = 64

    var position = 0
    private var depth = 0

    mutating func document(_ bytes: Span<UInt8>) throws(JSONError) -> JSONValue {
        let value = try self.value(bytes)
        skipSpace(bytes)
        guard position == bytes.count else { throw JSONError(.trailingBytes, at: position) }
        return value
    }

    func peek(_ bytes: Span<UInt8>) -> UInt8? {
        position < bytes.count ? bytes[position] : nil
    }

    /// The error at the current position.
    private func unexpected(_ bytes: Span<UInt8>) -> JSONError {
        guard let byte = peek(bytes) else { return JSONError(.endsEarly, at: position) }
        return JSONError(.unexpectedByte(byte), at: position)
    }

    private mutating func skipSpace(_ bytes: Span<UInt8>) {
        while let byte = peek(bytes), byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D {
            position += 1
        }
    }

    mutating func take(
        _ expected: Unicode.Scalar,
        _ bytes: Span<UInt8>
    ) throws(JSONError) {
        guard peek(bytes) == UInt8(ascii: expected) else { throw unexpected(bytes) }
        position += 1
    }

    private mutating func value(_ bytes: Span<UInt8>) throws(JSONError) -> JSONValue {
        skipSpace(bytes)
        switch peek(bytes) {
        case UInt8(ascii: "{"): return try object(bytes)
        case UInt8(ascii: "["): return try array(bytes)
        case UInt8(ascii: "\""): return .string(try string(bytes))
        case UInt8(ascii: "t"): return try word("true", .bool(true), bytes)
        case UInt8(ascii: "f"): return try word("false", .bool(false), bytes)
        case UInt8(ascii: "n"): return try word("null", .null, bytes)
        case .some(UInt8(ascii: "0")...UInt8(ascii: "9")), UInt8(ascii: "-"):
            return try number(bytes)
        default: throw unexpected(bytes)
        }
    }
}

// MARK: Arrays, objects and words

extension JSONReader {
    /// Skips an opening bracket.
    private mutating func enter() throws(JSONError) {
        guard depth < Self.depthLimit else { throw JSONError(.nestedTooDeeply, at: position) }
        depth += 1
        position += 1
    }

    /// Skips a closing bracket.
    private mutating func leave() {
        depth -= 1
        position += 1
    }

    private mutating func array(_ bytes: Span<UInt8>) throws(JSONError) -> JSONValue {
        var elements: [JSONValue] = []
        try enter()
        skipSpace(bytes)
        if peek(bytes) == UInt8(ascii: "]") {
            leave()
            return .array(elements)
        }
        while true {
            elements.append(try value(bytes))
            skipSpace(bytes)
            if peek(bytes) == UInt8(ascii: "]") { break }
            try take(",", bytes)
        }
        leave()
        return .array(elements)
    }

    private mutating func object(_ bytes: Span<UInt8>) throws(JSONError) -> JSONValue {
        var members: [JSONMember] = []
        // Compared as bytes: as strings, two encodings of one character would count as the same
        // name.
        var names: Set<[UInt8]> = []
        try enter()
        skipSpace(bytes)
        if peek(bytes) == UInt8(ascii: "}") {
            leave()
            return .object(members)
        }
        while true {
            skipSpace(bytes)
            let start = position
            let name = try string(bytes)
            guard names.insert(Array(name.utf8)).inserted else {
                throw JSONError(.duplicateMember(name), at: start)
            }
            skipSpace(bytes)
            try take(":", bytes)
            members.append(JSONMember(name, try value(bytes)))
            skipSpace(bytes)
            if peek(bytes) == UInt8(ascii: "}") { break }
            try take(",", bytes)
        }
        leave()
        return .object(members)
    }

    private mutating func word(
        _ word: StaticString,
        _ value: JSONValue,
        _ bytes: Span<UInt8>
    ) throws(JSONError) -> JSONValue {
        for byte in "\(word)".utf8 {
            guard peek(bytes) == byte else { throw unexpected(bytes) }
            position += 1
        }
        return value
    }
}

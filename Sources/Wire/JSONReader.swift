extension JSONValue {
    /// Reads one value and nothing after it but white space.
    ///
    /// Stricter than RFC 8259 asks: duplicate members, lone surrogates and numbers that no 64 bits
    /// hold are refused, so that what was checked is what everybody reads.
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

/// Reads RFC 8259 text by descent; holds only where it stands.
struct JSONReader {
    /// How many arrays and objects may stand inside each other.
    static let depthLimit = 64
    /// Longer than any number that is worth reading.
    static let numberLimit = 64

    private var position = 0
    private var depth = 0

    mutating func document(_ bytes: Span<UInt8>) throws(JSONError) -> JSONValue {
        let value = try self.value(bytes)
        skipSpace(bytes)
        guard position == bytes.count else { throw JSONError(.trailingBytes, at: position) }
        return value
    }

    private func peek(_ bytes: Span<UInt8>) -> UInt8? {
        position < bytes.count ? bytes[position] : nil
    }

    /// What is wrong where the reader stands.
    private func unexpected(_ bytes: Span<UInt8>) -> JSONError {
        guard let byte = peek(bytes) else { return JSONError(.endsEarly, at: position) }
        return JSONError(.unexpectedByte(byte), at: position)
    }

    private mutating func skipSpace(_ bytes: Span<UInt8>) {
        while let byte = peek(bytes), [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
    }

    private mutating func take(
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
    /// Steps over an opening bracket.
    private mutating func enter() throws(JSONError) {
        guard depth < Self.depthLimit else { throw JSONError(.nestedTooDeeply, at: position) }
        depth += 1
        position += 1
    }

    /// Steps over a closing bracket.
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
        // By bytes: as strings, two spellings of one letter would count as one name.
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

// MARK: Numbers

extension JSONReader {
    private mutating func digits(_ bytes: Span<UInt8>) throws(JSONError) {
        let start = position
        while let byte = peek(bytes), (0x30...0x39).contains(byte) { position += 1 }
        guard position > start else {
            guard position < bytes.count else { throw JSONError(.endsEarly, at: position) }
            throw JSONError(.badNumber, at: position)
        }
    }

    private mutating func number(_ bytes: Span<UInt8>) throws(JSONError) -> JSONValue {
        let start = position
        var isInteger = true
        if peek(bytes) == UInt8(ascii: "-") { position += 1 }
        let first = position
        try digits(bytes)
        guard bytes[first] != UInt8(ascii: "0") || position == first + 1 else {
            throw JSONError(.badNumber, at: first)
        }
        if peek(bytes) == UInt8(ascii: ".") {
            isInteger = false
            position += 1
            try digits(bytes)
        }
        if let byte = peek(bytes), byte | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            position += 1
            if let sign = peek(bytes), sign == 0x2B || sign == 0x2D { position += 1 }
            try digits(bytes)
        }
        guard position - start <= Self.numberLimit else {
            throw JSONError(.numberOutOfRange, at: start)
        }
        let text = String(decoding: copy(bytes, start..<position), as: UTF8.self)
        if isInteger {
            guard let integer = Int64(text) else { throw JSONError(.numberOutOfRange, at: start) }
            return .integer(integer)
        }
        guard let number = Double(text), number.isFinite else {
            throw JSONError(.numberOutOfRange, at: start)
        }
        return .number(number)
    }

    private func copy(_ bytes: Span<UInt8>, _ range: Range<Int>) -> [UInt8] {
        let part = bytes.extracting(range)
        return part.indices.map { part[$0] }
    }
}

// MARK: Strings

extension JSONReader {
    private mutating func string(_ bytes: Span<UInt8>) throws(JSONError) -> String {
        try take("\"", bytes)
        let start = position
        var text: [UInt8] = []
        while let byte = peek(bytes) {
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: text, as: UTF8.self) else {
                    throw JSONError(.invalidUTF8, at: start)
                }
                position += 1
                return string
            case UInt8(ascii: "\\"):
                text.append(contentsOf: String(try escape(bytes)).utf8)
            case 0x00...0x1F: throw JSONError(.controlCharacterInString, at: position)
            default:
                text.append(byte)
                position += 1
            }
        }
        throw JSONError(.endsEarly, at: position)
    }

    /// Reads an escape sequence, both halves of a surrogate pair together.
    private mutating func escape(_ bytes: Span<UInt8>) throws(JSONError) -> Unicode.Scalar {
        let start = position
        position += 1
        guard let byte = peek(bytes) else { throw JSONError(.endsEarly, at: position) }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"):
            return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{08}"
        case UInt8(ascii: "f"): return "\u{0C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): break
        default: throw JSONError(.badEscape, at: start)
        }
        let unit = try fourDigits(bytes)
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard (0xD800...0xDBFF).contains(unit), peek(bytes) == UInt8(ascii: "\\") else {
            throw JSONError(.loneSurrogate, at: start)
        }
        position += 1
        guard peek(bytes) == UInt8(ascii: "u") else { throw JSONError(.loneSurrogate, at: start) }
        position += 1
        let low = try fourDigits(bytes)
        guard (0xDC00...0xDFFF).contains(low),
            let scalar = Unicode.Scalar(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00))
        else { throw JSONError(.loneSurrogate, at: start) }
        return scalar
    }

    private mutating func fourDigits(_ bytes: Span<UInt8>) throws(JSONError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek(bytes) else { throw JSONError(.endsEarly, at: position) }
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - 0x30
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - 0x61 + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - 0x41 + 10
            default: throw JSONError(.badEscape, at: position)
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }
}

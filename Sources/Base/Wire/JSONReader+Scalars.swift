extension JSONReader {
    private mutating func digits(_ bytes: Span<UInt8>) throws(JSONError) {
        let start = position
        while let byte = peek(bytes), (0x30...0x39).contains(byte) { position += 1 }
        guard position > start else {
            guard position < bytes.count else { throw JSONError(.endsEarly, at: position) }
            throw JSONError(.badNumber, at: position)
        }
    }

    mutating func number(_ bytes: Span<UInt8>) throws(JSONError) -> JSONValue {
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
    mutating func string(_ bytes: Span<UInt8>) throws(JSONError) -> String {
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

    /// Reads an escape sequence; both halves of a surrogate pair are read together.
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

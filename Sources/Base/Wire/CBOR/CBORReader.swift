extension CBORValue {
    /// Reads one item, with nothing after it.
    ///
    /// Arrays and maps of definite and indefinite length are accepted: Zephyr sends the latter.
    package init(cbor bytes: Span<UInt8>) throws(CBORError) {
        var reader = CBORReader()
        self = try reader.item(bytes)
        guard reader.position == bytes.count else {
            throw CBORError(.trailingBytes, at: reader.position)
        }
    }

    package init(cbor bytes: [UInt8]) throws(CBORError) {
        try self.init(cbor: bytes.span)
    }
}

/// A recursive-descent reader for CBOR items; its only state is its position.
struct CBORReader {
    /// The deepest nesting of arrays, maps and tags.
    static let depthLimit = 16
    /// The most keys of a map.
    ///
    /// No answer has a tenth of this; the search for duplicates takes quadratic time.
    static let keyLimit = 256

    private(set) var position = 0
    private var depth = 0

    /// The head of an item: its major type, and the number in or after its first byte.
    private struct Head {
        let major: UInt8
        let detail: UInt8
        /// The number; 0 for an indefinite length.
        let argument: UInt64
        var isOpen: Bool { detail == 31 }
    }

    mutating func item(_ bytes: Span<UInt8>) throws(CBORError) -> CBORValue {
        let start = position
        let head = try self.head(bytes)
        switch head.major {
        case 0: return .unsigned(head.argument)
        case 1: return .negative(head.argument)
        case 2: return .bytes(try string(head, bytes, from: start))
        case 3:
            return .text(try text(head, bytes, from: start))
        case 4: return .array(try items(head, bytes, from: start))
        case 5: return .map(try members(head, bytes, from: start))
        case 6:
            try enter(at: start)
            defer { depth -= 1 }
            return .tagged(head.argument, try item(bytes))
        default: return try simple(head, at: start)
        }
    }

    private mutating func head(_ bytes: Span<UInt8>) throws(CBORError) -> Head {
        let start = position
        let first = try byte(bytes)
        let (major, detail) = (first >> 5, first & 0x1F)
        var argument = UInt64(detail)
        switch detail {
        case 0..<24: break
        case 24..<28:
            argument = 0
            for _ in 0..<(1 << (detail - 24)) {
                argument = argument << 8 | UInt64(try byte(bytes))
            }
        case 31 where (2...5).contains(major) || major == 7: argument = 0
        default: throw CBORError(.reserved(first), at: start)
        }
        return Head(major: major, detail: detail, argument: argument)
    }

    private mutating func byte(_ bytes: Span<UInt8>) throws(CBORError) -> UInt8 {
        guard position < bytes.count else { throw CBORError(.endsEarly, at: position) }
        defer { position += 1 }
        return bytes[position]
    }

    private mutating func string(
        _ head: Head,
        _ bytes: Span<UInt8>,
        from start: Int
    ) throws(CBORError) -> [UInt8] {
        guard !head.isOpen else { return try pieces(head, bytes) }
        let part = bytes.extracting(try place(of: head, bytes, from: start))
        // Safe: the buffer is copied before the closure ends.
        return unsafe part.withUnsafeBufferPointer { unsafe Array($0) }
    }

    private mutating func text(
        _ head: Head,
        _ bytes: Span<UInt8>,
        from start: Int
    ) throws(CBORError) -> String {
        guard head.isOpen else {
            let part = bytes.extracting(try place(of: head, bytes, from: start))
            do { return String(copying: try UTF8Span(validating: part)) } catch {
                throw CBORError(.invalidUTF8, at: start)
            }
        }
        guard let text = String(validating: try pieces(head, bytes), as: UTF8.self) else {
            throw CBORError(.invalidUTF8, at: start)
        }
        return text
    }

    /// Where the bytes of a string of definite length are; goes on behind it.
    private mutating func place(
        of head: Head,
        _ bytes: Span<UInt8>,
        from start: Int
    ) throws(CBORError) -> Range<Int> {
        guard head.argument <= UInt64(bytes.count - position) else {
            throw CBORError(.endsEarly, at: start)
        }
        let place = position..<position + Int(head.argument)
        position = place.upperBound
        return place
    }

    /// A string of indefinite length: complete strings of its kind up to the break.
    private mutating func pieces(
        _ head: Head,
        _ bytes: Span<UInt8>
    ) throws(CBORError) -> [UInt8] {
        var string: [UInt8] = []
        while !isOver(head, after: 0, bytes) {
            let start = position
            let next = try self.head(bytes)
            guard next.major == head.major, !next.isOpen else {
                throw CBORError(.badPiece, at: start)
            }
            string += try self.string(next, bytes, from: start)
        }
        return string
    }

    private mutating func enter(at start: Int) throws(CBORError) {
        guard depth < Self.depthLimit else { throw CBORError(.nestedTooDeeply, at: start) }
        depth += 1
    }

    /// Whether the array or map that `head` began has ended; skips its break.
    private mutating func isOver(_ head: Head, after count: Int, _ bytes: Span<UInt8>) -> Bool {
        guard head.isOpen else { return UInt64(count) == head.argument }
        guard position < bytes.count, bytes[position] == 0xFF else { return false }
        position += 1
        return true
    }

    private mutating func items(
        _ head: Head,
        _ bytes: Span<UInt8>,
        from start: Int
    ) throws(CBORError) -> [CBORValue] {
        try enter(at: start)
        defer { depth -= 1 }
        var items: [CBORValue] = []
        while !isOver(head, after: items.count, bytes) { items.append(try item(bytes)) }
        return items
    }

    private mutating func members(
        _ head: Head,
        _ bytes: Span<UInt8>,
        from start: Int
    ) throws(CBORError) -> [CBORMember] {
        try enter(at: start)
        defer { depth -= 1 }
        var members: [CBORMember] = []
        while !isOver(head, after: members.count, bytes) {
            let place = position
            guard members.count < Self.keyLimit else { throw CBORError(.tooManyKeys, at: place) }
            let key = try item(bytes)
            // A frame has few members, so a linear search is faster than a table.
            guard !members.contains(where: { $0.key == key }) else {
                throw CBORError(.duplicateKey, at: place)
            }
            members.append(CBORMember(key, try item(bytes)))
        }
        return members
    }

    private func simple(_ head: Head, at start: Int) throws(CBORError) -> CBORValue {
        switch head.detail {
        case 20: return .bool(false)
        case 21: return .bool(true)
        case 22: return .null
        case 23: return .undefined
        case 24:
            guard head.argument >= 32 else { throw CBORError(.badSimpleValue, at: start) }
            return .simple(UInt8(head.argument))
        case 25: return .float(Self.half(UInt16(head.argument)))
        case 26: return .float(Double(Float(bitPattern: UInt32(head.argument))))
        case 27: return .float(Double(bitPattern: head.argument))
        case 31: throw CBORError(.strayBreak, at: start)
        default: return .simple(head.detail)
        }
    }

    /// Half precision, calculated from its parts (RFC 8949, appendix D): not every machine has
    /// `Float16`.
    private static func half(_ bits: UInt16) -> Double {
        let exponent = Int(bits >> 10 & 0x1F)
        let fraction = Double(bits & 0x3FF)
        let size: Double =
            switch exponent {
            case 0: fraction / 16_777_216
            case 31: fraction == 0 ? .infinity : .nan
            default:
                (1_024 + fraction) * Double(sign: .plus, exponent: exponent - 25, significand: 1)
            }
        return bits & 0x8000 == 0 ? size : -size
    }
}

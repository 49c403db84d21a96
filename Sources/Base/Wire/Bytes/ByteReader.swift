/// The data ended in the middle of a value.
@usableFromInline package struct OutOfBytes: Error, Equatable, Sendable {
    /// The offset of the value.
    package let offset: Int
    /// The number of bytes that the value needs.
    package let needed: Int

    package init(offset: Int, needed: Int) {
        self.offset = offset
        self.needed = needed
    }
}

/// Reads numbers and byte strings from the beginning of a message; every step is checked.
@usableFromInline package struct ByteReader {
    @usableFromInline let bytes: [UInt8]
    @usableFromInline package private(set) var offset = 0

    package init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    package var remaining: Int { bytes.count - offset }
    package var isAtEnd: Bool { offset == bytes.count }

    package mutating func bytes(_ count: Int) throws(OutOfBytes) -> [UInt8] {
        let start = try skip(count)
        return Array(bytes[start..<offset])
    }

    package mutating func byte() throws(OutOfBytes) -> UInt8 {
        guard remaining > 0 else { throw OutOfBytes(offset: offset, needed: 1) }
        defer { offset += 1 }
        return bytes[offset]
    }

    /// Skips this many bytes, and returns the offset of the first one.
    @usableFromInline package mutating func skip(_ count: Int) throws(OutOfBytes) -> Int {
        guard count >= 0, count <= remaining else {
            throw OutOfBytes(offset: offset, needed: count)
        }
        defer { offset += count }
        return offset
    }

    @inlinable package mutating func little<Number: FixedWidthInteger & UnsignedInteger>(
        _ type: Number.Type = Number.self
    ) throws(OutOfBytes) -> Number {
        let start = try skip(Number.bitWidth / 8)
        var number: Number = 0
        for index in (start..<offset).reversed() { number = number << 8 | Number(bytes[index]) }
        return number
    }

    @inlinable package mutating func big<Number: FixedWidthInteger & UnsignedInteger>(
        _ type: Number.Type = Number.self
    ) throws(OutOfBytes) -> Number {
        let start = try skip(Number.bitWidth / 8)
        var number: Number = 0
        for index in start..<offset { number = number << 8 | Number(bytes[index]) }
        return number
    }
}

extension FixedWidthInteger where Self: UnsignedInteger {
    /// The bytes, least significant first.
    @inlinable package var littleBytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.bitWidth / 8)
        for shift in stride(from: 0, to: Self.bitWidth, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: self >> shift))
        }
        return bytes
    }

    /// The bytes, most significant first.
    @inlinable package var bigBytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.bitWidth / 8)
        for shift in stride(from: Self.bitWidth - 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: self >> shift))
        }
        return bytes
    }
}

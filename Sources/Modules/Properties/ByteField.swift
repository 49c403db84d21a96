/// Where a value stands in a record of eight data bytes after two of its identifier, or in another
/// value of a module.
///
/// Bytes are counted as the public descriptions count them: from the record's first byte, so that
/// the data begins at 2; so they are in values that are no records.
package struct ByteField: Sendable, Hashable {
    package enum ByteOrder: String, CaseIterable, Sendable, Hashable {
        /// The least significant byte first.
        case little
        case big
    }

    package static let firstByte = 2
    package static let recordLength = 10

    package let place: ValuePlace
    package let offset: Int
    package let length: Int
    package let order: ByteOrder
    package let isSigned: Bool

    /// Nil unless the field lies inside the record's data.
    package init?(
        register: UInt16,
        offset: Int,
        length: Int,
        order: ByteOrder = .little,
        isSigned: Bool = false
    ) {
        self.init(
            in: .record(register),
            offset: offset,
            length: length,
            order: order,
            isSigned: isSigned
        )
    }

    /// Nil unless the field lies inside what can be at its place.
    package init?(
        in place: ValuePlace,
        offset: Int,
        length: Int,
        order: ByteOrder = .little,
        isSigned: Bool = false
    ) {
        let end = Self.firstByte + place.limit
        guard length >= 1, offset >= Self.firstByte, length <= end, offset <= end - length else {
            return nil
        }
        self.place = place
        self.offset = offset
        self.length = length
        self.order = order
        self.isSigned = isSigned
    }

    /// The number of its record, for families whose modules have nothing but records.
    package var register: UInt16 {
        guard case .record(let number) = place else {
            preconditionFailure("only a record has a number, and \(place) is none")
        }
        return number
    }

    /// The field's place among the data bytes.
    private var range: Range<Int> {
        (offset - Self.firstByte)..<(offset - Self.firstByte + length)
    }

    /// The field's bytes out of a record's data; nil when the data is shorter than that.
    package func bytes(in data: [UInt8]) -> [UInt8]? {
        data.count >= range.upperBound ? Array(data[range]) : nil
    }

    package func unsigned(in data: [UInt8]) -> UInt64? {
        bytes(in: data).map { bytes in
            let ordered = order == .big ? bytes : bytes.reversed()
            return ordered.reduce(0) { $0 << 8 | UInt64($1) }
        }
    }

    /// The number there, its sign extended when it has one; nil also beyond what 64 bits hold.
    package func integer(in data: [UInt8]) -> Int64? {
        guard let raw = unsigned(in: data) else { return nil }
        guard isSigned else { return Int64(exactly: raw) }
        let unused = UInt64(64 - length * 8)
        return Int64(bitPattern: raw << unused) >> Int64(unused)
    }

    /// The numbers that fit.
    package var integers: ClosedRange<Int64> {
        let bits = min(length * 8, 63)
        if isSigned {
            let top = Int64(1) << Int64(min(length * 8 - 1, 62))
            return -top...(top - 1)
        }
        return 0...(bits == 63 ? .max : (Int64(1) << Int64(bits)) - 1)
    }

    /// Puts bytes into a record's data; false when either is too short.
    package func put(_ bytes: [UInt8], into data: inout [UInt8]) -> Bool {
        guard bytes.count == length, data.count >= range.upperBound else { return false }
        data.replaceSubrange(range, with: bytes)
        return true
    }

    /// Puts a number there; false when it does not fit.
    package func put(_ number: Int64, into data: inout [UInt8]) -> Bool {
        guard integers.contains(number) else { return false }
        let big = UInt64(bitPattern: number)
        let bytes = (0..<length).map { UInt8(truncatingIfNeeded: big >> UInt64($0 * 8)) }
        return put(order == .little ? bytes : bytes.reversed(), into: &data)
    }
}

/// The place of a value: in a record, which has eight data bytes after the two of its identifier,
/// or in another value of a module.
///
/// Offsets count from the record's first byte, as in the public descriptions, so that the data
/// begins at 2. The same offset is used in values that are not records.
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

    /// Nil unless the field is inside the record's data.
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

    /// Nil unless the field is inside the longest value of its place.
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

    /// The number of its record, for families whose modules have only records.
    package var register: UInt16 {
        guard case .record(let number) = place else {
            preconditionFailure("only a record has a number, and \(place) is none")
        }
        return number
    }

    /// The range of the field in the data bytes.
    private var range: Range<Int> {
        (offset - Self.firstByte)..<(offset - Self.firstByte + length)
    }

    /// The field's bytes from a record's data; nil when the data is too short.
    package func bytes(in data: [UInt8]) -> [UInt8]? {
        data.count >= range.upperBound ? Array(data[range]) : nil
    }

    package func unsigned(in data: [UInt8]) -> UInt64? {
        bytes(in: data).map { bytes in
            let ordered = order == .big ? bytes : bytes.reversed()
            return ordered.reduce(0) { $0 << 8 | UInt64($1) }
        }
    }

    /// The field's number, sign-extended if the field is signed; nil also when it does not fit into
    /// 64 bits.
    package func integer(in data: [UInt8]) -> Int64? {
        guard let raw = unsigned(in: data) else { return nil }
        guard isSigned else { return Int64(exactly: raw) }
        let unused = UInt64(64 - length * 8)
        return Int64(bitPattern: raw << unused) >> Int64(unused)
    }

    /// The numbers that fit into the field.
    package var integers: ClosedRange<Int64> {
        let bits = min(length * 8, 63)
        if isSigned {
            let top = Int64(1) << Int64(min(length * 8 - 1, 62))
            return -top...(top - 1)
        }
        return 0...(bits == 63 ? .max : (Int64(1) << Int64(bits)) - 1)
    }

    /// Writes bytes into a record's data; false when the length is wrong or the data is too short.
    package func put(_ bytes: [UInt8], into data: inout [UInt8]) -> Bool {
        guard bytes.count == length, data.count >= range.upperBound else { return false }
        data.replaceSubrange(range, with: bytes)
        return true
    }

    /// Writes a number into a record's data; false when it does not fit.
    package func put(_ number: Int64, into data: inout [UInt8]) -> Bool {
        guard integers.contains(number) else { return false }
        let big = UInt64(bitPattern: number)
        let bytes = (0..<length).map { UInt8(truncatingIfNeeded: big >> UInt64($0 * 8)) }
        return put(order == .little ? bytes : bytes.reversed(), into: &data)
    }
}

/// Why bytes are not a valid protobuf message.
package enum ProtobufError: Error, Hashable, Sendable {
    case truncated(offset: Int)
    /// More than ten bytes, or more than 64 bits.
    case longVarint(offset: Int)
    /// Field number 0, or beyond 29 bits.
    case fieldNumber(offset: Int)
    /// Groups, and numbers that are not defined.
    case wireType(UInt8, offset: Int)
}

/// The fields of one protobuf message in their order; the caller knows their meaning.
package struct ProtobufFields: Equatable, Sendable {
    package enum Value: Equatable, Sendable {
        case varint(UInt64)
        case fixed64(UInt64)
        case bytes([UInt8])
        case fixed32(UInt32)
    }

    package struct Field: Equatable, Sendable {
        package let number: UInt32
        package let value: Value
    }

    package private(set) var fields: [Field] = []

    package init() {}

    package init(_ bytes: [UInt8]) throws(ProtobufError) {
        var reader = ByteReader(bytes)
        while !reader.isAtEnd {
            let start = reader.offset
            let key = try Self.varint(&reader)
            guard let number = UInt32(exactly: key >> 3), (1..<1 << 29).contains(number) else {
                throw .fieldNumber(offset: start)
            }
            fields.append(
                Field(number: number, value: try Self.value(UInt8(key & 7), &reader, start))
            )
        }
    }

    private static func value(
        _ type: UInt8,
        _ reader: inout ByteReader,
        _ start: Int
    ) throws(ProtobufError) -> Value {
        do {
            switch type {
            case 0: return .varint(try varint(&reader))
            case 1: return .fixed64(try reader.little())
            case 2:
                let length = try varint(&reader)
                guard let count = Int(exactly: length) else {
                    throw OutOfBytes(offset: start, needed: 0)
                }
                return .bytes(try reader.bytes(count))
            case 5: return .fixed32(try reader.little())
            default: throw ProtobufError.wireType(type, offset: start)
            }
        } catch let error as ProtobufError {
            throw error
        } catch {
            throw .truncated(offset: reader.offset)
        }
    }

    private static func varint(_ reader: inout ByteReader) throws(ProtobufError) -> UInt64 {
        let start = reader.offset
        var value: UInt64 = 0
        for index in 0..<10 {
            guard let byte = try? reader.byte() else { throw .truncated(offset: start) }
            if index == 9 && byte > 1 { break }
            value |= UInt64(byte & 0x7F) << (7 * index)
            if byte & 0x80 == 0 { return value }
        }
        throw .longVarint(offset: start)
    }

    // MARK: Reading

    /// Of several values of one field, the last one counts, as protobuf specifies.
    package func varint(_ number: UInt32) -> UInt64? {
        for field in fields.reversed() where field.number == number {
            if case .varint(let value) = field.value { return value }
        }
        return nil
    }

    package func bytes(_ number: UInt32) -> [UInt8]? {
        for field in fields.reversed() where field.number == number {
            if case .bytes(let value) = field.value { return value }
        }
        return nil
    }

    package func fixed32(_ number: UInt32) -> UInt32? {
        for field in fields.reversed() where field.number == number {
            if case .fixed32(let value) = field.value { return value }
        }
        return nil
    }

    /// All values of a repeated number, packed or not; nil when a packed run is incomplete.
    package func varints(_ number: UInt32) -> [UInt64]? {
        var values: [UInt64] = []
        for field in fields where field.number == number {
            switch field.value {
            case .varint(let value): values.append(value)
            case .bytes(let packed):
                var reader = ByteReader(packed)
                while !reader.isAtEnd {
                    guard let value = try? Self.varint(&reader) else { return nil }
                    values.append(value)
                }
            case .fixed32, .fixed64: return nil
            }
        }
        return values
    }

    // MARK: Writing

    package mutating func add(_ number: UInt32, _ value: UInt64) {
        fields.append(Field(number: number, value: .varint(value)))
    }

    package mutating func add(_ number: UInt32, _ value: [UInt8]) {
        fields.append(Field(number: number, value: .bytes(value)))
    }

    package mutating func add(_ number: UInt32, fixed value: UInt32) {
        fields.append(Field(number: number, value: .fixed32(value)))
    }

    package var serialized: [UInt8] {
        fields.flatMap { field -> [UInt8] in
            let key = UInt64(field.number) << 3
            return switch field.value {
            case .varint(let value): Self.bytes(ofVarint: key) + Self.bytes(ofVarint: value)
            case .fixed64(let value): Self.bytes(ofVarint: key | 1) + value.littleBytes
            case .bytes(let value):
                Self.bytes(ofVarint: key | 2) + Self.bytes(ofVarint: UInt64(value.count)) + value
            case .fixed32(let value): Self.bytes(ofVarint: key | 5) + value.littleBytes
            }
        }
    }

    private static func bytes(ofVarint value: UInt64) -> [UInt8] {
        var rest = value
        var bytes: [UInt8] = []
        while rest > 0x7F {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
        return bytes
    }
}

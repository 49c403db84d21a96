/// The eight bytes before every SMP message; all numbers are big-endian.
package struct SMPHeader: Equatable, Sendable {
    package enum Operation: UInt8, Sendable {
        case read = 0
        case readResponse = 1
        case write = 2
        case writeResponse = 3

        /// The operation of the answer; nil for an answer.
        package var response: Operation? {
            switch self {
            case .read: .readResponse
            case .write: .writeResponse
            case .readResponse, .writeResponse: nil
            }
        }
    }

    package static let length = 8

    package let operation: Operation
    /// 0 is the first version, whose errors are plain numbers, 1 is the second; 2 and 3 are not
    /// assigned.
    package let version: UInt8
    package let group: UInt16
    /// Chosen by the sender of the request and repeated in the answer.
    package let sequence: UInt8
    package let command: UInt8
    /// The number of bytes that follow.
    package let payloadLength: Int

    package init(
        _ operation: Operation,
        version: UInt8 = 1,
        group: UInt16,
        command: UInt8,
        sequence: UInt8,
        payloadLength: Int
    ) {
        precondition(version < 4, "the version has two bits")
        precondition((0...0xFFFF).contains(payloadLength), "the length has two bytes")
        self.operation = operation
        self.version = version
        self.group = group
        self.sequence = sequence
        self.command = command
        self.payloadLength = payloadLength
    }

    /// Reads the first eight bytes; nil when there are fewer or the operation is unknown.
    ///
    /// Reserved bits are ignored.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.length, let operation = Operation(rawValue: bytes[0] & 7) else {
            return nil
        }
        self.operation = operation
        version = bytes[0] >> 3 & 3
        payloadLength = Int(bytes[2]) << 8 | Int(bytes[3])
        group = UInt16(bytes[4]) << 8 | UInt16(bytes[5])
        sequence = bytes[6]
        command = bytes[7]
    }

    /// Whether these bytes can be the beginning of a header: no reserved bit is set.
    static func mayBegin(with bytes: [UInt8]) -> Bool {
        bytes.first.map { $0 & 0xE4 == 0 } ?? true && bytes.dropFirst().first ?? 0 == 0
    }

    /// With room for the payload.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.length + payloadLength)
        bytes.append(version << 3 | operation.rawValue)
        bytes.append(0)
        bytes.append(UInt8(payloadLength >> 8))
        bytes.append(UInt8(payloadLength & 0xFF))
        bytes.append(UInt8(group >> 8))
        bytes.append(UInt8(group & 0xFF))
        bytes.append(sequence)
        bytes.append(command)
        return bytes
    }

    /// Whether this is the header of the answer to `request`.
    package func answers(_ request: SMPHeader) -> Bool {
        operation == request.operation.response && group == request.group
            && command == request.command && sequence == request.sequence
    }
}

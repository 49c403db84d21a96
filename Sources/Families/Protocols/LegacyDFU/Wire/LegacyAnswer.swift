import Base

/// A notification of the control point.
package enum LegacyAnswer: Equatable, Sendable {
    case result(LegacyRequest.Operation, LegacyResult)
    /// The number of bytes of the image that were received, on request.
    case size(UInt32)
    /// The same number, sent unasked after the agreed number of packets.
    case receipt(UInt32)

    package init(_ bytes: [UInt8]) throws(LegacyAnswerError) {
        func word(_ start: Int) -> UInt32 {
            bytes[start..<(start + 4)].reversed().reduce(0) { $0 << 8 | UInt32($1) }
        }
        switch bytes.first {
        case 0x11? where bytes.count == 5: self = .receipt(word(1))
        case 0x10? where bytes.count == 7 && bytes[1] == 7 && bytes[2] == 1: self = .size(word(3))
        case 0x10? where bytes.count == 3:
            guard let operation = LegacyRequest.Operation(rawValue: bytes[1]) else {
                throw .unknownOperation(bytes[1])
            }
            guard let result = LegacyResult(rawValue: bytes[2]) else {
                throw .unknownResult(bytes[2])
            }
            self = .result(operation, result)
        default: throw .unknownForm(bytes.count)
        }
    }

    package var bytes: [UInt8] {
        func little(_ word: UInt32) -> [UInt8] {
            (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32($0 * 8)) }
        }
        return switch self {
        case .result(let operation, let result): [0x10, operation.rawValue, result.rawValue]
        case .size(let count): [0x10, 7, 1] + little(count)
        case .receipt(let count): [0x11] + little(count)
        }
    }
}

/// Why bytes are not an answer.
package enum LegacyAnswerError: Error, Hashable, Sendable {
    case unknownForm(Int)
    case unknownOperation(UInt8)
    case unknownResult(UInt8)
}

/// The result of a request.
package enum LegacyResult: UInt8, CaseIterable, Sendable {
    case success = 1
    /// The request is out of order: usually an earlier attempt was not cleared.
    case invalidState
    case notSupported
    case dataSize
    case crcError
    case failed
}

extension LegacyResult: CustomStringConvertible {
    package var description: String {
        switch self {
        case .success: "done"
        case .invalidState: "out of order"
        case .notSupported: "not supported"
        case .dataSize: "the image has another length than the bootloader takes"
        case .crcError: "the image does not have the checksum that was announced"
        case .failed: "the operation failed"
        }
    }
}

import Base

/// A request that is written to the Secure DFU control point.
package enum DFURequest: Equatable, Sendable {
    case protocolVersion
    case create(DFUObjectType, size: UInt32)
    case setReceiptInterval(UInt16)
    case checksum
    case execute
    case select(DFUObjectType)
    case abort
}

/// Why bytes are not a control point request.
package enum DFURequestError: Error, Equatable, Sendable {
    case empty
    case unknownOperation(UInt8)
    case unknownObjectType(UInt8)
    case wrongLength(operation: UInt8, length: Int)
}

extension DFURequest {
    package var operation: DFUOperation {
        switch self {
        case .protocolVersion: .protocolVersion
        case .create: .create
        case .setReceiptInterval: .setReceiptInterval
        case .checksum: .checksum
        case .execute: .execute
        case .select: .select
        case .abort: .abort
        }
    }

    package var bytes: [UInt8] {
        let rest: [UInt8] =
            switch self {
            case .create(let type, let size): [type.rawValue] + size.littleBytes
            case .setReceiptInterval(let packets): packets.littleBytes
            case .select(let type): [type.rawValue]
            case .protocolVersion, .checksum, .execute, .abort: []
            }
        return [operation.rawValue] + rest
    }

    package init(_ bytes: [UInt8]) throws(DFURequestError) {
        guard let first = bytes.first else { throw .empty }
        guard let operation = DFUOperation(rawValue: first) else { throw .unknownOperation(first) }
        let wanted =
            switch operation {
            case .create: 6
            case .setReceiptInterval: 3
            case .select: 2
            case .protocolVersion, .checksum, .execute, .abort: 1
            }
        guard bytes.count == wanted else {
            throw .wrongLength(operation: first, length: bytes.count)
        }
        func type() throws(DFURequestError) -> DFUObjectType {
            guard let type = DFUObjectType(rawValue: bytes[1]) else {
                throw .unknownObjectType(bytes[1])
            }
            return type
        }
        switch operation {
        case .protocolVersion: self = .protocolVersion
        case .create:
            self = .create(
                try type(),
                size: bytes[2...].reversed().reduce(0) { $0 << 8 | UInt32($1) }
            )
        case .setReceiptInterval:
            self = .setReceiptInterval(UInt16(bytes[1]) | UInt16(bytes[2]) << 8)
        case .checksum: self = .checksum
        case .execute: self = .execute
        case .select: self = .select(try type())
        case .abort: self = .abort
        }
    }
}

/// An operation of the control point.
package enum DFUOperation: UInt8, CaseIterable, Sendable {
    case protocolVersion = 0x00
    case create = 0x01
    case setReceiptInterval = 0x02
    case checksum = 0x03
    case execute = 0x04
    case select = 0x06
    case abort = 0x0C
}

import Base

/// One message from or to an LR device: a header of five bytes, and its payload.
///
/// One message is one write or one notification; messages are never split.
package struct LRMessage: Equatable, Sendable {
    package enum Kind: UInt8, CaseIterable, Sendable {
        case request = 1
        case reply = 2
        /// Sent by the device unasked.
        case notification = 3
    }

    package static let headerLength = 5
    package static let longestPayload = 255 - headerLength

    package let kind: Kind
    package let command: LRCommand
    /// Whether the payload, or a part of it that depends on the command, is encrypted.
    package let isSealed: Bool
    /// Empty when the message has only a header.
    package let payload: [UInt8]

    /// Nil when the payload is longer than the length byte allows.
    package init?(
        _ kind: Kind,
        _ command: LRCommand,
        isSealed: Bool = false,
        payload: [UInt8] = []
    ) {
        guard payload.count <= Self.longestPayload else { return nil }
        self.kind = kind
        self.command = command
        self.isSealed = isSealed
        self.payload = payload
    }

    package init(_ bytes: [UInt8]) throws(LRMessageError) {
        guard bytes.count >= Self.headerLength else { throw .tooShort(bytes.count) }
        guard let kind = Kind(rawValue: bytes[1]) else { throw .unknownKind(bytes[1]) }
        guard Int(bytes[0]) == bytes.count else {
            throw .wrongLength(claimed: Int(bytes[0]), actual: bytes.count)
        }
        self.kind = kind
        command = LRCommand(rawValue: UInt16(bytes[2]) << 8 | UInt16(bytes[3]))
        isSealed = bytes[4] == 1
        payload = Array(bytes[Self.headerLength...])
    }

    package var bytes: [UInt8] {
        [UInt8(Self.headerLength + payload.count), kind.rawValue] + command.rawValue.bigBytes
            + [isSealed ? 1 : 0] + payload
    }
}

/// Why bytes are not an LR message.
package enum LRMessageError: Error, Hashable, Sendable, CustomStringConvertible {
    case tooShort(Int)
    case unknownKind(UInt8)
    case wrongLength(claimed: Int, actual: Int)

    package var description: String {
        switch self {
        case .tooShort(let count): "a message of \(count) bytes: its header alone has 5"
        case .unknownKind(let kind): "a message of the unknown kind \(kind)"
        case .wrongLength(let claimed, let actual):
            "a message that claims \(claimed) bytes and has \(actual)"
        }
    }
}

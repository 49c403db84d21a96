package import Base

/// The private key of a Comodule module.
///
/// People write it as up to 40 hex digits of either case. The module's own key always has 20 bytes,
/// so a shorter key is filled up with zeros at its end.
package struct ComoduleKey: Equatable, Sendable, CustomStringConvertible {
    package static let length = 20

    private let padded: Secret

    /// White space around the digits, such as the line end of a file, is not part of the key.
    package init(_ text: Secret) throws(ComoduleKeyError) {
        padded = Secret(try text.withBytes(Self.parse))
    }

    /// All 20 bytes.
    package func withBytes<R, E: Error>(_ body: ([UInt8]) throws(E) -> R) throws(E) -> R {
        try padded.withBytes(body)
    }

    package var description: String { "<secret>" }

    private static func parse(_ text: [UInt8]) throws(ComoduleKeyError) -> [UInt8] {
        let space: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
        let front = text.prefix(while: space).count
        let back = text.reversed().prefix(while: space).count
        let digits = text.dropFirst(front).dropLast(back)
        guard !digits.isEmpty else { throw .empty }
        if let index = digits.firstIndex(where: { !Hex.isDigit($0) }) {
            throw .notHex(position: index - digits.startIndex + 1)
        }
        guard digits.count <= 2 * length else { throw .tooLong(digits: digits.count) }
        guard let bytes = Hex.bytes(String(decoding: digits, as: UTF8.self)) else {
            throw .oddDigits(digits.count)
        }
        return bytes + Array(repeating: 0, count: length - bytes.count)
    }
}

/// Why a text is not a key.
///
/// The error never contains the text.
package enum ComoduleKeyError: Error, Hashable, Sendable, CustomStringConvertible {
    case empty
    /// The first character that is not a hex digit, counted from 1.
    case notHex(position: Int)
    case oddDigits(Int)
    case tooLong(digits: Int)

    package var description: String {
        switch self {
        case .empty: "the key is empty"
        case .notHex(let position): "character \(position) of the key is no hex digit"
        case .oddDigits(let count): "the key has \(count) hex digits: a byte takes two"
        case .tooLong(let digits): "the key has \(digits) hex digits, at most 40 are allowed"
        }
    }
}

import Base

/// Why a detached signature is not valid for an image.
package enum MinisignError: Error, Equatable, Sendable, CustomStringConvertible {
    case badKey
    case badSignature(line: Int)
    /// It was made with a key other than the named one.
    case otherKey(wanted: String, found: String)
    case wrong
    /// The signature is valid, but the comment beside it was changed.
    case wrongComment

    package var description: String {
        switch self {
        case .badKey: "it is no public key of minisign"
        case .badSignature(let line): "it is no signature of minisign: line \(line) is wrong"
        case .otherKey(let wanted, let found):
            "it was made by the key \(found), not by the key \(wanted) that is trusted for it"
        case .wrong: "the signature is not over these bytes"
        case .wrongComment: "the signature's trusted comment was changed"
        }
    }
}

/// A public key of minisign: an Ed25519 key with the id that signatures contain.
package struct MinisignKey: Sendable, Hashable, CustomStringConvertible {
    /// The bytes of the key's id and of the key, as the line encodes them.
    package let encoded: [UInt8]
    let key: VerifyingKey

    fileprivate var id: [UInt8] { Array(encoded.prefix(8)) }

    /// Nil unless these are the eight bytes of an id and the 32 of a key.
    init?(encoded: [UInt8]) {
        guard encoded.count == 40, let key = VerifyingKey(ed25519: Array(encoded[8...])) else {
            return nil
        }
        self.encoded = encoded
        self.key = key
    }

    /// The line `RW…` in which people pass the key on.
    package var line: String { Base64.text(Array("Ed".utf8) + encoded) }

    /// Reads the key's file, or only its second line.
    package init(_ text: [UInt8]) throws(MinisignError) {
        let lines = MinisignSignature.lines(text)
        let line: [UInt8]
        switch lines.count {
        case 1: line = lines[0]
        case 2 where lines[0].starts(with: "untrusted comment:".utf8): line = lines[1]
        default: throw .badKey
        }
        guard let bytes = Base64.bytes(line), bytes.count == 42, bytes.starts(with: "Ed".utf8),
            let key = MinisignKey(encoded: Array(bytes[2...]))
        else { throw .badKey }
        self = key
    }

    /// The id in the form that minisign prints.
    package var description: String { Hex.text(id.reversed()).uppercased() }
}

/// A detached signature of minisign, in either form, with its trusted comment.
package struct MinisignSignature: Sendable, Equatable {
    package static let longest: Int64 = 16_384

    /// Whether the signature covers the BLAKE2b-512 of the bytes, not the bytes themselves.
    package let isPrehashed: Bool
    private let id: [UInt8]
    private let signature: [UInt8]
    private let overall: [UInt8]
    /// The signer's statements about the image; the signature covers it, too.
    package let comment: String

    package init(_ text: [UInt8]) throws(MinisignError) {
        let lines = Self.lines(text)
        guard lines.count == 4, Int64(text.count) <= Self.longest else {
            throw .badSignature(line: min(lines.count + 1, 5))
        }
        guard lines[0].starts(with: "untrusted comment: ".utf8) else {
            throw .badSignature(line: 1)
        }
        guard let bytes = Base64.bytes(lines[1]), bytes.count == 74 else {
            throw .badSignature(line: 2)
        }
        switch (bytes[0], bytes[1]) {
        case (0x45, 0x64): isPrehashed = false
        case (0x45, 0x44): isPrehashed = true
        default: throw .badSignature(line: 2)
        }
        let mark = Array("trusted comment: ".utf8)
        guard lines[2].starts(with: mark),
            let comment = String(validating: lines[2].dropFirst(mark.count), as: UTF8.self)
        else { throw .badSignature(line: 3) }
        guard let overall = Base64.bytes(lines[3]), overall.count == 64 else {
            throw .badSignature(line: 4)
        }
        id = Array(bytes[2..<10])
        signature = Array(bytes[10...])
        self.comment = comment
        self.overall = overall
    }

    /// The id of the key that it says it was made with, in the form that minisign prints.
    package var keyID: String { Hex.text(id.reversed()).uppercased() }

    /// Whether it says that it was made with this key.
    package func names(_ key: MinisignKey) -> Bool { id == key.id }

    /// Throws unless the key's owner signed these bytes and the comment.
    package func verify(_ bytes: [UInt8], by key: MinisignKey) throws(MinisignError) {
        try verify(by: key) { isPrehashed ? LongDigest.blake2b512.digest(of: bytes) : bytes }
    }

    /// The same for bytes that were taken in pieces.
    package func verify(_ signed: SignedBytes.Taken, by key: MinisignKey) throws(MinisignError) {
        try verify(by: key) { isPrehashed ? signed.digest : signed.bytes }
    }

    private func verify(
        by key: MinisignKey,
        over message: () -> [UInt8]?
    ) throws(MinisignError) {
        guard id == key.id else {
            throw .otherKey(
                wanted: key.description,
                found: keyID
            )
        }
        guard let message = message(), key.key.verifies(signature, of: message) else {
            throw .wrong
        }
        guard key.key.verifies(overall, of: signature + comment.utf8) else {
            throw .wrongComment
        }
    }

    /// The lines of a text, with LF or CRLF, and with or without a line break at the end.
    static func lines(_ text: [UInt8]) -> [[UInt8]] {
        var lines = text.split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
            Array(line.last == 0x0D ? line.dropLast() : line)
        }
        if lines.last?.isEmpty == true { lines.removeLast() }
        return lines
    }
}

/// Bytes whose signatures are verified later, taken piece by piece.
package struct SignedBytes: ~Copyable {
    /// The data that signatures of either form cover.
    package struct Taken: Sendable {
        fileprivate let digest: [UInt8]
        /// Nil unless they were kept.
        fileprivate let bytes: [UInt8]?
    }

    private var hash = LongHash(.blake2b512)
    private var bytes: [UInt8]?

    /// Signatures of the older form need all bytes in memory.
    package init(keepsAll: Bool) { bytes = keepsAll ? [] : nil }

    package mutating func take(_ piece: [UInt8]) {
        hash.update(piece)
        bytes? += piece
    }

    package consuming func finish() -> Taken {
        let bytes = bytes
        return Taken(digest: hash.finish(), bytes: bytes)
    }
}

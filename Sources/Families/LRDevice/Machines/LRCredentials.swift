package import Base

/// The credentials that open an LR lock: the key that both sides agreed on, and the password that
/// is protected by it.
///
/// They are written as `KEY:PASSWORD`, the key as 64 hex digits.
package struct LRCredentials: Equatable, Sendable, CustomStringConvertible {
    package static let keyLength = 32
    private static let passwordLimit = 128

    package let key: Secret
    package let password: Secret

    package init(key: Secret, password: Secret) {
        self.key = key
        self.password = password
    }

    /// White space around the text, such as the line end of a file, is not part of it.
    package init(_ text: Secret) throws(LRCredentialsError) {
        (key, password) = try text.withBytes(Self.parse)
    }

    package var description: String { "<secret>" }

    private static func parse(
        _ text: [UInt8]
    ) throws(LRCredentialsError) -> (Secret, Secret) {
        let space: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
        let front = text.prefix(while: space).count
        let back = text.reversed().prefix(while: space).count
        guard front < text.count else { throw .empty }
        let content = text.dropFirst(front).dropLast(back)
        guard let colon = content.firstIndex(of: 0x3A) else { throw .noColon }
        let digits = String(decoding: content[..<colon], as: UTF8.self)
        guard let key = Hex.bytes(digits), key.count == keyLength else {
            throw .key(digits: digits.utf8.count)
        }
        let password = Array(content[(colon + 1)...])
        guard (1...passwordLimit).contains(password.count),
            password.allSatisfy({ (0x21...0x7E).contains($0) })
        else { throw .password }
        return (Secret(consume key), Secret(consume password))
    }
}

/// Why a text does not give credentials.
///
/// The error never contains the text.
package enum LRCredentialsError: Error, Hashable, Sendable, CustomStringConvertible {
    case empty
    case noColon
    case key(digits: Int)
    case password

    package var description: String {
        switch self {
        case .empty: "the secret is empty"
        case .noColon: "the secret has no colon; write `KEY:PASSWORD`"
        case .key(let digits):
            "the part before the colon is not a key: 64 hex digits are needed, there are "
                + "\(digits) characters"
        case .password:
            "the part after the colon is not a password of 1 to 128 visible ASCII characters"
        }
    }
}

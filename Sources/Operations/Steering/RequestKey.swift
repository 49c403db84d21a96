import Base

/// The key of a request that a program may send twice, with the digest of what it sent.
package struct RequestKey: Sendable {
    /// The header in which it is sent.
    package static let header = "Idempotency-Key"
    static let longest = 200
    /// The form of a key, as a regular expression of JSON Schema.
    package static let pattern = "^[!-~]{1,\(longest)}$"

    package let text: String
    /// The digest of the body's bytes.
    let body: SHA256Digest

    /// Nil when the text is no key: a key has 1 to 200 visible ASCII characters.
    package init?(_ text: String, body: [UInt8]) {
        guard (1...Self.longest).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        self.text = text
        self.body = SHA256.digest(of: body)
    }
}

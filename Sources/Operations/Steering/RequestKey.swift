import Digests
package import Domain

/// By which a program knows a request again that it sends twice, and what it has sent with it.
package struct RequestKey: Sendable {
    /// The header in which it is sent.
    package static let header = "Idempotency-Key"
    private static let longest = 200
    /// What it looks like, as a regular expression of JSON Schema.
    package static let pattern = "^[!-~]{1,\(longest)}$"

    package let text: String
    /// Of the body, byte by byte.
    package let body: SHA256Digest

    /// Nil for what is no key: 1 to 200 visible characters of ASCII.
    package init?(_ text: String, body: [UInt8]) {
        guard (1...Self.longest).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        self.text = text
        self.body = SHA256.digest(of: body)
    }
}

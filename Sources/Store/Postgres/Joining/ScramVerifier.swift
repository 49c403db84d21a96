package import Base

/// What a server keeps of a password (RFC 5803): with it the password itself is in no statement and no log.
package enum ScramVerifier {
    /// As many rounds as PostgreSQL itself makes.
    private static let rounds = 4_096

    /// For a password of letters and digits, which no preparation of texts changes.
    package static func text(
        of password: Secret,
        salt: [UInt8] = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
    ) -> String {
        let salted = password.withBytes { password in
            var block = HMAC.code(of: salt + [0, 0, 0, 1], key: password)
            var sum = block
            for _ in 1..<rounds {
                block = HMAC.code(of: block, key: password)
                for index in sum.indices { sum[index] ^= block[index] }
            }
            return sum
        }
        let client = HMAC.code(of: Array("Client Key".utf8), key: salted)
        let server = HMAC.code(of: Array("Server Key".utf8), key: salted)
        let stored = Base64.text(SHA256.digest(of: client).bytes)
        return "SCRAM-SHA-256$\(rounds):\(Base64.text(salt))$\(stored):\(Base64.text(server))"
    }
}

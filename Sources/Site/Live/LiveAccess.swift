package import Base

/// The people and programs that may read the pages of `serve` or send requests.
///
/// It contains only the digests of their tokens.
package struct LiveAccess: Sendable, Equatable {
    enum Role: String, CaseIterable, Sendable, Hashable {
        /// May read.
        case reader
        /// May read, and do what the commands from `pause` to `clear` do.
        case `operator`
    }

    /// A person or program with a token.
    package struct Person: Sendable, Equatable, Hashable {
        let name: String
        let role: Role
        let token: SHA256Digest

        /// Tells readers apart, and one from an earlier one with the same name.
        var reader: String { "\(token)" }

        package var mayAct: Bool { role == .operator }

        /// The author of their requests in the journal: the name alone could be that of an account.
        package var author: String { "\(name) (serve)" }
    }

    package let people: [Person]

    /// The largest list.
    static let mostBytes = 256 << 10
    /// Shorter tokens could be guessed, and are never accepted.
    static let shortestToken = 32
    private static let longestToken = 512

    /// Nil for a token that is not listed.
    package func person(with token: String) -> Person? {
        let bytes = Array(token.utf8)
        guard (Self.shortestToken...Self.longestToken).contains(bytes.count) else { return nil }
        let digest = SHA256.digest(of: bytes)
        return people.first { $0.token == digest }
    }

    /// Nil when the list has errors.
    package static func read(
        _ bytes: [UInt8],
        path: String
    ) -> (access: LiveAccess?, diagnostics: [Diagnostic]) {
        let diagnostics = Diagnostics(main: path)
        guard let tree = SourceNode.parse(bytes, file: path, diagnostics) else {
            return (nil, diagnostics.list)
        }
        var reader = FieldReader(tree, diagnostics, as: "a list of tokens")
        var people: [Person] = []
        for entry in reader.map("people", of: "`people` as a map of names") {
            guard isName(entry.key) else {
                diagnostics.error(
                    entry.keyPlace,
                    "\(quoted(entry.key)) is no name",
                    hint: "use at most 64 letters, digits, '.', '_' and '-'"
                )
                continue
            }
            var fields = FieldReader(entry.value, diagnostics, as: "a person")
            let role = fields.choice("role", Role.self)
            let place = fields.place(of: "token")
            let text = fields.text("token")
            fields.finish()
            guard let role, let text else { continue }
            guard text.hasPrefix("sha256:"), let digest = SHA256Digest(text.dropFirst(7)) else {
                // The text may be the token itself, so it is not repeated.
                diagnostics.error(
                    place,
                    "the token of \(quoted(entry.key)) is no SHA-256 digest",
                    hint: "write `sha256:` and the 64 digits that sha256sum gives for the token"
                )
                continue
            }
            guard !people.contains(where: { $0.token == digest }) else {
                diagnostics.error(
                    place,
                    "two people have this token",
                    hint: "make one for each: requests are recorded with the name"
                )
                continue
            }
            people.append(Person(name: entry.key, role: role, token: digest))
        }
        reader.finish()
        return (diagnostics.hasErrors ? nil : LiveAccess(people: people), diagnostics.list)
    }

    private static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
                default: false
                }
            }
    }
}

import Base

/// Reads the issuer of tokens.
struct TokenIssuerReader {
    let diagnostics: Diagnostics
    /// The directory to which `file:` paths are relative.
    let directory: String

    func issuer(_ node: SourceNode) -> TokenIssuer? {
        var reader = TableReader(node, Grammar.tokenIssuer, diagnostics)
        let words = reader.list("command", of: "a program and its arguments")?.compactMap {
            Form.word.read($0, diagnostics)
        }
        let url = reader.text("url")
        let key = reader.value("key").flatMap(reference)
        reader.finish()
        let ways = Grammar.tokenIssuer.exactlyOne.filter { reader.has($0) }
        guard ways.count == 1 else {
            diagnostics.error(
                node.place,
                ways.isEmpty
                    ? "the issuer of the tokens is missing"
                    : "a token comes from a program or from an address, not from both",
                hint: "write `command: [PROGRAM, \"{id}\"]` or `url: https://…`"
            )
            return nil
        }
        if let words {
            guard !words.isEmpty else {
                diagnostics.error(
                    node.place,
                    "`command` names no program",
                    hint: "write `command: [PROGRAM, \"{id}\"]`"
                )
                return nil
            }
            return TokenIssuer(.command(words), at: node.place)
        }
        guard let url else { return nil }
        guard url.hasPrefix("https://") else {
            diagnostics.error(
                reader.place(of: "url"),
                "tokens are accepted only over https",
                hint: "write an address that begins with https://"
            )
            return nil
        }
        return TokenIssuer(.url(url, key: key), at: node.place)
    }

    private func reference(_ node: SourceNode) -> SecretReference? {
        guard let text = node.text(diagnostics) else { return nil }
        if let reference = try? SecretReference(text, relativeTo: directory) { return reference }
        diagnostics.error(
            node.place,
            "a secret must be a reference, not the secret itself",
            hint: Form.secret.hint
        )
        return nil
    }
}

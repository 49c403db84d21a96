package import Base

/// Reads `notify`, from a manifest or from a separate file.
package struct NotifyReader {
    /// The size limit of a separate file.
    package static let mostBytes = 256 << 10

    let diagnostics: Diagnostics
    let directory: String

    /// Reads a file that contains only this list; the policy is nil when there are errors.
    package static func read(
        _ bytes: [UInt8],
        path: String
    ) -> (policy: NotifyPolicy?, diagnostics: [Diagnostic]) {
        let diagnostics = Diagnostics(main: path)
        guard let tree = SourceNode.parse(bytes, file: path, diagnostics) else {
            return (nil, diagnostics.list)
        }
        let policy = NotifyReader(
            diagnostics: diagnostics,
            directory: FileReference.directory(of: path)
        ).policy(tree)
        return (diagnostics.hasErrors ? nil : policy, diagnostics.list)
    }

    func policy(_ node: SourceNode) -> NotifyPolicy {
        var reader = TableReader(node, Grammar.notify, diagnostics)
        var policy = NotifyPolicy()
        let entries =
            reader.value("targets")?.entries(diagnostics, of: "`targets` as a map of names") ?? []
        policy.targets = entries.filter { !$0.key.hasPrefix("x-") }.compactMap(target)
        policy.silentAfter = reader.duration("silent-after")
        let place = reader.place(of: "sendmail")
        policy.sendmail = reader.text("sendmail")
        reader.finish()
        if let path = policy.sendmail, !path.hasPrefix("/") {
            diagnostics.error(
                place,
                "the program \(quoted(path)) is no absolute path",
                hint: "write it as in /usr/sbin/sendmail"
            )
        }
        return policy
    }

    private func target(_ entry: SourceNode.Entry) -> NotifyTarget? {
        guard Form.name.accepts(entry.key) else {
            diagnostics.error(
                entry.keyPlace,
                "\(quoted(entry.key)) is not \(Form.name.title)",
                hint: Form.name.hint
            )
            return nil
        }
        var reader = TableReader(entry.value, Grammar.notifyTarget, diagnostics)
        let ways = Grammar.notifyTarget.exactlyOne.filter { reader.has($0) }
        let mail = reader.value("mail").flatMap { self.mail($0) }
        let webhook = reader.value("webhook").flatMap { address($0) }
        let ntfy = reader.value("ntfy").flatMap(address)
        let alertmanager = reader.value("alertmanager").flatMap(address)
        let healthcheck = reader.value("healthcheck").flatMap(address)
        let program = self.program(&reader)
        let kinds = reader.list("when", of: "words")?.compactMap {
            $0.choice(NotifyKind.self, diagnostics)
        }
        let key = reader.value("key").flatMap { secret($0) }
        let token = reader.value("token").flatMap { secret($0) }
        reader.finish()
        guard ways.count == 1 else {
            let all = Grammar.notifyTarget.exactlyOne.map { "`\($0)`" }.joined(separator: ", ")
            diagnostics.error(
                entry.keyPlace,
                ways.isEmpty
                    ? "no way is given to notify \(quoted(entry.key))"
                    : "\(quoted(entry.key)) has more than one way",
                hint: "write exactly one of \(all); another way is another target"
            )
            return nil
        }
        let way: NotifyTarget.Way? =
            mail.map { .mail($0) } ?? webhook.map { .webhook($0, key: key) }
            ?? ntfy.map { .ntfy($0) } ?? alertmanager.map { .alertmanager($0) }
            ?? healthcheck.map { .healthcheck($0) } ?? program.map { .program($0) }
        guard let way else { return nil }
        var usual = Set(NotifyKind.allCases)
        if healthcheck == nil { usual.remove(.ended) }
        return NotifyTarget(
            name: entry.key,
            way: way,
            token: token,
            kinds: kinds.map(Set.init) ?? usual
        )
    }

    private func program(_ reader: inout TableReader) -> [String]? {
        let place = reader.place(of: "program")
        guard let items = reader.list("program", of: "words") else { return nil }
        let words = items.compactMap { Form.word.read($0, diagnostics) }
        guard let first = words.first, first.hasPrefix("/") else {
            diagnostics.error(
                place,
                "the program has no absolute path",
                hint: "write it as in [/usr/local/bin/page, --now]"
            )
            return nil
        }
        return words.count == items.count ? words : nil
    }

    /// A mail address: only printable ASCII, since it is written into a message header.
    private func mail(_ node: SourceNode) -> String? {
        guard let text = node.text(diagnostics) else { return nil }
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        if parts.count == 2, parts.allSatisfy({ !$0.isEmpty }), text.utf8.count <= 254,
            text.utf8.allSatisfy({
                (0x21...0x7E).contains($0) && ![0x2C, 0x3B, 0x3C, 0x3E].contains($0)
            })
        {
            return text
        }
        diagnostics.error(
            node.place,
            "\(quoted(text)) is no mail address",
            hint: "write it as in crew@example.com"
        )
        return nil
    }

    /// A web address, or a reference to one.
    private func address(_ node: SourceNode) -> NotifyAddress? {
        guard let text = node.text(diagnostics) else { return nil }
        for kind in ["file:", "credential:", "env:"] where text.hasPrefix(kind) {
            return secret(node).map { .secret($0) }
        }
        let source = ImageReader(diagnostics: diagnostics, directory: directory)
            .readSource(node, allowsHTTP: true)
        switch source {
        case .https(let url): return .url(url)
        case .http(let url) where Self.isOwn(url): return .url(url)
        case .http:
            diagnostics.error(
                node.place,
                "`http://` is not encrypted: others could read and change the notices",
                hint: "write `https://…`; `http://` is for this machine's own addresses"
            )
            return nil
        case .file, nil: return nil
        }
    }

    private static func isOwn(_ url: String) -> Bool {
        let host = url.dropFirst(7).prefix { !"/?#".contains($0) }
        return ["localhost", "127.0.0.1", "[::1]"].contains {
            host == $0 || host.hasPrefix($0 + ":")
        }
    }

    /// Text that is not a reference may be the secret itself, so no error contains it.
    private func secret(_ node: SourceNode) -> SecretReference? {
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

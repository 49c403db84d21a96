package import Base

/// Reads the file that names update servers, with all its mistakes at once.
package struct ServersReader {
    /// The size limit of the file.
    package static let mostBytes = 256 << 10

    private let diagnostics: Diagnostics
    private let directory: String

    /// The servers by name; nil when there are errors.
    package static func read(
        _ bytes: [UInt8],
        path: String
    ) -> (servers: [ServerSettings]?, diagnostics: [Diagnostic]) {
        let diagnostics = Diagnostics(main: path)
        guard let tree = SourceNode.parse(bytes, file: path, diagnostics) else {
            return (nil, diagnostics.list)
        }
        let reader = ServersReader(
            diagnostics: diagnostics,
            directory: FileReference.directory(of: path)
        )
        let servers = reader.servers(tree)
        return (diagnostics.hasErrors ? nil : servers, diagnostics.list)
    }

    private func servers(_ tree: SourceNode) -> [ServerSettings] {
        var reader = FieldReader(tree, diagnostics, as: "a file of servers")
        let entries = reader.map("servers", of: "`servers` as a map of names")
        reader.finish()
        return entries.filter { !$0.key.hasPrefix("x-") }.compactMap(server)
    }

    private func server(_ entry: SourceNode.Entry) -> ServerSettings? {
        guard Naming.isWord(Array(entry.key.utf8), upperCase: false) else {
            diagnostics.error(
                entry.keyPlace,
                "\(quoted(entry.key)) is not a name",
                hint: "1 to 64 of a-z, 0-9, `.`, `_` and `-`; not `.` or `-` first"
            )
            return nil
        }
        var reader = FieldReader(entry.value, diagnostics, as: "a server")
        let url = reader.node("url")
        let allowsHTTP = reader.boolean("allow-http", default: false)
        let controller = reader.text("controller", default: "{serial}")
        let credential = self.credential(&reader)
        let files = ["ca", "certificate", "key"].map { name in
            reader.text(name, .optional).map { FileReference($0, relativeTo: directory) }
        }
        let rate = reader.integer("requests-per-second", in: 1...100, default: 10)
        let confirm = reader.word("confirm", of: ["night", "never"], .optional)
        let hosts = reader.list("hosts", .optional, of: "hosts").compactMap(host)
        let attributes = reader.map("attributes", .optional).compactMap { entry in
            entry.value.text(diagnostics).map {
                ServerSettings.Attribute(name: entry.key, value: $0)
            }
        }
        let rules = reader.list("artifacts", of: "entries").compactMap(rule)
        reader.finish()
        guard let address = url.flatMap({ self.address($0, allowsHTTP) }) else { return nil }
        return ServerSettings(
            name: entry.key,
            url: address.text,
            authority: address.authority,
            allowsHTTP: allowsHTTP,
            controller: controller,
            credential: credential,
            authorities: files[0],
            certificate: files[1],
            key: files[2],
            requestsPerSecond: rate,
            confirms: confirm == "night",
            hosts: hosts,
            attributes: attributes,
            rules: rules,
            place: entry.keyPlace,
            directory: directory
        )
    }

    /// An address without query; its last slash is left out.
    private func address(
        _ node: SourceNode,
        _ allowsHTTP: Bool
    ) -> (text: String, authority: WebAuthority)? {
        guard var text = node.text(diagnostics, "a URL") else { return nil }
        while text.hasSuffix("/") { text.removeLast() }
        let parts = text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        let isPlain = text.hasPrefix("http://")
        if isPlain, !allowsHTTP {
            diagnostics.error(
                node.place,
                "`http://` is not encrypted: others could read the token and change the answers",
                hint: "write `https://…`, or add `allow-http: true` for a server on this machine"
            )
            return nil
        }
        guard parts.count >= 3, isPlain || text.hasPrefix("https://"),
            let authority = try? WebAuthority(parts[2]), text.utf8.count <= 1_024,
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x3F && $0 != 0x23 })
        else {
            diagnostics.error(
                node.place,
                "\(quoted(text)) is not the address of a server",
                hint: "write it with its tenant, as in https://updates.example/DEFAULT"
            )
            return nil
        }
        return (text, authority)
    }

    private func credential(_ reader: inout FieldReader) -> ServerSettings.Credential {
        let place = reader.place(of: "controller-token")
        let gateway = reader.node("gateway-token", .optional)
        let own = reader.text("controller-token", .optional)
        if gateway != nil, own != nil {
            diagnostics.error(
                place,
                "`controller-token` beside `gateway-token`",
                hint: "write the one that the server demands"
            )
        }
        if let own {
            if reference(own) == nil { refuseSecret(place) }
            return .controllers(own)
        }
        guard let gateway, let text = gateway.text(diagnostics) else { return .none }
        guard let reference = reference(text) else {
            refuseSecret(gateway.place)
            return .none
        }
        return .gateway(reference)
    }

    private func reference(_ text: String) -> SecretReference? {
        try? SecretReference(text, relativeTo: directory)
    }

    /// Text that is no reference may be the secret itself, so the error does not contain it.
    private func refuseSecret(_ place: Place) {
        diagnostics.error(
            place,
            "a token must be a reference, not the token itself",
            hint: "write `file:PATH`, `credential:NAME` or `env:NAME`"
        )
    }

    private func host(_ node: SourceNode) -> String? {
        guard let text = node.text(diagnostics, "a host") else { return nil }
        guard let authority = try? WebAuthority(text), authority.port == nil else {
            diagnostics.error(
                node.place,
                "\(quoted(text)) is not a host",
                hint: "as in cdn.example"
            )
            return nil
        }
        return authority.host.lowercased()
    }

    private func rule(_ node: SourceNode) -> ArtifactRule? {
        var reader = FieldReader(node, diagnostics, as: "an entry of `artifacts`")
        let file = reader.text("file", default: "*")
        let module = reader.text("module", default: "*")
        let profile = reader.text("profile", .optional)
        let member = reader.text("member", .optional)
        let trust = reader.word("trust", of: ["transport"], .optional)
        let image = reader.node("image")
        let update = reader.node("update", .optional)
        reader.finish()
        guard let image else { return nil }
        var fields = FieldReader(image, diagnostics, as: "`image`")
        let fits = fields.node("fits")
        for key in ["url", "mirrors", "sha256", "version", "size", "gzip"] where fields.has(key) {
            diagnostics.error(
                fields.place(of: key),
                "`\(key)` of an image that comes from a server",
                hint: "remove it: the server says it"
            )
        }
        let family = fits.flatMap { fits -> String? in
            guard case .map = fits.value else { return nil }
            var fields = FieldReader(fits, diagnostics, as: "`fits`")
            return fields.text("family")
        }
        guard let family else {
            diagnostics.error(
                image.place,
                "the image does not say for which family it is",
                hint: "add `fits: {family: …}`"
            )
            return nil
        }
        if let update {
            var fields = FieldReader(update, diagnostics, as: "`update`")
            for key in ["to", "by", "via"] where fields.has(key) {
                diagnostics.error(
                    fields.place(of: key),
                    "`\(key)` of an update that a server demands",
                    hint: "remove it: the server says which image"
                )
            }
            fields.know("to")
        }
        return ArtifactRule(
            file: file,
            module: module,
            family: family,
            profile: profile,
            member: member,
            image: image.json.members ?? [],
            update: update?.json.members ?? [],
            trustsTransport: trust != nil,
            place: node.place
        )
    }
}

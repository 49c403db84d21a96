import Base

/// Reads `trust`, and the trust rules of images.
struct TrustReader {
    let diagnostics: Diagnostics
    let directory: String

    private var images: ImageReader { ImageReader(diagnostics: diagnostics, directory: directory) }

    func policy(_ node: SourceNode?, at place: Place) -> TrustPolicy {
        var reader = TableReader(
            node ?? SourceNode(.map([]), at: place),
            Grammar.trust,
            diagnostics
        )
        let entries =
            reader.value("repositories")?
            .entries(diagnostics, of: "`repositories` as a map of names") ?? []
        let repositories = entries.filter { !$0.key.hasPrefix("x-") }.compactMap(repository)
        let allowed = digests("allow", &reader)
        let denied = digests("deny", &reader)
        reader.finish()
        return TrustPolicy(
            repositories: repositories.sorted { $0.name < $1.name },
            allowed: allowed,
            denied: denied
        )
    }

    private func digests(_ key: String, _ reader: inout TableReader) -> [SHA256Digest] {
        guard let items = reader.list(key, of: "digests") else { return [] }
        if items.isEmpty {
            diagnostics.error(
                reader.place(of: key),
                "the list `\(key)` is empty",
                hint: "leave it out, or add a digest"
            )
        }
        let digests = items.compactMap { item in
            Form.digest.read(item, diagnostics).flatMap { SHA256Digest($0) }
        }
        return Set(digests).sorted()
    }

    private func repository(_ entry: SourceNode.Entry) -> PlannedRepository? {
        guard Form.name.accepts(entry.key) else {
            diagnostics.error(
                entry.keyPlace,
                "\(quoted(entry.key)) is not \(Form.name.title)",
                hint: Form.name.hint
            )
            return nil
        }
        var reader = TableReader(entry.value, Grammar.repository, diagnostics)
        let root = reader.text("root").map { FileReference($0, relativeTo: directory) }
        let url = reader.value("metadata")
        let allowsHTTP = reader.boolean("allow-http")
        let grace = reader.duration("grace")
        reader.finish()
        let metadata = url.flatMap { images.readSource($0, allowsHTTP: allowsHTTP) }
        guard let root, let metadata else { return nil }
        return PlannedRepository(
            name: entry.key,
            root: root,
            metadata: metadata,
            grace: grace,
            place: entry.keyPlace
        )
    }

    // MARK: Images

    /// The trust rule of an image; nil after an error.
    func trust(_ reader: inout TableReader, of source: ImageSource?, allowsHTTP: Bool)
        -> ImageTrust?
    {
        let signature = reader.reader("signature")
        let tuf = reader.reader("tuf")
        if signature != nil, tuf != nil {
            diagnostics.error(
                reader.place(of: "tuf"),
                "an image is trusted by its `signature` or by `tuf`, not by both",
                hint: "remove one of them"
            )
            return nil
        }
        if let signature { return read(signature: signature, source, allowsHTTP) }
        if let tuf { return read(tuf: tuf) }
        return .digest
    }

    private func read(
        signature reader: TableReader,
        _ source: ImageSource?,
        _ allowsHTTP: Bool
    ) -> ImageTrust? {
        var reader = reader
        let key = reader.text("key")
        let url = reader.value("url")
        reader.finish()
        let place: ImageSource? =
            if let url { images.readSource(url, allowsHTTP: allowsHTTP) } else {
                source?.appending(".minisig")
            }
        guard let key, let place else { return nil }
        let reference: KeyReference =
            Form.isKeyText(key) ? .text(key) : .file(FileReference(key, relativeTo: directory))
        return .signature(key: reference, at: place)
    }

    private func read(tuf reader: TableReader) -> ImageTrust? {
        var reader = reader
        let repository = reader.text("repository")
        let target = reader.text("target")
        reader.finish()
        guard let repository, let target else { return nil }
        return .repository(repository, target: target)
    }
}

extension ImageSource {
    /// The source whose name has this ending added.
    fileprivate func appending(_ ending: String) -> ImageSource {
        switch self {
        case .https(let url): .https(url + ending)
        case .http(let url): .http(url + ending)
        case .file(let file): .file(file.appending(ending))
        }
    }
}

import Base
import Families

/// Reads the entries under `images`.
struct ImageReader {
    let diagnostics: Diagnostics
    let directory: String

    /// The valid images, sorted by name.
    func images(_ node: SourceNode?) -> [PlannedImage] {
        let entries = node?.entries(diagnostics, of: "`images` as a map of names") ?? []
        return entries.filter { !$0.key.hasPrefix("x-") }
            .compactMap { entry in
                if !Form.imageName.accepts(entry.key) {
                    diagnostics.error(
                        entry.keyPlace,
                        "\(quoted(entry.key)) is not \(Form.imageName.title)",
                        hint: Form.imageName.hint
                    )
                }
                return image(entry)
            }
            .sorted { $0.name < $1.name }
    }

    func image(_ entry: SourceNode.Entry) -> PlannedImage? {
        var reader = TableReader(entry.value, Grammar.image, diagnostics)
        let url = reader.value("url")
        let digest = reader.text("sha256").flatMap { text in SHA256Digest(text) }
        let version = reader.text("version").flatMap { FirmwareVersion($0) }
        let size = reader.size("size")
        let fits = reader.reader("fits").flatMap(readFits)
        let allowsHTTP = reader.boolean("allow-http")
        let source = url.flatMap { readSource($0, allowsHTTP: allowsHTTP) }
        let mirrors = reader.list("mirrors", of: "URLs")?
            .compactMap { readSource($0, allowsHTTP: allowsHTTP) }
        let packing = reader.reader("gzip").flatMap(readPacking)
        let trust = TrustReader(diagnostics: diagnostics, directory: directory)
            .trust(&reader, of: source, allowsHTTP: allowsHTTP)
        let attachments = AttachmentReader(
            diagnostics: diagnostics,
            directory: directory,
            allowsHTTP: allowsHTTP
        ).attachments(&reader)
        reader.finish()
        guard let trust, let source, let digest, let version, let fits else { return nil }
        return PlannedImage(
            name: entry.key,
            source: source,
            mirrors: mirrors ?? [],
            packing: packing,
            digest: digest,
            version: version,
            size: size,
            fits: fits,
            trust: trust,
            attachments: attachments,
            place: entry.keyPlace
        )
    }

    private func readPacking(_ reader: TableReader) -> PlannedImage.Packing? {
        var reader = reader
        let digest = reader.text("sha256").flatMap { SHA256Digest($0) }
        let size = reader.size("size")
        reader.finish()
        guard let digest, let size else { return nil }
        return PlannedImage.Packing(digest: digest, size: size)
    }

    private func readFits(_ reader: TableReader) -> PlannedImage.Fits? {
        var reader = reader
        let family = reader.value("family")?
            .word(of: FamilyRegistry.families.map(\.rawValue), diagnostics)
            .map(Family.init(rawValue:))
        let type = reader.integer("type").flatMap { UInt32(exactly: $0) }
        let variant = reader.integer("variant").flatMap { UInt32(exactly: $0) }
        reader.finish()
        return family.map { PlannedImage.Fits(family: $0, type: type, variant: variant) }
    }

    func readSource(_ node: SourceNode, allowsHTTP: Bool) -> ImageSource? {
        guard let text = node.text(diagnostics, Form.source.title) else { return nil }
        let source: ImageSource
        do throws(ImageSource.ParseError) {
            source = try ImageSource(text, relativeTo: directory)
        } catch {
            let (message, hint) = Self.words(error)
            diagnostics.error(node.place, message, hint: hint)
            return nil
        }
        if case .http = source, !allowsHTTP {
            diagnostics.error(
                node.place,
                "`http://` is not encrypted",
                hint: "use `https://`, or add `allow-http: true` to this image"
            )
            return nil
        }
        return source
    }

    /// Messages that do not contain the URL, because it may contain a password.
    private static func words(_ error: ImageSource.ParseError) -> (String, String) {
        switch error {
        case .unknownScheme: ("this is not a URL that images come from", Form.source.hint)
        case .noHost: ("the URL names no host", "write `https://HOST/PATH`")
        case .noPort:
            ("the URL has no port behind its last colon", "a port is a number from 1 to 65535")
        case .hasCredentials:
            ("the URL holds a name or password", "secrets never stand in a manifest")
        case .badPath:
            ("the `file:` URL names no file", "write `file:RELATIVE` or `file:///ABSOLUTE`")
        case .badEscape:
            (
                "the `file:` URL holds a `%` without two hex digits",
                "write `%25` for a `%` that is part of the name"
            )
        case .forbiddenEscape:
            ("the `file:` URL holds `%2F` or `%00`", "no name of a file has these in it")
        case .notText:
            ("the decoded `file:` URL is not valid UTF-8", "write the name's bytes as UTF-8 in %XX")
        case .badCharacter:
            ("the URL is too long or holds a character that URLs cannot have", "write it as %XX")
        }
    }
}

import Base

/// Reads `sbom` and `attestations` of an image.
struct AttachmentReader {
    let diagnostics: Diagnostics
    let directory: String
    let allowsHTTP: Bool

    private var images: ImageReader { ImageReader(diagnostics: diagnostics, directory: directory) }

    func attachments(_ reader: inout TableReader) -> [Attachment] {
        let bill = reader.value("sbom").flatMap(self.bill)
        let list = reader.list("attestations", of: "attestations")
        if let list, list.isEmpty {
            diagnostics.error(
                reader.place(of: "attestations"),
                "the list `attestations` is empty",
                hint: "leave it out, or add an attestation"
            )
        }
        let attachments = (bill.map { [$0] } ?? []) + (list ?? []).compactMap(attestation)
        var names: Set<String> = []
        for attachment in attachments where !names.insert(attachment.fileName).inserted {
            diagnostics.error(
                attachment.place,
                "the same attestation is named twice",
                hint: "remove one of them"
            )
        }
        return attachments
    }

    private func bill(_ node: SourceNode) -> Attachment? {
        guard case .map = node.value else {
            return images.readSource(node, allowsHTTP: allowsHTTP).map {
                Attachment(kind: .bill(nil), source: $0, place: node.place)
            }
        }
        var reader = TableReader(node, Grammar.sbom, diagnostics)
        let url = reader.value("url")
        let digest = reader.text("sha256").flatMap { SHA256Digest($0) }
        reader.finish()
        guard let source = url.flatMap({ images.readSource($0, allowsHTTP: allowsHTTP) }) else {
            return nil
        }
        return Attachment(kind: .bill(digest), source: source, place: node.place)
    }

    private func attestation(_ node: SourceNode) -> Attachment? {
        var reader = TableReader(node, Grammar.attestation, diagnostics)
        let url = reader.value("url")
        let key = reader.text("key").map { FileReference($0, relativeTo: directory) }
        reader.finish()
        guard let source = url.flatMap({ images.readSource($0, allowsHTTP: allowsHTTP) }) else {
            return nil
        }
        return Attachment(kind: .attestation(key: key), source: source, place: node.place)
    }
}

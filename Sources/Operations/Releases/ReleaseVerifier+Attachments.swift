import Base
import Commands
import Images
import Manifest

/// The documents beside an image: its bill of materials and attestations.
extension ReleaseVerifier {
    /// Verifies the documents beside all images; keys are stored only after all documents are
    /// verified.
    func judgeAttachments(
        _ verdicts: inout [TrustVerdict],
        _ accounts: [Account]
    ) async throws(TrustRefusal) {
        guard plan.images.contains(where: { !$0.attachments.isEmpty }) else { return }
        var book: AttesterBook<TrustPlace>?
        var attesters: Set<VerifyingKey> = []
        for (index, image) in plan.images.enumerated() {
            do throws(CommandError) {
                for attachment in image.attachments {
                    let key = try key(of: attachment, image)
                    if let key {
                        let known: AttesterBook<TrustPlace>
                        if let book { known = book } else { known = try self.book(accounts) }
                        book = known
                        try check(key, image, known)
                        attesters.insert(key)
                    }
                    verdicts[index].attached += try await judge(attachment, image, key)
                }
            } catch { throw TrustRefusal(image: image.name, error: error) }
        }
        do throws(TrustError) {
            for key in attesters {
                if let book, try !book.isKnown(key) { try book.keep(key) }
            }
        } catch {
            let refusal = CommandError(
                .cannotWrite,
                "the keys of attestations cannot be kept",
                because: [error.description]
            )
            throw TrustRefusal(image: nil, error: refusal)
        }
    }

    /// All keys are in one folder, which is locked once.
    private func book(_ accounts: [Account]) throws(CommandError) -> AttesterBook<TrustPlace> {
        for account in accounts {
            if case .key = account.owner { return AttesterBook(account.store) }
        }
        return AttesterBook(TrustStore(try supply.place(of: nil)))
    }

    private func check(
        _ key: VerifyingKey,
        _ image: PlannedImage,
        _ book: AttesterBook<TrustPlace>
    ) throws(CommandError) {
        do throws(TrustError) {
            if supply.bringsKeys { return }
            if try book.isKnown(key) { return }
        } catch {
            throw CommandError(
                .trust,
                "no attestation can be trusted",
                because: [error.description]
            )
        }
        throw CommandError(
            .trust,
            "the image \(image.name) is not trusted",
            because: [
                "this depot does not know the attestation key \(key.fingerprint): only the bundle "
                    + "names it"
            ],
            hint:
                "bring the key by a way you trust and say 'yardmaster trust add KEY', or verify a "
                + "bundle that is signed, with --key"
        )
    }

    /// A key that is named but cannot be read never means that no key is required.
    private func key(
        of attachment: Attachment,
        _ image: PlannedImage
    ) throws(CommandError) -> VerifyingKey? {
        guard case .attestation(let file?) = attachment.kind else { return nil }
        let text: [UInt8]
        do throws(TrustError) {
            text = try supply.key(file)
        } catch {
            throw CommandError(
                .inputMissing,
                "the attestation key of the image \(image.name) cannot be read",
                because: [error.description],
                hint: "it is named at \(attachment.place)"
            )
        }
        do throws(AttestationFault) {
            return try VerifyingKey(pem: text)
        } catch {
            throw CommandError(
                .configuration,
                "the attestation key of the image \(image.name) cannot be used",
                because: ["\(file.text.visible): \(error)"],
                hint: "it is named at \(attachment.place)"
            )
        }
    }

    private func judge(
        _ attachment: Attachment,
        _ image: PlannedImage,
        _ key: VerifyingKey?
    ) async throws(CommandError) -> [ImageProvenance.Document] {
        try await meaning(
            kept: supply.kept(attachment, of: image),
            holds: { _ in true },
            fetch: { () async throws(SourceError) in
                try await supply.bytes(of: attachment, of: image)
            },
            read: { (bytes) throws(CommandError) in
                try documents(attachment, image, key, bytes)
            },
            keep: { (bytes) throws(CommandError) in
                try supply.keep(bytes, as: attachment, of: image)
            },
            refusal: { kind, error in
                CommandError(
                    kind,
                    "\(attachment.words) of the image \(image.name) cannot be fetched",
                    because: ["\(attachment.source): \(error)"],
                    hint: "it is asked for at \(attachment.place)"
                )
            }
        )
    }

    /// The content of a file, after it was verified.
    private func documents(
        _ attachment: Attachment,
        _ image: PlannedImage,
        _ key: VerifyingKey?,
        _ bytes: [UInt8]
    ) throws(CommandError) -> [ImageProvenance.Document] {
        do throws(AttestationFault) {
            switch attachment.kind {
            case .bill(let digest):
                if let digest, digest != SHA256.digest(of: bytes) {
                    throw .otherBytes(expected: digest, found: SHA256.digest(of: bytes))
                }
                let bill = try BillOfMaterials(bytes)
                var title = "CycloneDX \(bill.specVersion)"
                if let subject = bill.subject { title += " of '\(subject.visible)'" }
                title += ", \(bill.components) components"
                return [
                    ImageProvenance.Document(
                        kind: .bill,
                        title: title,
                        signer: nil,
                        isPinned: digest != nil,
                        origin: attachment.source.description,
                        time: now
                    )
                ]
            case .attestation:
                let file = try AttestationFile(bytes)
                return try file.statements(about: image.digest, by: key).map { statement in
                    ImageProvenance.Document(
                        kind: .attestation,
                        title: statement.predicateType.visible
                            + (statement.builder.map { " of the builder \($0.visible)" } ?? ""),
                        signer: key?.fingerprint.description,
                        isPinned: false,
                        origin: attachment.source.description,
                        time: now
                    )
                }
            }
        } catch {
            throw CommandError(
                .trust,
                "\(attachment.words) of the image \(image.name) cannot be used",
                because: ["\(attachment.source): \(error)"],
                hint: "it is named at \(attachment.place); provide the right one there, or "
                    + "remove it from the manifest"
            )
        }
    }
}

extension Attachment {
    fileprivate var words: String {
        switch kind {
        case .bill: "the bill of materials"
        case .attestation: "an attestation"
        }
    }

    /// The largest size of its kind that is read.
    var limit: Int64 {
        switch kind {
        case .bill: BillOfMaterials.longest
        case .attestation: AttestationFile.longest
        }
    }
}

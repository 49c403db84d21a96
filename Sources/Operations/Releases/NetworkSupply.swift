package import Base
package import Commands
package import Images
package import Manifest

/// Verifies with documents from the state directory and from the network.
package struct NetworkSupply: TrustSupply {
    let state: String
    let downloads: any Downloads
    /// Whether kept documents are used first, as in a run at night after an evening's fetch.
    package var prefersKept = false

    init(state: String, downloads: any Downloads, prefersKept: Bool = false) {
        self.state = state
        self.downloads = downloads
        self.prefersKept = prefersKept
    }

    package var isOffline: Bool { false }
    /// A manifest of this machine decides whom to trust.
    package var bringsKeys: Bool { true }

    package func place(of repository: PlannedRepository?) throws(CommandError) -> TrustPlace {
        try Self.place(of: repository, state: state)
    }

    /// The folder of a repository in a state directory, which contains a root.
    static func place(
        of repository: PlannedRepository?,
        state: String
    ) throws(CommandError) -> TrustPlace {
        let parent = state + "/trust"
        let path = parent + "/" + (repository?.folder ?? "signatures")
        do throws(TrustError) {
            _ = try TrustFolder.shared(parent)
            let files = TrustPlace(files: try TrustFolder.held(path))
            guard let repository else { return files }
            let store = TrustStore(files)
            if try store.document(of: .root, limit: TrustLimits().root) == nil {
                let bytes = try TrustFolder.contents(
                    of: repository.root.path,
                    limit: TrustLimits().root
                )
                _ = try Updater<TrustPlace, AnyDocuments>.begin(with: bytes, in: files)
            }
            return files
        } catch {
            var kind = CommandError.Kind.trust
            if case .storage(let failure) = error {
                kind = failure.operation == .read ? .inputMissing : .cannotCreate
            }
            throw CommandError(
                kind,
                repository.map { "the repository \($0.name) cannot be trusted" }
                    ?? "signatures cannot be trusted",
                because: [error.description],
                hint: repository.map { "its root is named at \($0.place)" }
            )
        }
    }

    package func documents(of repository: PlannedRepository) -> AnyDocuments {
        AnyDocuments(source: WebDocuments(repository.metadata, downloads))
    }

    package func key(_ file: FileReference) throws(TrustError) -> [UInt8] {
        try TrustFolder.contents(of: file.path, limit: 4_096)
    }

    package func keptSignature(of image: PlannedImage, by key: MinisignKey) -> [UInt8]? {
        KeptSignatures(state: state).signature(of: image, by: key)
    }

    package func keep(
        signature: [UInt8],
        of image: PlannedImage,
        by key: MinisignKey
    ) throws(CommandError) {
        try KeptSignatures(state: state).keep(signature, of: image, by: key)
    }

    package func bytes(
        of attachment: Attachment,
        of image: PlannedImage
    ) async throws(SourceError) -> [UInt8] {
        try await WebDocuments.document(
            at: attachment.source,
            limit: attachment.limit,
            downloads
        )
    }

    package func kept(_ attachment: Attachment, of image: PlannedImage) -> [UInt8]? {
        KeptAttachments(state: state).bytes(of: attachment, of: image)
    }

    package func keep(
        _ bytes: [UInt8],
        as attachment: Attachment,
        of image: PlannedImage
    ) throws(CommandError) {
        try KeptAttachments(state: state).keep(bytes, as: attachment, of: image)
    }

    package func signature(
        of image: PlannedImage,
        at source: ImageSource
    ) async throws(SourceError) -> [UInt8] {
        try await WebDocuments.document(
            at: source,
            limit: MinisignSignature.longest,
            downloads
        )
    }
}

/// Verified signatures, kept in the store beside the images that they cover.
struct KeptSignatures {
    private let companions: ImageCompanions

    init(state: String) { companions = ImageCompanions(StoreFolder(stateDirectory: state)) }

    private static func name(_ key: MinisignKey) -> String {
        Hex.text(key.encoded) + ".minisig"
    }

    func signature(of image: PlannedImage, by key: MinisignKey) -> [UInt8]? {
        companions.read(Self.name(key), of: image.digest, limit: MinisignSignature.longest)
    }

    func keep(
        _ signature: [UInt8],
        of image: PlannedImage,
        by key: MinisignKey
    ) throws(CommandError) {
        do throws(ImageError) {
            try companions.keep(signature, as: Self.name(key), of: image.digest)
        } catch { throw FetchFailure.refusal(ofStore: error) }
    }
}

/// Verified documents, kept in the store beside the images that they concern.
struct KeptAttachments {
    private let companions: ImageCompanions

    init(state: String) { companions = ImageCompanions(StoreFolder(stateDirectory: state)) }

    func bytes(of attachment: Attachment, of image: PlannedImage) -> [UInt8]? {
        companions.read(attachment.fileName, of: image.digest, limit: attachment.limit)
    }

    func keep(
        _ bytes: [UInt8],
        as attachment: Attachment,
        of image: PlannedImage
    ) throws(CommandError) {
        do throws(ImageError) {
            try companions.keep(bytes, as: attachment.fileName, of: image.digest)
        } catch { throw FetchFailure.refusal(ofStore: error) }
    }
}

import Commands
import Domain
import Images
import Manifest
import Trust

/// Judges by what the state directory keeps and the network gives.
struct NetworkSupply: TrustSupply {
    let state: String
    let downloads: any Downloads

    var isOffline: Bool { false }

    func place(of repository: PlannedRepository?) throws(CommandError) -> TrustPlace {
        try Self.place(of: repository, state: state)
    }

    /// The folder of a repository in a state directory, with a root in it.
    static func place(
        of repository: PlannedRepository?,
        state: String
    ) throws(CommandError) -> TrustPlace {
        let parent = state + "/trust"
        // Its own, so that no repository's name can be another's.
        let path = parent + (repository.map { "/repository-\($0.name)" } ?? "/signatures")
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

    func documents(of repository: PlannedRepository) -> AnyDocuments {
        AnyDocuments(source: WebDocuments(repository.metadata, downloads))
    }

    func key(_ file: FileReference) throws(TrustError) -> [UInt8] {
        try TrustFolder.contents(of: file.path, limit: 4_096)
    }

    func signature(
        of image: PlannedImage,
        at source: Manifest.ImageSource
    ) async throws(SourceError) -> [UInt8] {
        try await WebDocuments.document(
            at: source,
            limit: MinisignSignature.longest,
            downloads
        )
    }
}

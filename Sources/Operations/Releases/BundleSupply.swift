import Base
import Commands
import Images
import Manifest
import Synchronization

/// Verifies with the content of a bundle and with what this depot trusts.
struct BundleSupply: TrustSupply {
    let bundle: BundleFile
    let state: String
    /// Whether verified documents are kept; nothing is kept when a bundle is only checked.
    let keeps: Bool

    var isOffline: Bool { true }
    /// A key that only a bundle names does not count, unless the whole bundle is signed.
    var bringsKeys: Bool { !bundle.signers.isEmpty }
    var prefersKept: Bool { false }

    /// A bundle contains its own signatures, so no kept one is used.
    func keptSignature(of image: PlannedImage, by key: MinisignKey) -> [UInt8]? { nil }

    func keep(
        signature: [UInt8],
        of image: PlannedImage,
        by key: MinisignKey
    ) throws(CommandError) {
        guard keeps else { return }
        try KeptSignatures(state: state).keep(signature, of: image, by: key)
    }

    func bytes(
        of attachment: Attachment,
        of image: PlannedImage
    ) async throws(SourceError) -> [UInt8] {
        try await BundleDocuments(bundle: bundle, folder: "attachments/\(image.name)")
            .fetch(attachment.fileName, limit: attachment.limit)
    }

    func kept(_ attachment: Attachment, of image: PlannedImage) -> [UInt8]? { nil }

    func keep(
        _ bytes: [UInt8],
        as attachment: Attachment,
        of image: PlannedImage
    ) throws(CommandError) {
        guard keeps else { return }
        try KeptAttachments(state: state).keep(bytes, as: attachment, of: image)
    }

    /// Uses only what this depot trusted before: a bundle cannot vouch for itself.
    func place(of repository: PlannedRepository?) throws(CommandError) -> TrustPlace {
        let path = state + "/trust/" + (repository?.folder ?? "signatures")
        do throws(StorageError) {
            if keeps, repository == nil { _ = try TrustFolder(state + "/trust", isHeld: false) }
            if keeps {
                let files = try TrustFolder(path)
                return TrustPlace(files: files)
            }
            guard TrustFolder.exists(path) else { return TrustPlace(files: MemoryFiles()) }
            let files = try TrustFolder(path, isHeld: false)
            return TrustPlace(
                files: try MemoryFiles(copying: files, limit: TrustLimits().listed)
            )
        } catch {
            throw CommandError(
                keeps ? .cannotCreate : .trust,
                "this depot trusts no \(repository.map { "repository \($0.name)" } ?? "signatures")",
                because: [error.description],
                hint: "begin with 'yardmaster trust --metadata-dir \(path) init ROOT'"
            )
        }
    }

    func documents(of repository: PlannedRepository) -> AnyDocuments {
        AnyDocuments(source: BundleDocuments(bundle: bundle, folder: "metadata/\(repository.name)"))
    }

    func key(_ file: FileReference) throws(TrustError) -> [UInt8] {
        do throws(BundleFault) {
            guard let path = BundlePath(file.path) else { throw BundleFault.badName(file.path) }
            return try bundle.bytes(of: path.part)
        } catch {
            throw .source(file.text, .unreachable(error.description))
        }
    }

    func signature(
        of image: PlannedImage,
        at source: ImageSource
    ) async throws(SourceError) -> [UInt8] {
        try await BundleDocuments(bundle: bundle, folder: "signatures")
            .fetch(image.name, limit: MinisignSignature.longest)
    }
}

/// The documents of a repository in a bundle.
struct BundleDocuments: MetadataSource {
    let bundle: BundleFile
    let folder: String

    func fetch(_ path: String, limit: Int64) async throws(SourceError) -> [UInt8] {
        do throws(BundleFault) {
            guard let bytes = try bundle.part("\(folder)/\(path)") else { throw .noMember(path) }
            guard Int64(bytes.count) <= limit else { throw .tooLarge(path) }
            return bytes
        } catch {
            switch error {
            case .noMember: throw .notThere
            case .tooLarge: throw .tooLong(limit: limit)
            case .noBundle, .badIndex, .badName, .wrongLength, .wrongMember, .unknownPart, .clash,
                .hidden, .badProfile, .wrongSize:
                throw .unreachable(error.description)
            }
        }
    }
}

/// Verifies like `NetworkSupply`, and records the documents that were used.
struct RecordingSupply: TrustSupply {
    let network: NetworkSupply
    let record = Record()

    init(network: NetworkSupply) {
        self.network = network
    }

    final class Record: Sendable {
        private let parts = Mutex<[String: [UInt8]]>([:])

        func keep(_ name: String, _ bytes: [UInt8]) { parts.withLock { $0[name] = bytes } }

        var all: [(name: String, bytes: [UInt8])] {
            parts.withLock { parts in
                parts.sorted { $0.key < $1.key }.map { (name: $0.key, bytes: $0.value) }
            }
        }
    }

    var isOffline: Bool { false }
    var bringsKeys: Bool { true }
    var prefersKept: Bool { false }

    func keptSignature(of image: PlannedImage, by key: MinisignKey) -> [UInt8]? {
        guard let bytes = network.keptSignature(of: image, by: key) else { return nil }
        record.keep("signatures/\(image.name)", bytes)
        return bytes
    }

    func keep(signature: [UInt8], of image: PlannedImage, by key: MinisignKey) {
        record.keep("signatures/\(image.name)", signature)
    }

    func bytes(
        of attachment: Attachment,
        of image: PlannedImage
    ) async throws(SourceError) -> [UInt8] {
        try await network.bytes(of: attachment, of: image)
    }

    func kept(_ attachment: Attachment, of image: PlannedImage) -> [UInt8]? {
        guard let bytes = network.kept(attachment, of: image) else { return nil }
        record.keep(attachment.part(of: image), bytes)
        return bytes
    }

    func keep(_ bytes: [UInt8], as attachment: Attachment, of image: PlannedImage) {
        record.keep(attachment.part(of: image), bytes)
    }

    /// Contains only root, so that all other documents are fetched.
    func place(of repository: PlannedRepository?) throws(CommandError) -> TrustPlace {
        guard let repository else { return TrustPlace(files: MemoryFiles()) }
        let files = try network.place(of: repository)
        do throws(StorageError) {
            let root = try files.read("root.json", limit: TrustLimits().root)
            return TrustPlace(files: MemoryFiles(root.map { ["root.json": $0] } ?? [:]))
        } catch { throw CommandError(.cannotCreate, error.description) }
    }

    func documents(of repository: PlannedRepository) -> AnyDocuments {
        AnyDocuments(
            source: Recorder(
                documents: network.documents(of: repository),
                folder: "metadata/\(repository.name)",
                record: record
            )
        )
    }

    func key(_ file: FileReference) throws(TrustError) -> [UInt8] { try network.key(file) }

    func signature(
        of image: PlannedImage,
        at source: ImageSource
    ) async throws(SourceError) -> [UInt8] {
        try await network.signature(of: image, at: source)
    }

    /// Records the roots before the one trusted here: another depot may only know an older one.
    func recordRoots(of repository: PlannedRepository, upTo version: Int64) async {
        let documents = documents(of: repository)
        guard version >= 1 else { return }
        for number in 1...version {
            _ = try? await documents.fetch("\(number).root.json", limit: TrustLimits().root)
        }
    }

    private struct Recorder: MetadataSource {
        let documents: AnyDocuments
        let folder: String
        let record: Record

        func fetch(_ path: String, limit: Int64) async throws(SourceError) -> [UInt8] {
            let bytes = try await documents.fetch(path, limit: limit)
            record.keep("\(folder)/\(path)", bytes)
            return bytes
        }
    }
}

extension Attachment {
    /// The name of the bundle's part with this document.
    fileprivate func part(of image: PlannedImage) -> String {
        "attachments/\(image.name)/\(fileName)"
    }
}

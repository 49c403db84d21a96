package import Commands
package import Manifest
package import Trust

extension PlannedRepository {
    /// Its folder among the trusted documents: its own, so that no repository's name can be another's.
    package var folder: String { Self.folder(of: name) }

    package static func folder(of name: String) -> String { "repository-\(name)" }
}

/// A place of trusted documents, on a disk or in memory.
package struct TrustPlace: TrustFiles {
    package let files: any TrustFiles

    package init(files: any TrustFiles) {
        self.files = files
    }

    package func read(_ name: String, limit: Int64) throws(StorageError) -> [UInt8]? {
        try files.read(name, limit: limit)
    }

    package func write(_ name: String, _ bytes: [UInt8]) throws(StorageError) {
        try files.write(name, bytes)
    }

    package func sync(_ name: String) throws(StorageError) { try files.sync(name) }

    package func rename(_ name: String, to other: String) throws(StorageError) {
        try files.rename(name, to: other)
    }

    package func remove(_ name: String) throws(StorageError) { try files.remove(name) }

    package func syncFolder() throws(StorageError) { try files.syncFolder() }

    package func names() throws(StorageError) -> [String] { try files.names() }
}

/// Documents of a repository, wherever they come from.
package struct AnyDocuments: MetadataSource {
    package let source: any MetadataSource

    package func fetch(_ path: String, limit: Int64) async throws(SourceError) -> [UInt8] {
        try await source.fetch(path, limit: limit)
    }
}

/// What an image is judged by: kept documents, new ones, and the image itself.
package protocol TrustSupply {
    /// Documents that were verified before, and where new ones are kept.
    ///
    /// `repository` is nil for what belongs to signatures by single keys.
    func place(of repository: PlannedRepository?) throws(CommandError) -> TrustPlace

    func documents(of repository: PlannedRepository) -> AnyDocuments

    /// The detached signature of an image.
    func signature(of image: PlannedImage, at source: ImageSource) async throws(SourceError)
        -> [UInt8]

    /// A public key that the manifest names by its file.
    func key(_ file: FileReference) throws(TrustError) -> [UInt8]

    /// Whether documents that expired are taken within their grace.
    var isOffline: Bool { get }

    /// Whether a key counts that this depot did not know before.
    var bringsKeys: Bool { get }

    /// Whether a signature that is kept is used before another is asked for.
    var prefersKept: Bool { get }

    /// A signature that was right before and was kept with its image.
    func keptSignature(of image: PlannedImage, by key: MinisignKey) -> [UInt8]?

    /// Keeps a signature that is right with its image.
    func keep(
        signature: [UInt8],
        of image: PlannedImage,
        by key: MinisignKey
    ) throws(CommandError)

    /// A document beside an image.
    func bytes(of attachment: Attachment, of image: PlannedImage) async throws(SourceError)
        -> [UInt8]

    /// The same as it was kept with its image.
    func kept(_ attachment: Attachment, of image: PlannedImage) -> [UInt8]?

    func keep(
        _ bytes: [UInt8],
        as attachment: Attachment,
        of image: PlannedImage
    ) throws(CommandError)
}

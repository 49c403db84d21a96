package import Base
package import Commands
package import Images
package import Manifest

extension PlannedRepository {
    /// Its folder among the trusted documents, with a prefix, so that no name of a repository
    /// conflicts with another folder.
    var folder: String { Self.folder(of: name) }

    static func folder(of name: String) -> String { "repository-\(name)" }
}

/// A place for trusted documents, on disk or in memory.
package struct TrustPlace: TrustFiles {
    let files: any TrustFiles

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

/// Documents of a repository, from any source.
package struct AnyDocuments: MetadataSource {
    let source: any MetadataSource

    package func fetch(_ path: String, limit: Int64) async throws(SourceError) -> [UInt8] {
        try await source.fetch(path, limit: limit)
    }
}

/// The inputs for verifying an image: kept documents, new ones, and the image itself.
package protocol TrustSupply {
    /// The place of documents that were verified before, where new ones are stored, too.
    ///
    /// `repository` is nil for the documents of single keys.
    func place(of repository: PlannedRepository?) throws(CommandError) -> TrustPlace

    func documents(of repository: PlannedRepository) -> AnyDocuments

    /// The detached signature of an image.
    func signature(of image: PlannedImage, at source: ImageSource) async throws(SourceError)
        -> [UInt8]

    /// A public key in a file that the manifest names.
    func key(_ file: FileReference) throws(TrustError) -> [UInt8]

    /// Whether expired documents are accepted within their grace period.
    var isOffline: Bool { get }

    /// Whether a key counts that this depot did not know before.
    var bringsKeys: Bool { get }

    /// Whether a kept signature is used before another one is fetched.
    var prefersKept: Bool { get }

    /// A signature that was verified before and kept with its image.
    func keptSignature(of image: PlannedImage, by key: MinisignKey) -> [UInt8]?

    /// Keeps a verified signature with its image.
    func keep(
        signature: [UInt8],
        of image: PlannedImage,
        by key: MinisignKey
    ) throws(CommandError)

    /// A document beside an image.
    func bytes(of attachment: Attachment, of image: PlannedImage) async throws(SourceError)
        -> [UInt8]

    /// The copy of the document that was kept with its image.
    func kept(_ attachment: Attachment, of image: PlannedImage) -> [UInt8]?

    func keep(
        _ bytes: [UInt8],
        as attachment: Attachment,
        of image: PlannedImage
    ) throws(CommandError)
}

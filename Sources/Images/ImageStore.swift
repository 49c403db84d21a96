package import Domain

/// What is asked of the store: an image by the digest that the manifest promises.
package struct ImageRequest: Sendable {
    /// No image for a module comes near: it bounds memory and disk when nobody tells the size.
    package static let largestUnsized = ByteCount(count: 64 << 20)
    /// What can be asked for at all.
    package static let largest = ByteCount(count: 1 << 30)

    package let name: String
    package let digest: SHA256Digest
    package let size: ByteCount?
    package let limit: ByteCount

    /// Nil when the size asked for is beyond the limit, or the limit beyond 1 GiB.
    package init?(name: String, digest: SHA256Digest, size: ByteCount?, limit: ByteCount? = nil) {
        let limit = limit ?? size ?? Self.largestUnsized
        guard limit <= Self.largest, size.map({ $0 <= limit }) ?? true else { return nil }
        self.name = name
        self.digest = digest
        self.size = size
        self.limit = limit
    }
}

/// Verified images by their digest, in the state directory's `images/sha256/ab/<hex>`.
///
/// A file gets its name only when it is whole, verified and on disk. Several processes may share a
/// store: anyone who comes second waits for the first one's copy. Its calls block, so outside a
/// simulation the executor is a thread of its own.
package actor ImageStore {
    private let executor: any SerialExecutor
    private let folder: StoreFolder

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// The store in an existing state directory; folders are made when the first image comes.
    package init(
        stateDirectory: String,
        executor: any SerialExecutor,
        files: any FileLayer = SystemFiles()
    ) {
        folder = StoreFolder(stateDirectory: stateDirectory, files: files)
        self.executor = executor
    }

    /// The image asked for, from the store if it has it, otherwise from `source`.
    ///
    /// Either way its digest was computed in this call. What does not match leaves nothing behind.
    package func acquire(
        _ request: ImageRequest,
        from source: some ImageReading
    ) throws(ImageError) -> StoredImage {
        let path = folder.path(of: request.digest)
        if let image = try StoredImage.verified(request, at: path) { return image }
        try folder.prepare(for: request.digest)
        let part = try Part(waitingFor: request.digest, in: folder)
        // Somebody else may have brought it while we waited for the lock.
        if let image = try StoredImage.verified(request, at: path) { return image }
        try part.restart()
        var sink = ImageSink(part: part, expectedSize: request.size, limit: request.limit)
        try source.deliver(to: &sink)
        let size = try sink.finish(expecting: request.digest)
        return StoredImage(
            name: request.name,
            digest: request.digest,
            size: size,
            path: try part.publish()
        )
    }
}

package import Base

/// A request to the store: an image with the digest that the manifest promises.
package struct ImageRequest: Sendable {
    /// Far larger than any image for a module: it bounds memory and disk when the size is unknown.
    static let largestUnsized = ByteCount(count: 64 << 20)
    /// The largest size that can be requested.
    package static let largest = ByteCount(count: 1 << 30)

    let name: String
    package let digest: SHA256Digest
    let size: ByteCount?
    let limit: ByteCount

    /// Nil when the size is larger than the limit, or the limit larger than 1 GiB.
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
/// A file gets its name only when it is complete, verified and on disk. Several processes may share
/// a store: the second one waits for the first one's copy. Its calls block, so outside a simulation
/// the executor has a thread of its own.
package actor ImageStore {
    private let executor: any SerialExecutor
    private let folder: StoreFolder

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// The store in an existing state directory; folders are created with the first image.
    package init(
        stateDirectory: String,
        executor: any SerialExecutor,
        files: any FileLayer = SystemFiles()
    ) {
        folder = StoreFolder(stateDirectory: stateDirectory, files: files)
        self.executor = executor
    }

    /// The requested image, from the store if it has it, otherwise from `source`.
    ///
    /// In both cases its digest was computed in this call. When it does not match, nothing is kept.
    package func acquire(
        _ request: ImageRequest,
        from source: some ImageReading
    ) throws(ImageError) -> StoredImage {
        let path = folder.path(of: request.digest)
        if let image = try StoredImage.verified(request, at: path) { return image }
        try folder.prepare(for: request.digest)
        let part = try Part(waitingFor: request.digest, in: folder)
        // Another process may have stored it while we waited for the lock.
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

package import Base

/// The source of documents and images: the network in production, a substitute in tests.
///
/// Nothing is trusted because of its origin. The request contains what an image must be; the caller
/// verifies documents.
package protocol Downloads: Sendable {
    /// Downloads a small document into memory.
    ///
    /// Tries again only after errors that may pass (`DownloadError.mayPass`), follows no redirect,
    /// and ends at the first byte after `limit` with `tooLong`, whether or not a length was
    /// announced. `deadline` covers everything: connecting, waiting, further attempts. A server's
    /// answer other than 200 is `status`; `DownloadError.isAbsence` contains those that mean "it
    /// does not exist". A missing `file` is `noFile`, which is an absence, too.
    func document(
        at origin: Origin,
        limit: ByteCount,
        within deadline: Duration
    ) async throws(DownloadError) -> [UInt8]

    /// Brings an image into the store: the store's own copy if there is one, else from the first
    /// origin that delivers it.
    ///
    /// The bytes were hashed in this call and are what `request` demands: when the digest does not
    /// match, nothing is kept. When a transfer was cut, the bytes that arrived are kept for the
    /// next call. Ends early with `cancelled` when the task is cancelled.
    func image(
        _ request: ImageRequest,
        from origins: [Origin],
        progress: @escaping @Sendable (FetchProgress) -> Void
    ) async throws(FetchError) -> StoredImage
}

/// The events while one image is fetched.
package enum FetchProgress: Sendable, Equatable {
    /// The store already has it.
    case present(ByteCount)
    /// Another process is fetching it; nil when the system does not report which.
    case waitingFor(process: Int?)
    /// Bytes are being requested: `from` are already here, `total` is nil until it is known.
    case started(Origin, from: ByteCount, total: ByteCount?)
    /// This many bytes are here now, including those of earlier runs.
    case received(ByteCount, of: ByteCount?)
    /// Another attempt follows after this time, because of this error.
    case retry(Origin, after: Duration, because: DownloadError)
    /// This origin is given up, because of this error.
    case abandoned(Origin, because: OriginError)
    /// The image is verified and in the store.
    case stored(ByteCount)
}

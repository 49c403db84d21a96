package import Domain

/// Where documents and images come from: the network in production, whatever a test likes.
///
/// Nothing that comes through here is trusted because of where it came from. What an image must be
/// is said by the request; a document is for the caller to verify.
package protocol Downloads: Sendable {
    /// A small document, whole and in memory.
    ///
    /// Asks once more only for what may pass (`DownloadError.mayPass`), follows no redirect, and
    /// ends at the first byte beyond `limit` with `tooLong`, whether or not a length was announced.
    /// `deadline` covers all of it: connecting, waiting, trying again. A server's answer other than
    /// 200 is `status`; `DownloadError.isAbsence` tells those that mean "there is none". A `file`
    /// that is not there is `noFile`, which is an absence as well.
    func document(
        at origin: Origin,
        limit: ByteCount,
        within deadline: Duration
    ) async throws(DownloadError) -> [UInt8]

    /// An image in the store, from there if it has it, else from the first origin that gives it.
    ///
    /// The bytes were hashed in this call and are what `request` says: a digest that does not
    /// match leaves nothing behind. What arrived of an image is kept for the next call when the
    /// transfer was cut. Ends early with `cancelled` when the task is cancelled.
    func image(
        _ request: ImageRequest,
        from origins: [Origin],
        progress: @escaping @Sendable (FetchProgress) -> Void
    ) async throws(FetchError) -> StoredImage
}

/// What happens to one image while it is brought here.
package enum FetchProgress: Sendable, Equatable {
    /// The store has it already.
    case present(ByteCount)
    /// Another process is at work on it; nil when the system does not tell which.
    case waitingFor(process: Int?)
    /// Bytes are being asked for; `from` are here already, `total` is nil until it is known.
    case started(Origin, from: ByteCount, total: ByteCount?)
    /// So many bytes are here now, those of earlier runs included.
    case received(ByteCount, of: ByteCount?)
    /// It is tried again after this long, because of that.
    case retry(Origin, after: Duration, because: DownloadError)
    /// This origin is given up, because of that.
    case abandoned(Origin, because: OriginError)
    /// Verified and in the store.
    case stored(ByteCount)
}

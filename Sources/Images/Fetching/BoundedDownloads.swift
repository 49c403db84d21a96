package import Base

/// Downloads with one deadline for all documents together.
///
/// A repository may have any number of documents. With a deadline for each, a server that sends
/// very slowly could block a command for hours.
package struct BoundedDownloads: Downloads {
    private let downloads: any Downloads
    private let time: any Timekeeper
    private let end: Moment

    package init(_ downloads: any Downloads, within patience: Duration, time: any Timekeeper) {
        self.downloads = downloads
        self.time = time
        end = time.now.advanced(by: patience)
    }

    package func document(
        at origin: Origin,
        limit: ByteCount,
        within deadline: Duration
    ) async throws(DownloadError) -> [UInt8] {
        let left = time.now.duration(to: end)
        if case .web = origin, left <= .zero {
            throw .tooSlow("the documents before it used up the time for all of them")
        }
        return try await downloads.document(
            at: origin,
            limit: limit,
            within: min(deadline, max(left, .milliseconds(1)))
        )
    }

    package func image(
        _ request: ImageRequest,
        from origins: [Origin],
        progress: @escaping @Sendable (FetchProgress) -> Void
    ) async throws(FetchError) -> StoredImage {
        try await downloads.image(request, from: origins, progress: progress)
    }
}

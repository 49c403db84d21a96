import Base

/// Takes a small image's bytes directly into its part, on the loop's thread.
///
/// They are hashed while they are in the cache of the processor that received them, and written in
/// chunks: an image of one chunk needs one write, and no change of threads before it is complete.
final class PartTaker: ResponseTaker {
    /// A longer write counts as a delay of ours, not of the server.
    private static let longestWrite = Duration.milliseconds(500)
    /// How long bytes are held back to be written together with others.
    static let longestWait = Duration.seconds(1)

    // Only the loop's thread uses it, from the beginning of the exchange to its end.
    private nonisolated(unsafe) let fetch: ImageFetch
    // As above; after the exchange the store uses it.
    nonisolated(unsafe) private(set) var fault: ImageError?
    // As above.
    private nonisolated(unsafe) var watch: RateWatch
    // As above, until it is written.
    private nonisolated(unsafe) var chunk: Chunk?
    // As above: the time when the first byte of the chunk arrived.
    private nonisolated(unsafe) var began = Moment(nanoseconds: 0)
    private let shelf: ChunkShelf
    private let expectation: Expectation
    private let address: WebAddress
    private let settings: FetchSettings
    private let time: any Timekeeper

    init(
        _ fetch: ImageFetch,
        _ expectation: Expectation,
        _ address: WebAddress,
        _ settings: FetchSettings,
        _ time: any Timekeeper,
        _ shelf: ChunkShelf
    ) {
        self.fetch = fetch
        self.expectation = expectation
        self.address = address
        self.settings = settings
        self.time = time
        self.shelf = shelf
        watch = RateWatch(settings)
    }

    func begin(_ head: ResponseHead) -> DownloadError? {
        switch expectation.start(of: head) {
        case .failure(let error): return error
        case .success(let start):
            do throws(ImageError) {
                try fetch.begin(head, at: start, from: address, settings)
                return nil
            } catch { return refusal(error) }
        }
    }

    func take(_ bytes: UnsafeRawBufferPointer) -> Taking {
        let now = time.now
        guard watch.take(bytes.count, at: now) else {
            return .refused(.tooSlow(settings.rateRule))
        }
        guard bytes.count <= expectation.limit.bytes - fetch.part.hashed else {
            return .refused(.tooLong(limit: expectation.limit))
        }
        fetch.part.hash(bytes)
        var rest = bytes
        while !rest.isEmpty {
            let chunk = self.chunk ?? Chunk(from: shelf)
            if self.chunk == nil { began = now }
            self.chunk = chunk
            let taken = chunk.fill(from: rest)
            rest = UnsafeRawBufferPointer(rebasing: rest[taken...])
            if chunk.isFull, let error = write() { return .refused(error) }
        }
        if began.duration(to: now) >= Self.longestWait, let error = write() {
            return .refused(error)
        }
        return .taken
    }

    private func write() -> DownloadError? {
        guard let chunk, fault == nil else { return nil }
        self.chunk = nil
        let began = time.now
        do throws(ImageError) { try fetch.write(chunk.bytes) } catch { return refusal(error) }
        if began.duration(to: time.now) >= Self.longestWrite { watch.pause() }
        return nil
    }

    /// Keeps the store's error; the transfer itself ends as cancelled.
    private func refusal(_ error: ImageError) -> DownloadError {
        fault = error
        return .cancelled
    }

    func flush() {}

    /// The bytes that arrived are kept, even after an error.
    func end() { _ = write() }
}

import Base
import Synchronization

/// A piece of the answer for an image.
enum Piece: Sendable {
    /// The following bytes belong at this offset in the file.
    case begin(ResponseHead, at: Int)
    case bytes(Chunk)
}

/// Takes an image's bytes on the loop's thread and passes them on, at most a few MiB ahead.
final class PieceTaker: ResponseTaker {
    /// How far the network may be ahead of the disk.
    static let window = 2 << 20

    let pieces: AsyncStream<Piece>
    private let sender: AsyncStream<Piece>.Continuation
    private let exchange: Exchange
    private let expectation: Expectation
    /// Bytes that were passed on and are not handled yet.
    private let ahead = Atomic(0)
    private let isWaiting = Atomic(false)
    /// Whether bytes wait in the chunk that is being filled.
    private let hasRest = Atomic(false)
    private let shelf: ChunkShelf
    // All of these are used by the loop's thread only.
    private nonisolated(unsafe) var chunk: Chunk?
    // As above.
    private nonisolated(unsafe) var count = 0
    // As above.
    private nonisolated(unsafe) var watch: RateWatch
    // As above; after the exchange the store uses them.
    private nonisolated(unsafe) var late: [Chunk] = []
    private let settings: FetchSettings
    private let time: any Timekeeper

    init(
        _ exchange: Exchange,
        _ expectation: Expectation,
        _ settings: FetchSettings,
        _ time: any Timekeeper,
        _ shelf: ChunkShelf
    ) {
        self.exchange = exchange
        self.expectation = expectation
        self.settings = settings
        self.time = time
        self.shelf = shelf
        watch = RateWatch(settings)
        (pieces, sender) = AsyncStream.makeStream(bufferingPolicy: .unbounded)
    }

    func begin(_ head: ResponseHead) -> DownloadError? {
        switch expectation.start(of: head) {
        case .failure(let error): return error
        case .success(let start):
            count = start
            sender.yield(.begin(head, at: start))
            return nil
        }
    }

    func take(_ bytes: UnsafeRawBufferPointer) -> Taking {
        guard hasRoom() else {
            watch.pause()
            return .later
        }
        guard watch.take(bytes.count, at: time.now) else {
            return .refused(.tooSlow(settings.rateRule))
        }
        let (end, overflow) = count.addingReportingOverflow(bytes.count)
        guard !overflow, end <= expectation.limit.bytes else {
            return .refused(.tooLong(limit: expectation.limit))
        }
        count = end
        var rest = bytes
        while !rest.isEmpty {
            let chunk = self.chunk ?? Chunk(from: shelf)
            self.chunk = chunk
            let taken = chunk.fill(from: rest)
            rest = UnsafeRawBufferPointer(rebasing: rest[taken...])
            if chunk.isFull { send() }
        }
        flush()
        return .taken
    }

    func end() {
        send()
        sender.finish()
    }

    /// Passes on held-back bytes when the disk has nothing to do; on the loop's thread.
    func flush() {
        guard chunk != nil else { return }
        hasRest.store(true, ordering: .sequentiallyConsistent)
        // The disk may have become idle before it could see that there are more bytes.
        if ahead.load(ordering: .sequentiallyConsistent) == 0 { send() }
    }

    /// Called by the disk's side after the exchange: the chunks that arrived after the last piece
    /// was taken.
    var leftOver: [Chunk] { late }

    /// Called by the disk's side: this many bytes are handled.
    func done(_ count: Int) {
        let (_, left) = ahead.subtract(count, ordering: .sequentiallyConsistent)
        if isWaiting.exchange(false, ordering: .sequentiallyConsistent) { exchange.goOn() }
        if left == 0, hasRest.load(ordering: .sequentiallyConsistent) { exchange.flush() }
    }

    private func hasRoom() -> Bool {
        guard ahead.load(ordering: .sequentiallyConsistent) >= Self.window else { return true }
        isWaiting.store(true, ordering: .sequentiallyConsistent)
        // The disk may have caught up before it could see that we wait.
        guard ahead.load(ordering: .sequentiallyConsistent) < Self.window else { return false }
        isWaiting.store(false, ordering: .sequentiallyConsistent)
        return true
    }

    private func send() {
        hasRest.store(false, ordering: .sequentiallyConsistent)
        guard let chunk else { return }
        ahead.add(chunk.count, ordering: .sequentiallyConsistent)
        if case .terminated = sender.yield(.bytes(chunk)) { late.append(chunk) }
        self.chunk = nil
    }
}

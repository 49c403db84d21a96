package import Base

/// Fetches documents and images: the `Downloads` of production.
///
/// Its executor is a thread that may block: it hashes and writes images while libcurl receives on a
/// thread of its own. That thread starts, and the library is loaded, when the first web address is
/// requested.
package actor ImageFetcher: Downloads {
    private let executor: any SerialExecutor
    let store: StoreFolder
    let settings: FetchSettings
    let time: any Timekeeper
    let shelf = ChunkShelf()
    private var chance: SplitMix64
    private var loop: CurlLoop?
    private var publishers: Publishers?
    private var published = 0
    /// The number of images that are being received, and the tasks that wait until fewer are.
    private var receiving = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    package init(
        into store: StoreFolder,
        settings: FetchSettings,
        time: any Timekeeper,
        seed: UInt64,
        executor: any SerialExecutor
    ) {
        self.store = store
        self.settings = settings
        self.time = time
        self.executor = executor
        chance = SplitMix64(seed: seed)
    }

    /// Ends the current transfers and libcurl's thread; to be called once, as the last call.
    package func stop() {
        loop?.stop()
        loop = nil
        publishers?.stop()
        publishers = nil
    }

    /// Waits until fewer images are being received than the limit.
    func enter() async {
        guard receiving >= settings.connections else {
            receiving += 1
            return
        }
        // A task that leaves passes its place on: `receiving` does not change.
        await withCheckedContinuation { waiting.append($0) }
    }

    func leave() {
        guard !waiting.isEmpty else {
            receiving -= 1
            return
        }
        waiting.removeFirst().resume()
    }

    /// Puts a complete part on disk, on another thread if one is available.
    func publish(_ part: Part) async throws(ImageError) -> String {
        guard let publishers = try? self.publishers ?? Publishers() else {
            return try part.publish()
        }
        self.publishers = publishers
        published += 1
        let path = try await publishers.perform(part.publication, turn: published).get()
        part.settle()
        return path
    }

    package func document(
        at origin: Origin,
        limit: ByteCount,
        within deadline: Duration
    ) async throws(DownloadError) -> [UInt8] {
        let end = time.now.advanced(by: deadline)
        switch origin {
        case .file(let path): return try Self.document(in: path, limit: limit)
        case .web(let address):
            var backoff = Backoff(settings)
            while true {
                let taker = DocumentTaker(limit: limit)
                let request = ExchangeRequest(
                    address: address,
                    deadline: time.now.duration(to: end),
                    askedAt: time.wallTime,
                    settings: settings
                )
                let answer = try await exchange().run(request, into: taker)
                guard case .failure(let error) = answer else { return taker.document }
                try await pause(&backoff, after: error, at: origin, until: end) { _ in }
            }
        }
    }

    private static func document(
        in path: String,
        limit: ByteCount
    ) throws(DownloadError) -> [UInt8] {
        do throws(ImageError) {
            let file = try ImageFile(reading: path)
            var bytes: [UInt8] = []
            try file.read { piece throws(ImageError) in
                guard bytes.count + piece.count <= limit.bytes else {
                    throw .tooLarge(limit: limit)
                }
                piece.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
            }
            return bytes
        } catch {
            switch error {
            case .missing(let path): throw .noFile(path)
            case .tooLarge: throw .tooLong(limit: limit)
            case .isDirectory, .notAFile, .notPermitted, .cannotRead, .tooLong, .wrongSize,
                .wrongDigest, .damaged, .full, .readOnly, .cannotWrite, .cancelled:
                throw .file(error)
            }
        }
    }

    func exchange() throws(DownloadError) -> Exchange {
        if let loop { return loop.exchange() }
        let loop = try CurlLoop.start()
        self.loop = loop
        return loop.exchange()
    }

    /// Waits before the next attempt; throws the error when no further attempt is allowed.
    func pause(
        _ backoff: inout Backoff,
        after error: DownloadError,
        at origin: Origin,
        until end: Moment,
        progress: (FetchProgress) -> Void
    ) async throws(DownloadError) {
        guard let pause = backoff.pause(after: error, drawing: &chance) else { throw error }
        let next = time.now.advanced(by: pause)
        guard next < end else { throw error }
        progress(.retry(origin, after: pause, because: error))
        await time.sleep(until: next, for: "\(origin) to be asked again")
        guard !Task.isCancelled else { throw .cancelled }
    }
}

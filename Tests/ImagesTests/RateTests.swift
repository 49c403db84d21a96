import Base
import Synchronization
import Testing
import Workbench

@testable import Images

/// The least speed of a server, and the time for which it may be slower.
@Suite struct RateTests {
    private static let settings: FetchSettings = {
        var settings = FetchSettings()
        settings.leastSpeed = 1_000
        settings.slowness = .seconds(30)
        return settings
    }()

    private static func moment(_ seconds: Int64) -> Moment {
        Moment(nanoseconds: seconds * 1_000_000_000)
    }

    @Test(
        arguments: [
            // Bytes, the seconds between them, and the second at which that is too slow.
            (1, 1, 30), (5_000, 29, 58), (1_000, 1, nil), (40_000, 35, nil), (34_000, 35, 70),
        ] as [(Int, Int64, Int64?)]
    )
    func `a stretch of time that brings too little ends it`(
        bytes: Int,
        every: Int64,
        end: Int64?
    ) {
        var watch = RateWatch(Self.settings)
        var found: Int64?
        for time in stride(from: Int64(0), to: 1_000, by: Int(every)) where found == nil {
            let isEnough = watch.take(bytes, at: Self.moment(time))
            if !isEnough { found = time }
        }
        #expect(found == end)
    }

    @Test func `a delay of ours is not held against the server`() {
        var watch = RateWatch(Self.settings)
        var isEnough = [watch.take(10, at: Self.moment(0))]
        watch.pause()
        for (bytes, time) in [(10, 500), (30_000, 530), (10, 560)] as [(Int, Int64)] {
            isEnough.append(watch.take(bytes, at: Self.moment(time)))
        }
        #expect(isEnough == [true, true, true, false])
    }

    /// A disk on which each write takes a minute of the clock.
    private final class SlowDisk: FileLayer, Timekeeper {
        private let system = SystemFiles()
        private let clock = Mutex(Moment(nanoseconds: 0))

        var now: Moment { clock.withLock { $0 } }
        var wallTime: WallTime { WallTime(milliseconds: 0) }

        func sleep(until deadline: Moment, for purpose: @autoclosure () -> String) async {}

        func open(_ path: String, flags: Int32, mode: UInt32) throws(FileFault) -> Int32 {
            try system.open(path, flags: flags, mode: mode)
        }

        func write(
            _ bytes: UnsafeRawBufferPointer,
            to descriptor: Int32,
            at offset: Int
        ) throws(FileFault) -> Int {
            clock.withLock { $0 = $0.advanced(by: .seconds(60)) }
            return try system.write(bytes, to: descriptor, at: offset)
        }

        func truncate(_ descriptor: Int32, to length: Int) throws(FileFault) {
            try system.truncate(descriptor, to: length)
        }

        func seal(_ descriptor: Int32) throws(FileFault) { try system.seal(descriptor) }
        func sync(_ descriptor: Int32) throws(FileFault) { try system.sync(descriptor) }

        func rename(_ path: String, to name: String) throws(FileFault) {
            try system.rename(path, to: name)
        }

        func remove(_ path: String) throws(FileFault) { try system.remove(path) }
        func makeFolder(_ path: String) throws(FileFault) { try system.makeFolder(path) }
    }

    @Test func `a slow disk is not held against the server of a small image`() throws {
        let scratch = try Scratch()
        var settings = Self.settings
        settings.leastSpeed = 10_000
        let disk = SlowDisk()
        let store = StoreFolder(stateDirectory: scratch.path, files: disk)
        let bytes = random(3 * Chunk.capacity, seed: 8)
        let wanted = try request(SHA256.digest(of: bytes), size: bytes.count)
        try store.prepare(for: wanted.digest)
        let part = try #require(try Part(locking: wanted.digest, in: store))
        let fetch = ImageFetch(wanted, part) { _ in }
        let address = try #require(WebAddress("https://images.example/a", allowsHTTP: false))
        let taker = PartTaker(
            fetch,
            fetch.expectation,
            address,
            settings,
            disk,
            ChunkShelf()
        )
        var head = ResponseHead()
        head.take(Array("HTTP/1.1 200 OK".utf8))
        #expect(taker.begin(head) == nil)
        // Each piece is a write, and so takes a minute: far too slow for a server.
        for start in stride(from: 0, to: bytes.count, by: Chunk.capacity) {
            let piece = Array(bytes[start..<(start + Chunk.capacity)])
            let taking = piece.withUnsafeBytes { taker.take($0) }
            guard case .taken = taking else {
                Issue.record("\(taking) at \(start)")
                return
            }
        }
        #expect(fetch.isRight)
    }

    @Test func `only an attempt that keeps the rate gives the next one patience`() {
        #expect(Self.settings.isProgress(1_000, in: .milliseconds(1)))
        #expect(!Self.settings.isProgress(1, in: .milliseconds(1)))
        #expect(!Self.settings.isProgress(20_000, in: .seconds(30)))
        #expect(Self.settings.isProgress(30_000, in: .seconds(30)))
        #expect(Self.settings.rateRule == "fewer than 1000 bytes a second over 30s")
    }

    /// Returns one byte after a minute of the clock.
    private final class SlowDocuments: Downloads, Timekeeper {
        private let clock = Mutex(Moment(nanoseconds: 0))
        let deadlines = Mutex<[Duration]>([])

        var now: Moment { clock.withLock { $0 } }
        var wallTime: WallTime { WallTime(milliseconds: 0) }

        func sleep(until deadline: Moment, for purpose: @autoclosure () -> String) async {}

        func document(
            at origin: Origin,
            limit: ByteCount,
            within deadline: Duration
        ) async throws(DownloadError) -> [UInt8] {
            deadlines.withLock { $0.append(deadline) }
            clock.withLock { $0 = $0.advanced(by: min(deadline, .seconds(60))) }
            return [0]
        }

        func image(
            _ request: ImageRequest,
            from origins: [Origin],
            progress: @escaping @Sendable (FetchProgress) -> Void
        ) async throws(FetchError) -> StoredImage { throw .cancelled }
    }

    @Test func `all documents of a command together have one patience`() async throws {
        let slow = SlowDocuments()
        let downloads = BoundedDownloads(slow, within: .seconds(150), time: slow)
        let place = try web("http://127.0.0.1/1.root.json")
        let limit = ByteCount(count: 10)
        var count = 0
        await #expect(throws: DownloadError.self) {
            for _ in 0..<256 {
                _ = try await downloads.document(at: place, limit: limit, within: .seconds(60))
                count += 1
            }
        }
        #expect(count == 3)
        #expect(slow.deadlines.withLock { $0 } == [.seconds(60), .seconds(60), .seconds(30)])
        // A local document needs no waiting time.
        _ = try await downloads.document(
            at: .file("/root.json"),
            limit: limit,
            within: .seconds(60)
        )
    }
}

import Base
import Glibc
import Images
import Synchronization
import Testing
import Workbench

/// The machine's clock, except that a pause ends immediately and is recorded.
final class HastyTime: Timekeeper {
    private let pauses = Mutex<[Duration]>([])
    private let skipped = Mutex<Duration>(.zero)

    var now: Moment {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Moment(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
            .advanced(by: skipped.withLock { $0 })
    }

    var wallTime: WallTime { WallTime(milliseconds: 1_800_000_000_000) }

    var slept: [Duration] { pauses.withLock { $0 } }

    func sleep(until deadline: Moment, for purpose: @autoclosure () -> String) async {
        let pause = now.duration(to: deadline)
        pauses.withLock { $0.append(pause) }
        skipped.withLock { $0 += max(pause, .zero) }
        await Task.yield()
    }
}

/// Collects the progress of a fetch.
final class Progress: Sendable {
    private let list = Mutex<[FetchProgress]>([])
    var all: [FetchProgress] { list.withLock { $0 } }
    /// The progress without the received bytes.
    var steps: [FetchProgress] {
        all.filter { if case .received = $0 { false } else { true } }
    }

    func take(_ progress: FetchProgress) { list.withLock { $0.append(progress) } }
}

/// Settings that spare tests from waiting; a server is not called slow because the machine is.
func hastySettings(_ change: (inout FetchSettings) -> Void = { _ in }) -> FetchSettings {
    var settings = FetchSettings()
    settings.leastSpeed = 2_000
    settings.attempts = 3
    settings.notedSize = .zero
    settings.proxy = nil
    settings.withoutProxy = "*"
    change(&settings)
    return settings
}

/// The same, for servers that the test makes slow.
func impatientSettings() -> FetchSettings { hastySettings { $0.slowness = .seconds(1) } }

func web(_ url: String) throws -> Origin {
    .web(try #require(WebAddress(url, allowsHTTP: true)))
}

/// Calls `body` with a fetcher on its own thread.
func withFetcher<R>(
    _ directory: String,
    settings: FetchSettings = hastySettings(),
    time: any Timekeeper = HastyTime(),
    files: any FileLayer = SystemFiles(),
    _ body: (ImageFetcher) async throws -> R
) async throws -> R {
    let executor = try ThreadExecutor.start(name: "images")
    let fetcher = ImageFetcher(
        into: StoreFolder(stateDirectory: directory, files: files),
        settings: settings,
        time: time,
        seed: 7,
        executor: executor
    )
    let result: Result<R, any Error>
    do { result = .success(try await body(fetcher)) } catch { result = .failure(error) }
    await fetcher.stop()
    executor.stop()
    return try result.get()
}

/// The result of fetching one image: its bytes in the store, or the error.
func fetch(
    _ request: ImageRequest,
    from origins: [Origin],
    into directory: String,
    settings: FetchSettings = hastySettings(),
    time: any Timekeeper = HastyTime(),
    files: any FileLayer = SystemFiles(),
    progress: Progress = Progress()
) async throws -> Result<[UInt8], FetchError> {
    try await withFetcher(directory, settings: settings, time: time, files: files) { fetcher in
        let result: Result<StoredImage, FetchError>
        do throws(FetchError) {
            result = .success(
                try await fetcher.image(request, from: origins) { progress.take($0) }
            )
        } catch { result = .failure(error) }
        return try result.map { try contents($0.path) }.mapError { $0 }
    }
}

/// The origin that tests record for an image.
let noted = Array("a server".utf8)

/// Fetches one image as a command does: its rollout's need is recorded before, its origin after.
func fetchNoted(
    _ digest: SHA256Digest,
    size: Int,
    from url: String,
    into directory: String,
    settings: FetchSettings = hastySettings(),
    files: any FileLayer = SystemFiles()
) async throws -> Result<[UInt8], FetchError> {
    let store = StoreFolder(stateDirectory: directory, files: files)
    do throws(ImageError) {
        try ImageReferences(store).set("tallinn", [digest])
    } catch { return .failure(.store(error)) }
    let result = try await fetch(
        try request(digest, size: size),
        from: [try web(url)],
        into: directory,
        settings: settings,
        files: files
    )
    guard case .success = result else { return result }
    do throws(ImageError) {
        try ImageRecords(store).update([digest]) { _, _ in noted }
    } catch { return .failure(.store(error)) }
    return result
}

extension Result where Failure == FetchError {
    fileprivate func map<R>(_ body: (Success) throws -> R) throws -> Result<R, FetchError> {
        switch self {
        case .success(let value): .success(try body(value))
        case .failure(let error): .failure(error)
        }
    }

    /// The reason why the first origin failed.
    var firstReason: OriginError? {
        guard case .failure(.origins(let failures)) = self else { return nil }
        return failures.first?.error
    }
}

/// The number of all files below a folder, and their total size in bytes.
func usage(_ path: String) -> (files: Int, bytes: Int) {
    let all = files(below: path)
    let sizes = all.map { name -> Int in
        var status = stat()
        return lstat(path + "/" + name, &status) == 0 ? Int(status.st_size) : 0
    }
    return (all.count, sizes.reduce(0, +))
}

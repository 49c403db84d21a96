import Commands
import Domain
import Glibc
import Images
import Threads
import Trust

/// A repository below an address of the web or a folder of this machine.
struct WebDocuments: MetadataSource {
    private static let patience = Duration.seconds(60)

    private let downloads: any Downloads
    private let base: String

    /// `base` is an address of http, https or file; a `/` at its end may be left out.
    init(_ base: String, _ downloads: any Downloads) {
        self.base = base.hasSuffix("/") ? base : base + "/"
        self.downloads = downloads
    }

    func fetch(_ path: String, limit: Int64) async throws(SourceError) -> [UInt8] {
        let origin = try origin(path)
        guard let count = Int(exactly: limit), let limit = ByteCount(bytes: count) else {
            throw .tooLong(limit: limit)
        }
        do throws(DownloadError) {
            return try await downloads.document(at: origin, limit: limit, within: Self.patience)
        } catch {
            switch error {
            case .status(403, _), .status(404, _), .noFile: throw .notThere
            case .tooLong: throw .tooLong(limit: Int64(limit.bytes))
            default: throw .unreachable(error.description)
            }
        }
    }

    private func origin(_ path: String) throws(SourceError) -> Origin {
        if base.hasPrefix("file:") {
            let folder = base.hasPrefix("file://") ? base.dropFirst(7) : base.dropFirst(5)
            return .file(folder + Self.fileName(path))
        }
        // Whoever serves the bytes is not believed: encryption adds nothing to their truth.
        guard let address = WebAddress(base + path, allowsHTTP: true) else {
            throw .unreachable("'\(base)' is no address of http, https or file")
        }
        return .web(address)
    }

    /// The file that an encoded address means; what would divide it stays encoded.
    private static func fileName(_ path: String) -> String {
        var bytes: [UInt8] = []
        var rest = path.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%"), let value = Hex.bytes(String(rest.prefix(2)) ?? ""),
                let decoded = value.first, decoded != 0x2F, decoded != 0
            else {
                bytes.append(byte)
                continue
            }
            bytes.append(decoded)
            rest = rest.dropFirst(2)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// What fetches small documents for a command that has nothing else to do meanwhile.
struct DocumentFetching {
    let downloads: ImageFetcher
    private let thread: ThreadExecutor

    /// `state` is where images would be kept, if any were fetched.
    init(state: String) throws(CommandError) {
        do throws(ThreadError) {
            thread = try ThreadExecutor.start(name: "documents")
        } catch {
            throw CommandError(
                .unavailable,
                "no thread to fetch documents",
                because: [error.description]
            )
        }
        var settings = FetchSettings()
        settings.attempts = 2
        downloads = ImageFetcher(
            into: StoreFolder(stateDirectory: state),
            settings: settings,
            time: WaitingTime(),
            seed: UInt64(truncatingIfNeeded: RealTime().now.nanoseconds),
            executor: thread
        )
    }

    func stop() async {
        await downloads.stop()
        thread.stop()
    }
}

/// The machine's clocks for a thread that may wait.
private struct WaitingTime: Timekeeper {
    var now: Moment { RealTime().now }
    var wallTime: WallTime { RealTime().wallTime }

    func sleep(until deadline: Moment, for purpose: @autoclosure () -> String) async {
        while !Task.isCancelled {
            let left = now.duration(to: deadline)
            guard left > .zero else { return }
            // In pieces, so that a cancelled task is not waited for.
            let piece = min(left.nanoseconds / 1_000_000 + 1, 100)
            _ = poll(nil, 0, CInt(piece))
        }
    }
}

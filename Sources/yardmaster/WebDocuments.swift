import Commands
import Domain
import Images
import Manifest
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
        try await Self.fetch(try origin(path), limit: limit, downloads)
    }

    /// One document at a place of its own.
    static func document(
        at source: Manifest.ImageSource,
        limit: Int64,
        _ downloads: any Downloads
    ) async throws(SourceError) -> [UInt8] {
        guard let origin = source.origin else {
            throw .unreachable("'\(source)' is no address of http, https or file")
        }
        return try await fetch(origin, limit: limit, downloads)
    }

    private static func fetch(
        _ origin: Origin,
        limit: Int64,
        _ downloads: any Downloads
    ) async throws(SourceError) -> [UInt8] {
        guard let count = Int(exactly: limit), let limit = ByteCount(bytes: count) else {
            throw .tooLong(limit: limit)
        }
        do throws(DownloadError) {
            return try await downloads.document(at: origin, limit: limit, within: patience)
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
        let time = FetchTime()
        downloads = ImageFetcher(
            into: StoreFolder(stateDirectory: state),
            settings: settings,
            time: time,
            seed: time.seed,
            executor: thread
        )
    }

    func stop() async {
        await downloads.stop()
        thread.stop()
    }
}

import Base
import Commands
import Images
import Manifest

/// A repository at a web address or in a folder of this machine.
struct WebDocuments: MetadataSource {
    private static let patience = Duration.seconds(60)

    /// The address of the documents, ending in `/`.
    private enum Base {
        case web(String)
        case folder(String)
        case nowhere(String)
    }

    private let downloads: any Downloads
    private let base: Base

    /// `url` is an http, https or file address; a `/` at its end is optional.
    init(_ url: String, _ downloads: any Downloads) {
        self.downloads = downloads
        guard url.hasPrefix("file:") else {
            base = .web(url.hasSuffix("/") ? url : url + "/")
            return
        }
        let trimmed = url.hasSuffix("/") ? String(url.dropLast()) : url
        let source = try? ImageSource(trimmed, relativeTo: "")
        guard case .file(let file)? = source else {
            base = .nowhere(url)
            return
        }
        base = .folder(file.path + "/")
    }

    init(_ source: ImageSource, _ downloads: any Downloads) {
        self.downloads = downloads
        switch source {
        case .https(let url), .http(let url):
            base = .web(url.hasSuffix("/") ? url : url + "/")
        case .file(let file): base = .folder(file.path + "/")
        }
    }

    func fetch(_ path: String, limit: Int64) async throws(SourceError) -> [UInt8] {
        try await Self.fetch(try origin(path), limit: limit, downloads)
    }

    /// One document with an address of its own.
    static func document(
        at source: ImageSource,
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
            case .status, .file, .unreachable, .cut, .tooSlow, .tls, .weakerRedirect,
                .tooManyRedirects, .redirected, .badAnswer, .webPage, .wrongLength, .proxy,
                .configuration, .noLibrary, .cancelled:
                throw .unreachable(error.description)
            }
        }
    }

    private func origin(_ path: String) throws(SourceError) -> Origin {
        switch base {
        case .folder(let folder): return .file(folder + Self.fileName(path))
        case .web(let url):
            // The server is not trusted anyway: the documents are signed, so encryption adds
            // nothing.
            guard let address = WebAddress(url + path, allowsHTTP: true) else {
                throw .unreachable("'\(url)' is no address of http, https or file")
            }
            return .web(address)
        case .nowhere(let url):
            throw .unreachable("'\(url)' is no address of http, https or file")
        }
    }

    /// The file name of an encoded address; separators stay encoded.
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

/// Fetches small documents for a command that does nothing else meanwhile.
package struct DocumentFetching {
    /// The time limit for all documents of one command together.
    static let patience = Duration.seconds(300)

    let downloads: BoundedDownloads
    private let fetcher: ImageFetcher
    private let thread: ThreadExecutor

    /// `state` is the directory of the store, if images were fetched.
    ///
    /// `policy` is a manifest's, with its settings for servers.
    init(state: String, _ policy: FetchPolicy? = nil) throws(CommandError) {
        do throws(ThreadError) {
            thread = try ThreadExecutor.start(name: "documents")
        } catch {
            throw CommandError(
                .unavailable,
                "no thread to fetch documents",
                because: [error.description]
            )
        }
        var settings = policy.map { FetchSettings($0) } ?? FetchSettings()
        settings.attempts = min(settings.attempts, 2)
        let time = FetchTime()
        fetcher = ImageFetcher(
            into: StoreFolder(stateDirectory: state),
            settings: settings,
            time: time,
            seed: time.seed,
            executor: thread
        )
        downloads = BoundedDownloads(fetcher, within: Self.patience, time: time)
    }

    func stop() async {
        await fetcher.stop()
        thread.stop()
    }
}

package import Domain

/// Why a transfer did not give what was asked for; the words of servers are made safe to print.
package enum DownloadError: Error, Equatable, Sendable {
    /// The server answered with this status; `retryAfter` when it said how long to wait.
    case status(Int, retryAfter: Duration?)
    /// There is no such file at a `file` origin.
    case noFile(String)
    /// The file is there but cannot be read.
    case file(ImageError)
    /// No name, no route, nobody listens.
    case unreachable(String)
    /// The connection ended in the middle.
    case cut(String)
    /// Fewer bytes than asked for in the time given, or no end by the deadline.
    case tooSlow(String)
    /// The other side is not who it should be, or speaks no TLS that we take.
    case tls(String)
    /// Somewhere else than https, or than http where that was the beginning.
    case weakerRedirect
    case tooManyRedirects(Int)
    /// A redirect where none is followed.
    case redirected
    /// No HTTP, or headers that contradict each other or what was asked.
    case badAnswer(String)
    /// A page for people in place of the thing, with a status that says all is well.
    case webPage
    /// The first byte beyond the limit came or was announced.
    case tooLong(limit: ByteCount)
    /// The announced length is not the expected one.
    case wrongLength(expected: ByteCount, announced: ByteCount)
    /// The proxy refuses, or cannot be reached.
    case proxy(String)
    /// A certificate, a key or an option of ours cannot be used.
    case configuration(String)
    /// The machine has no libcurl that we can use.
    case noLibrary(String)
    case cancelled
}

extension DownloadError {
    /// Whether asking the same origin again can help.
    package var mayPass: Bool {
        switch self {
        case .status(let code, _): [408, 429, 500, 502, 503, 504].contains(code)
        case .unreachable, .cut, .tooSlow: true
        case .noFile, .file, .tls, .weakerRedirect, .tooManyRedirects, .redirected, .badAnswer,
            .webPage, .tooLong, .wrongLength, .proxy, .configuration, .noLibrary, .cancelled:
            false
        }
    }

    /// Whether the origin said that there is no such thing.
    package var isAbsence: Bool {
        switch self {
        case .status(let code, _): [403, 404, 410].contains(code)
        case .noFile: true
        case .file, .unreachable, .cut, .tooSlow, .tls, .weakerRedirect, .tooManyRedirects,
            .redirected, .badAnswer, .webPage, .tooLong, .wrongLength, .proxy, .configuration,
            .noLibrary,
            .cancelled:
            false
        }
    }
}

extension DownloadError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .status(let code, _): "the server answered \(code)\(Self.meaning(code))"
        case .noFile(let path): "there is no file \(path)"
        case .file(let error): error.description
        case .unreachable(let what): "the server cannot be reached: \(what)"
        case .cut(let what): "the transfer was cut: \(what)"
        case .tooSlow(let what): "the server is too slow: \(what)"
        case .tls(let what): "the server cannot be trusted with a connection: \(what)"
        case .weakerRedirect: "the server redirects to an address that is not as safe"
        case .tooManyRedirects(let count): "the server redirects more than \(count) times"
        case .redirected: "the server redirects, which is not followed here"
        case .badAnswer(let what): "the server's answer makes no sense: \(what)"
        case .webPage: "the server sent a web page in its place"
        case .tooLong(let limit): "the server sends more than \(limit.bytes) bytes"
        case .wrongLength(let expected, let announced):
            "the server has \(announced.bytes) bytes instead of \(expected.bytes)"
        case .proxy(let what): "the proxy does not let us through: \(what)"
        case .configuration(let what): what
        case .noLibrary(let what): "libcurl cannot be used: \(what)"
        case .cancelled: "cancelled"
        }
    }

    private static func meaning(_ code: Int) -> String {
        switch code {
        case 401: ", it asks who we are"
        case 403: ", it does not let us have it"
        case 404, 410: ", it has no such thing"
        case 407: ", the proxy asks who we are"
        case 416: ", it does not have that part"
        case 429: ", it is asked too often"
        case 500...599: ", the fault is on its side"
        default: ""
        }
    }
}

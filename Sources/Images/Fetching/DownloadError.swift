package import Base

/// Why a transfer did not deliver the requested bytes; texts from servers are made safe to print.
package enum DownloadError: Error, Equatable, Sendable {
    /// The server answered with this status; `retryAfter` is the time that it asked us to wait.
    case status(Int, retryAfter: Duration?)
    /// There is no such file at a `file` origin.
    case noFile(String)
    /// The file exists but cannot be read.
    case file(ImageError)
    /// No such name, no route, or no server that accepts connections.
    case unreachable(String)
    /// The connection ended in the middle.
    case cut(String)
    /// Fewer bytes than required in the given time, or no end before the deadline.
    case tooSlow(String)
    /// The other side is not the right one, or supports no TLS version that we allow.
    case tls(String)
    /// A redirect to something other than https, or than http when the first address was http.
    case weakerRedirect
    case tooManyRedirects(Int)
    /// A redirect where none is allowed.
    case redirected
    /// Not HTTP, or headers that contradict each other or the request.
    case badAnswer(String)
    /// A page for people instead of the file, with a status of success.
    case webPage
    /// The first byte after the limit arrived or was announced.
    case tooLong(limit: ByteCount)
    /// The announced length differs from the expected one.
    case wrongLength(expected: ByteCount, announced: ByteCount)
    /// The proxy refuses, or cannot be reached.
    case proxy(String)
    /// One of our certificates, keys or options cannot be used.
    case configuration(String)
    /// This machine has no libcurl that we can use.
    case noLibrary(String)
    case cancelled
}

extension DownloadError {
    /// Whether another attempt at the same origin can help.
    package var mayPass: Bool {
        switch self {
        case .status(let code, _): [408, 429, 500, 502, 503, 504].contains(code)
        case .unreachable, .cut, .tooSlow: true
        case .noFile, .file, .tls, .weakerRedirect, .tooManyRedirects, .redirected, .badAnswer,
            .webPage, .tooLong, .wrongLength, .proxy, .configuration, .noLibrary, .cancelled:
            false
        }
    }

    /// Whether the server is not there, or not itself: all that is asked of it ends like this.
    package var isSilence: Bool {
        switch self {
        case .status(let code, _): code == 429 || code >= 500
        case .unreachable, .cut, .tooSlow, .tls, .proxy, .configuration, .noLibrary, .cancelled:
            true
        case .noFile, .file, .weakerRedirect, .tooManyRedirects, .redirected, .badAnswer, .webPage,
            .tooLong, .wrongLength:
            false
        }
    }

    /// Whether the origin reports that the file does not exist.
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
        case .tls(let what): "no secure connection to the server is possible: \(what)"
        case .weakerRedirect: "the server redirects to an address that is less secure"
        case .tooManyRedirects(let count): "the server redirects more than \(count) times"
        case .redirected: "the server redirects, which is not allowed here"
        case .badAnswer(let what): "the server's answer makes no sense: \(what)"
        case .webPage: "the server sent a web page instead of the file"
        case .tooLong(let limit): "the server sends more than \(limit.bytes) bytes"
        case .wrongLength(let expected, let announced):
            "the server has \(announced.bytes) bytes instead of \(expected.bytes)"
        case .proxy(let what): "the proxy cannot be used: \(what)"
        case .configuration(let what): what
        case .noLibrary(let what): "libcurl cannot be used: \(what)"
        case .cancelled: "cancelled"
        }
    }

    private static func meaning(_ code: Int) -> String {
        switch code {
        case 401: ", it requires authentication"
        case 403: ", it denies access"
        case 404, 410: ", it has nothing at this address"
        case 407: ", the proxy requires authentication"
        case 416: ", it does not have that part"
        case 429: ", it gets too many requests"
        case 500...599: ", it has an error of its own"
        default: ""
        }
    }
}

import Domain

/// Where one request was led, and where it may be led next.
///
/// What went to https once goes nowhere else any more: also not when it began with http.
struct Redirects {
    /// A redirect says a few words to people who cannot follow it.
    private static let longestBody = 256 << 10

    private let limit: Int
    private var scheme: WebAddress.Scheme
    private(set) var count = 0
    private var skipped = 0

    init(from address: WebAddress, limit: Int) {
        scheme = address.scheme
        self.limit = limit
    }

    /// Whether an answer of this status is followed, if it says where to.
    func follows(status: Int) -> Bool {
        limit > 0 && [301, 302, 303, 307, 308].contains(status)
    }

    /// Takes one step to `text`, an absolute address.
    mutating func next(_ text: String) throws(DownloadError) -> WebAddress {
        guard count < limit else { throw .tooManyRedirects(limit) }
        let name = text.prefix { $0 != ":" }.lowercased()
        guard name == "https" || name == "http" && scheme == .http else { throw .weakerRedirect }
        let rest = text.dropFirst(name.utf8.count)
        guard let address = WebAddress(name + rest, allowsHTTP: scheme == .http) else {
            throw .badAnswer("it redirects to no address")
        }
        count += 1
        skipped = 0
        scheme = address.scheme
        return address
    }

    /// False when the body of a redirect has no end.
    mutating func skip(_ bytes: Int) -> Bool {
        skipped += bytes
        return skipped <= Self.longestBody
    }
}

import Base

/// The redirects of one request so far, and the ones that it may still follow.
///
/// After https no other scheme is allowed, even when the first address was http.
struct Redirects {
    /// The body of a redirect is a short text for people, and is ignored.
    private static let longestBody = 256 << 10

    private let limit: Int
    private var scheme: WebAddress.Scheme
    private(set) var count = 0
    private var skipped = 0

    init(from address: WebAddress, limit: Int) {
        scheme = address.scheme
        self.limit = limit
    }

    /// Whether an answer with this status is followed when it names an address.
    func follows(status: Int) -> Bool {
        limit > 0 && [301, 302, 303, 307, 308].contains(status)
    }

    /// Follows one redirect to `text`, an absolute address.
    mutating func next(_ text: String) throws(DownloadError) -> WebAddress {
        guard count < limit else { throw .tooManyRedirects(limit) }
        let name = text.prefix { $0 != ":" }.lowercased()
        guard name == "https" || name == "http" && scheme == .http else { throw .weakerRedirect }
        let rest = text.dropFirst(name.utf8.count)
        guard let address = WebAddress(name + rest, allowsHTTP: scheme == .http) else {
            throw .badAnswer("it redirects to an invalid address")
        }
        count += 1
        skipped = 0
        scheme = address.scheme
        return address
    }

    /// Counts bytes of a redirect's body; returns false when there are too many.
    mutating func skip(_ bytes: Int) -> Bool {
        skipped += bytes
        return skipped <= Self.longestBody
    }
}

/// The credential of a request, from its headers `Authorization` and `Cookie`.
package enum LiveCredential: Sendable, Equatable {
    /// None, or an ambiguous one.
    case nobody
    case token(String)
    /// The session of a browser that has signed in.
    case session(String)

    /// The name of the cookie that contains a session.
    package static let cookie = "yardmaster"

    /// When both are present, `authorization` counts.
    package init(authorization: String?, cookie: String?) {
        if let authorization {
            let parts = authorization.split(separator: " ", maxSplits: 1)
            let isToken = parts.count == 2 && parts[0].lowercased() == "bearer"
            self = isToken ? .token(String(parts[1])) : .nobody
            return
        }
        let found = (cookie ?? "").split(separator: ";").compactMap { pair -> Substring? in
            let pair = pair.drop { $0 == " " }
            guard pair.hasPrefix(Self.cookie + "=") else { return nil }
            return pair.dropFirst(Self.cookie.count + 1)
        }
        // With several sessions it is unclear which one is meant.
        self = found.count == 1 ? .session(String(found[0])) : .nobody
    }
}

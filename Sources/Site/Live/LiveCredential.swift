/// The credential of a request, from its headers `Authorization` and `Cookie`.
package enum LiveCredential: Sendable, Equatable {
    /// None, or an ambiguous one.
    case nobody
    case token(String)
    /// The session of a browser that has signed in.
    case session(String)

    /// The name of the cookie that contains a session.
    ///
    /// Behind TLS, browsers take a cookie of this prefix from our host alone, and only encrypted. On
    /// the plain loopback they refuse it.
    package static func cookie(isEncrypted: Bool) -> String {
        isEncrypted ? "__Host-yardmaster" : "yardmaster"
    }

    init(_ request: WebRequest) {
        self.init(
            authorization: request.authorization,
            cookie: request.cookie,
            isEncrypted: request.isEncrypted
        )
    }

    /// When both are present, a token counts.
    ///
    /// A password in `Authorization` is for the web server in front of this one.
    package init(authorization: String?, cookie: String?, isEncrypted: Bool = false) {
        let parts = (authorization ?? "").split(separator: " ", maxSplits: 1)
        let isPassword = parts.first?.lowercased() == "basic"
        if authorization != nil, !isPassword {
            let isToken = parts.count == 2 && parts[0].lowercased() == "bearer"
            self = isToken ? .token(String(parts[1])) : .nobody
            return
        }
        let name = Self.cookie(isEncrypted: isEncrypted) + "="
        let found = (cookie ?? "").split(separator: ";").compactMap { pair -> Substring? in
            let pair = pair.drop { $0 == " " }
            guard pair.hasPrefix(name) else { return nil }
            return pair.dropFirst(name.count)
        }
        // With several sessions it is unclear which one is meant.
        self = found.count == 1 ? .session(String(found[0])) : .nobody
    }
}

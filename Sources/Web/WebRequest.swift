/// A request as far as it is looked at.
package struct WebRequest: Sendable {
    package let method: String
    /// Path and query as they were sent.
    package let target: String
    /// Nil for none, and for several.
    package let host: String?
    /// Whether one was announced.
    package let hasBody: Bool
    /// That of a `POST` whose length was said beforehand and is short enough.
    package let body: [UInt8]?
    package let type: String?
    /// What the client has already, by its `ETag`.
    package let validator: String?
    package let accept: String
    package let authorization: String?
    package let cookie: String?
    /// Scheme, name and port of the page that sends it, as its browser says.
    package let origin: String?
    /// How that page and we belong together (`Sec-Fetch-Site`), as its browser says.
    package let site: String?
    /// By which its sender knows it (`Idempotency-Key`); empty for several.
    package let key: String?
    /// Whether a web server in front of us says that it came over TLS.
    package let isEncrypted: Bool

    package init(
        method: String,
        target: String,
        host: String?,
        hasBody: Bool = false,
        body: [UInt8]? = nil,
        type: String? = nil,
        validator: String? = nil,
        accept: String = "",
        authorization: String? = nil,
        cookie: String? = nil,
        origin: String? = nil,
        site: String? = nil,
        key: String? = nil,
        isEncrypted: Bool = false
    ) {
        self.method = method
        self.target = target
        self.host = host
        self.hasBody = hasBody
        self.body = body
        self.type = type
        self.validator = validator
        self.accept = accept
        self.authorization = authorization
        self.cookie = cookie
        self.origin = origin
        self.site = site
        self.key = key
        self.isEncrypted = isEncrypted
    }
}

/// What a request is answered with.
package enum WebAnswer: Sendable {
    /// To `HEAD` the body is left out.
    case whole(status: Int, headers: [(name: String, value: String)], body: [UInt8])
    /// Server-sent events, until the client goes.
    case events(headers: [(name: String, value: String)])
}

/// Why pages cannot be served.
package struct WebError: Error, CustomStringConvertible {
    /// The library's, or the system's.
    package let words: String

    package var description: String { words }
}

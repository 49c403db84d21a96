/// A request, with the parts that the server evaluates.
package struct WebRequest: Sendable {
    let method: String
    /// Path and query, as they were sent.
    package let target: String
    /// Nil for none, and for several.
    let host: String?
    /// Whether the request announced a body.
    let hasBody: Bool
    /// The body of a `POST` whose announced length is within the limit.
    let body: [UInt8]?
    let type: String?
    /// The `ETag` of the version that the client has.
    let validator: String?
    let accept: String
    let authorization: String?
    let cookie: String?
    /// Scheme, name and port of the page that sent the request, according to its browser.
    let origin: String?
    /// The relation of that page to this server (`Sec-Fetch-Site`), according to its browser.
    let site: String?
    /// The sender's identifier of the request (`Idempotency-Key`); empty when there are several.
    let key: String?
    /// Whether a web server in front of this one reports that the request arrived over TLS.
    let isEncrypted: Bool

    init(
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

/// The answer to a request.
package enum WebAnswer: Sendable {
    /// For `HEAD`, the body is left out.
    case whole(status: Int, headers: [(name: String, value: String)], body: [UInt8])
    /// Server-sent events, until the client disconnects; `reader` is who reads them, if that is known.
    case events(headers: [(name: String, value: String)], reader: String? = nil)
}

/// Why pages cannot be served.
package struct WebError: Error, CustomStringConvertible {
    /// The text of the error, from the library or the system.
    package let words: String

    package var description: String { words }
}

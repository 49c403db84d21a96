/// A request as far as it is looked at.
package struct WebRequest: Sendable {
    package let method: String
    /// Path and query as they were sent.
    package let target: String
    /// Nil for none, and for several.
    package let host: String?
    package let hasBody: Bool
    /// What the client has already, by its `ETag`.
    package let validator: String?
    package let accept: String

    package init(
        method: String,
        target: String,
        host: String?,
        hasBody: Bool = false,
        validator: String? = nil,
        accept: String = ""
    ) {
        self.method = method
        self.target = target
        self.host = host
        self.hasBody = hasBody
        self.validator = validator
        self.accept = accept
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

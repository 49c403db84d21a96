package import Base

/// One request to a web server with our own headers, in a session with it.
package struct SessionRequest: Sendable {
    package enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
    }

    let method: Method
    let address: WebAddress
    /// Name and value, without line breaks.
    let headers: [(name: String, value: String)]
    let body: [UInt8]

    package init(
        _ method: Method,
        _ address: WebAddress,
        headers: [(name: String, value: String)],
        body: [UInt8] = []
    ) {
        self.method = method
        self.address = address
        self.headers = headers
        self.body = body
    }
}

/// Several requests to web servers one after the other, over connections that stay open.
///
/// Redirects are not followed, since a header may be a secret; certificates are checked.
package struct WebSession: Sendable {
    private let loop: CurlLoop
    private let settings: FetchSettings

    package init(_ settings: FetchSettings) throws(DownloadError) {
        loop = try CurlLoop.start()
        self.settings = settings
    }

    /// Ends the session; to be called once, as the last call.
    package func end() { loop.stop() }

    package func ask(
        _ request: SessionRequest,
        limit: ByteCount,
        within deadline: Duration,
        at now: WallTime
    ) async -> Result<[UInt8], DownloadError> {
        var exchange = ExchangeRequest(
            address: request.address,
            deadline: deadline,
            askedAt: now,
            settings: settings
        )
        let headers = request.headers.map { "\($0.name): \($0.value)" }
        switch request.method {
        case .get: exchange.headers = headers
        case .post, .put:
            exchange.message = ExchangeRequest.Message(
                method: request.method.rawValue,
                headers: headers,
                body: request.body
            )
        }
        let taker = DocumentTaker(limit: limit, accepting: [200, 201, 202, 204])
        return await loop.exchange().run(exchange, into: taker).map { _ in taker.document }
    }
}

package import Base

/// One request to a web server with our own headers, and its whole answer.
///
/// Redirects are not followed, since a header may be a secret; certificates are checked.
package struct WebQuery: Sendable {
    let address: WebAddress
    /// Name and value, without line breaks.
    let headers: [(name: String, value: String)]

    package init(to address: WebAddress, headers: [(name: String, value: String)]) {
        self.address = address
        self.headers = headers
    }

    /// The bytes of an answer with a status of success.
    package func ask(
        limit: ByteCount,
        within deadline: Duration,
        at now: WallTime,
        settings: FetchSettings
    ) async -> Result<[UInt8], DownloadError> {
        let loop: CurlLoop
        do throws(DownloadError) { loop = try CurlLoop.start() } catch { return .failure(error) }
        var request = ExchangeRequest(
            address: address,
            deadline: deadline,
            askedAt: now,
            settings: settings
        )
        request.headers = headers.map { "\($0.name): \($0.value)" }
        let taker = DocumentTaker(limit: limit)
        let result = await loop.exchange().run(request, into: taker)
        loop.stop()
        return result.map { _ in taker.document }
    }
}

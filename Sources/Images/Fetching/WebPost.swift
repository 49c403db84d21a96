package import Base

/// One message to a web server, and whether the server accepted it.
///
/// Redirects are not followed and certificates are checked. Nothing else of the answer is kept,
/// because it may be hostile.
package struct WebPost: Sendable {
    let address: WebAddress
    /// Name and value, without line breaks.
    var headers: [(name: String, value: String)]
    let body: [UInt8]

    package init(
        to address: WebAddress,
        headers: [(name: String, value: String)],
        body: [UInt8]
    ) {
        self.address = address
        self.headers = headers
        self.body = body
    }

    /// The rest of a longer answer is not read.
    private static let longestAnswer = ByteCount(count: 64 << 10)

    /// Nil when the server accepted the message.
    package func send(
        within deadline: Duration,
        at now: WallTime,
        settings: FetchSettings
    ) async -> DownloadError? {
        let loop: CurlLoop
        do throws(DownloadError) { loop = try CurlLoop.start() } catch { return error }
        var request = ExchangeRequest(
            address: address,
            deadline: deadline,
            askedAt: now,
            settings: settings
        )
        request.message = ExchangeRequest.Message(
            headers: headers.map { "\($0.name): \($0.value)" },
            body: body
        )
        let result = await loop.exchange().run(
            request,
            into: DocumentTaker(limit: Self.longestAnswer)
        )
        loop.stop()
        switch result {
        case .success: return nil
        case .failure(.status(let code, _)) where (200...299).contains(code): return nil
        // The server reported success; the rest of its answer does not matter.
        case .failure(.tooLong): return nil
        case .failure(let error): return error
        }
    }
}

package import Base
package import Commands
package import Images
package import Servers

/// The way to an update server over the network: one request at a time, never faster than the file of
/// servers allows, over connections that stay open.
package actor WebLine: ServerLine {
    /// Far more than the largest document of a server needs.
    private static let longestDocument = ByteCount(count: 4 << 20)
    private static let attempts = 4
    /// A server that wants a longer rest is asked again by a later command.
    private static let longestRest = Duration.seconds(600)
    /// A stop is noticed after this time at the latest.
    private static let slice = Duration.seconds(1)

    private let server: ServerSettings
    private let base: WebAddress
    private let tokens: [String: Secret]
    private let session: WebSession
    private let time: any Timekeeper
    private let isStopped: @Sendable () -> Bool
    /// What is left of the rests that servers may demand: the night waits for the end of all.
    private var restLeft = WebLine.longestRest
    private var pace: Pace
    private var backoff: SplitMix64

    /// `tokens` are the tokens of the controllers by their ids; that of the gateway has an empty id.
    package init(
        to server: ServerSettings,
        with tokens: [String: Secret],
        time: any Timekeeper,
        seed: UInt64,
        until isStopped: @escaping @Sendable () -> Bool = { false },
        session: (FetchSettings) throws(DownloadError) -> WebSession
    ) throws(CommandError) {
        guard let base = WebAddress(server.url, allowsHTTP: server.allowsHTTP) else {
            throw CommandError(.manifest, "\(server.place): \(server.url) is no address")
        }
        var settings = FetchSettings()
        settings.authorities = server.authorities?.path
        settings.certificate = server.certificate?.path
        settings.key = server.key?.path
        settings.redirects = 0
        do throws(DownloadError) { self.session = try session(settings) } catch {
            throw CommandError(.unavailable, "no server can be asked", because: ["\(error)"])
        }
        self.server = server
        self.base = base
        self.tokens = tokens
        self.time = time
        self.isStopped = isStopped
        pace = Pace(requestsPerSecond: server.requestsPerSecond, seed: seed)
        backoff = SplitMix64(seed: seed)
    }

    /// Ends its connections; to be called once, as the last call.
    package func end() { session.end() }

    package func ask(_ request: ServerRequest) async -> ServerAnswer {
        let path = Array(request.controller.utf8)
        guard let place = base.adding("/controller/v1/")?.appending(path),
            let address = request.place.isEmpty ? place : place.adding("/" + request.place)
        else { return .failure("the id \(request.controller.visible) is too long") }
        var headers = self.headers(for: request.controller)
        let method: SessionRequest.Method
        var body: [UInt8] = []
        switch request.verb {
        case .get: method = .get
        case .put(let bytes): (method, body) = (.put, bytes)
        case .post(let bytes): (method, body) = (.post, bytes)
        }
        if method != .get { headers.append(("Content-Type", "application/json")) }
        headers.append(("Accept", "application/hal+json, application/json"))
        let result = await send(
            SessionRequest(method, address, headers: headers, body: body),
            limit: Self.longestDocument,
            within: .seconds(30)
        )
        switch result {
        case .success(let bytes): return .success(bytes)
        case .failure(.status(404, _)), .failure(.status(410, _)): return .absent
        case .failure(.status(401, _)):
            return .failure("the server refuses the token for \(request.controller.visible)")
        case .failure(.status(403, _)):
            let who = request.controller.visible
            let why = "its token may not do it, or a limit of the server is reached"
            return .failure("the server forbids this to \(who): \(why)")
        case .failure(let error):
            return .failure(ServerFault("\(error)", isSilence: error.isSilence))
        }
    }

    package func file(
        at address: WebAddress,
        for controller: String,
        isOwn: Bool,
        limit: ByteCount
    ) async -> Result<[UInt8], DownloadError> {
        // A token goes to its server only.
        let headers = isOwn ? self.headers(for: controller) : []
        let patience = Duration.seconds(120 + limit.bytes / (16 << 10))
        return await send(
            SessionRequest(.get, address, headers: headers),
            limit: limit,
            within: patience
        )
    }

    private func headers(for controller: String) -> [(name: String, value: String)] {
        let (scheme, id): (String, String)
        switch server.credential {
        case .none: return []
        case .gateway: (scheme, id) = ("GatewayToken", "")
        case .controllers: (scheme, id) = ("TargetToken", controller)
        }
        guard let token = tokens[id] else { return [] }
        let text = token.withBytes { String(decoding: $0, as: UTF8.self) }
        return [("Authorization", "\(scheme) \(text)")]
    }

    /// Sends when it is time, and again after a fault that may pass.
    private func send(
        _ request: SessionRequest,
        limit: ByteCount,
        within patience: Duration
    ) async -> Result<[UInt8], DownloadError> {
        var failures = 0
        while true {
            let turn = pace.next(at: time.now)
            while time.now < turn, !isStopped() {
                let next = min(turn, time.now.advanced(by: Self.slice))
                await time.sleep(until: next, for: "the server's turn")
                // In tests time may stand still.
                guard time.now >= next else { break }
            }
            guard !Task.isCancelled, !isStopped() else { return .failure(.cancelled) }
            pace.sent(at: time.now)
            let result = await session.ask(
                request,
                limit: limit,
                within: patience,
                at: time.wallTime
            )
            guard case .failure(let error) = result, let rest = rest(after: error, failures) else {
                return result
            }
            failures += 1
            restLeft -= rest
            pace.rest(rest, from: time.now)
        }
    }

    /// How long to wait before the same is asked again; nil when it is not.
    private func rest(after error: DownloadError, _ failures: Int) -> Duration? {
        guard failures + 1 < Self.attempts, error.mayPass else { return nil }
        if case .status(_, let asked?) = error { return asked <= restLeft ? asked : nil }
        let rest = Duration.milliseconds(500 << failures) + .milliseconds(backoff.below(500))
        return rest <= restLeft ? rest : nil
    }
}

import CMicrohttpd
import Glibc
import Synchronization

/// Answers HTTP requests on a socket that listens, on a thread of its own, by libmicrohttpd.
///
/// The library reads the requests and writes the answers. What it does not do is done here: a request
/// has a deadline as a whole, however slowly its bytes come, and streams of events are counted. Time
/// is handed in: `tick` is one second.
package final class WebServer: Sendable {
    /// What clients may use up.
    package struct Limits: Sendable {
        /// Of connections at the same time; more wait in the socket's queue.
        package var connections = 128
        /// Of streams of events among them.
        package var streams = 32
        /// For the head of a request, and that of its answer.
        package var headBytes = 16_384
        /// The longest body of a request.
        package var bodyBytes = 8_192
        /// Seconds from the beginning of a connection, or the end of an answer, to the end of a
        /// request.
        package var headSeconds = 10
        /// Seconds in which an answer must be taken.
        package var answerSeconds = 60
        /// Seconds without a byte in either direction.
        package var silentSeconds = 30

        package init() {}
    }

    /// Where a connection is.
    private enum Phase { case head, answer, stream }

    private struct Connection {
        var phase = Phase.head
        /// In ticks.
        var since: Int
    }

    private struct State: Sendable {
        var tick = 0
        var connections: [CInt: Connection] = [:]
        var streams: [ObjectIdentifier: ServerSentEvents] = [:]
        var change = 0
        var isStopping = false
    }

    private let state = Mutex(State())
    private let limits: Limits
    private let respond: @Sendable (WebRequest) -> WebAnswer
    /// The library's own; set once, before any thread of it runs, and taken back by `stop`.
    private let server = Mutex<UInt?>(nil)

    private init(_ limits: Limits, _ respond: @escaping @Sendable (WebRequest) -> WebAnswer) {
        self.limits = limits
        self.respond = respond
    }

    /// Takes over the socket, and answers until `stop`.
    ///
    /// `respond` is called on the server's thread: what it waits for, all clients of the socket wait for.
    package static func start(
        on listener: CInt,
        limits: Limits = Limits(),
        _ respond: @escaping @Sendable (WebRequest) -> WebAnswer
    ) throws(WebError) -> WebServer {
        if let refusal = web_load() { throw WebError(words: String(cString: refusal)) }
        let web = WebServer(limits, respond)
        var calls = web_calls()
        // Given back by `stop`, when no thread of the library is left.
        calls.context = Unmanaged.passRetained(web).toOpaque()
        calls.body_bytes = limits.bodyBytes
        calls.requested = { context, connection, method, target, body, size in
            guard let context, let connection, let method, let target else { return 0 }
            // The library's, until the request is over: it is copied before.
            let bytes = body.map { Array(UnsafeRawBufferPointer(start: $0, count: size)) }
            return WebServer.at(context).requested(connection, method, target, bytes)
        }
        calls.finished = { context, descriptor in
            if let context { WebServer.at(context).finished(descriptor) }
        }
        calls.opened = { context, descriptor in
            if let context { WebServer.at(context).opened(descriptor) }
        }
        calls.closed = { context, descriptor in
            if let context { WebServer.at(context).closed(descriptor) }
        }
        let pointer = web_begin(
            listener,
            CUnsignedInt(limits.connections),
            limits.headBytes,
            CUnsignedInt(limits.silentSeconds),
            &calls
        )
        guard let pointer else {
            Unmanaged.passUnretained(web).release()
            throw WebError(words: "libmicrohttpd does not start")
        }
        web.server.withLock { $0 = UInt(bitPattern: pointer) }
        return web
    }

    private static func at(_ context: UnsafeMutableRawPointer) -> WebServer {
        Unmanaged<WebServer>.fromOpaque(context).takeUnretainedValue()
    }

    // MARK: From outside

    /// A second has passed: ends the connections whose time is over, and keeps streams alive.
    package func tick() {
        let streams = state.withLock { state in
            state.tick += 1
            for (descriptor, connection) in state.connections {
                let limit: Int? =
                    switch connection.phase {
                    case .head: limits.headSeconds
                    case .answer: limits.answerSeconds
                    // One that reads nothing more is ended by the library, as silent.
                    case .stream: nil
                    }
                // Not closed: the library does that, and tells us before.
                if let limit, state.tick - connection.since > limit {
                    shutdown(descriptor, CInt(SHUT_RDWR))
                }
            }
            // That a client has gone is noticed when it is written to: when there is little room left for
            // others, such as after somebody who has gone from page to page, at once.
            let isFilling = state.streams.count > limits.streams / 2
            return isFilling || state.tick.isMultiple(of: 15) ? Array(state.streams.values) : []
        }
        for stream in streams { stream.beat() }
    }

    /// Says on all streams that something has changed; `number` grows with each change.
    package func announce(_ number: Int) {
        let streams = state.withLock { state in
            state.change = number
            return Array(state.streams.values)
        }
        for stream in streams { stream.announce(number) }
    }

    /// How many streams are open.
    package var streamCount: Int { state.withLock { $0.streams.count } }

    /// How many clients are connected.
    package var connectionCount: Int { state.withLock { $0.connections.count } }

    /// Ends all connections and the thread.
    ///
    /// The socket is left open.
    package func stop() {
        let pointer = server.withLock { server in
            defer { server = nil }
            return server
        }
        guard let pointer else { return }
        let streams = state.withLock { state in
            state.isStopping = true
            return Array(state.streams.values)
        }
        for stream in streams { stream.end() }
        web_end(UnsafeMutableRawPointer(bitPattern: pointer))
        Unmanaged.passUnretained(self).release()
    }

    // MARK: On the library's thread

    private func opened(_ descriptor: CInt) {
        state.withLock { $0.connections[descriptor] = Connection(since: $0.tick) }
    }

    private func closed(_ descriptor: CInt) {
        state.withLock { $0.connections[descriptor] = nil }
    }

    private func finished(_ descriptor: CInt) {
        state.withLock { state in
            guard state.connections[descriptor] != nil else { return }
            state.connections[descriptor] = Connection(since: state.tick)
        }
    }

    private func enter(_ phase: Phase, _ descriptor: CInt) {
        state.withLock { state in
            guard state.connections[descriptor] != nil else { return }
            state.connections[descriptor] = Connection(phase: phase, since: state.tick)
        }
    }

    private func requested(
        _ connection: UnsafeMutableRawPointer,
        _ method: UnsafePointer<CChar>,
        _ target: UnsafePointer<CChar>,
        _ body: [UInt8]?
    ) -> CInt {
        func header(_ name: String) -> String? {
            web_header(connection, name).map { String(cString: $0) }
        }
        /// Two of them are read in two ways by two programs, and so they are none.
        func single(_ name: String) -> String? {
            web_header_count(connection, name) == 1 ? header(name) : nil
        }
        /// What is there and cannot be read is not the same as what is not there.
        func plain(_ name: String) -> String? {
            web_header_count(connection, name) > 1 ? "" : header(name)
        }
        let request = WebRequest(
            method: String(cString: method),
            target: String(cString: target),
            host: single("Host"),
            hasBody: header("Content-Length").map { $0 != "0" } ?? false
                || header("Transfer-Encoding") != nil,
            body: body,
            type: single("Content-Type"),
            validator: header("If-None-Match"),
            accept: header("Accept") ?? "",
            authorization: single("Authorization"),
            cookie: single("Cookie"),
            origin: single("Origin"),
            site: plain("Sec-Fetch-Site"),
            key: plain("Idempotency-Key"),
            isEncrypted: single("X-Forwarded-Proto") == "https"
        )
        let descriptor = web_descriptor(connection)
        // However long the answer takes to be made: the client has said all that it had to.
        enter(.answer, descriptor)
        switch respond(request) {
        case .whole(let status, let headers, let body):
            return Self.withHeaders(headers) { list in
                body.withUnsafeBytes {
                    web_answer(connection, CUnsignedInt(status), list, $0.baseAddress, $0.count)
                }
            }
        case .events(let headers):
            guard let stream = open() else {
                return Self.withHeaders(headers) { web_answer(connection, 503, $0, nil, 0) }
            }
            enter(.stream, descriptor)
            var source = web_source()
            // Given back by `release`, which the library calls in any case.
            source.context = Unmanaged.passRetained(stream).toOpaque()
            source.read = { context, connection, bytes, count in
                guard let context, let connection, let bytes else { return -1 }
                return Unmanaged<ServerSentEvents>.fromOpaque(context).takeUnretainedValue()
                    .read(connection, UnsafeMutableRawBufferPointer(start: bytes, count: count))
            }
            source.release = { context in
                guard let context else { return }
                let stream = Unmanaged<ServerSentEvents>.fromOpaque(context).takeRetainedValue()
                stream.close()
            }
            return Self.withHeaders(headers) { web_stream(connection, 200, $0, &source) }
        }
    }

    /// Nil when there are as many as there may be.
    private func open() -> ServerSentEvents? {
        state.withLock { state in
            guard state.streams.count < limits.streams, !state.isStopping else { return nil }
            let stream = ServerSentEvents(state.change) { [weak self] stream in
                _ = self?.state.withLock {
                    $0.streams.removeValue(forKey: ObjectIdentifier(stream))
                }
            }
            state.streams[ObjectIdentifier(stream)] = stream
            return stream
        }
    }

    /// Names and values in turn, and a null pointer at the end, for as long as `body` runs.
    private static func withHeaders<R>(
        _ headers: [(name: String, value: String)],
        _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> R
    ) -> R {
        let texts = headers.flatMap { [strdup($0.name), strdup($0.value)] }
        defer { for text in texts { free(text) } }
        let list = texts.map { $0.map { UnsafePointer($0) } } + [nil]
        return list.withUnsafeBufferPointer { body($0.baseAddress) }
    }
}

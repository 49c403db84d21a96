import CMicrohttpd
import Glibc
import Operations
import Synchronization

/// Answers HTTP requests on a listening socket, on its own thread, with libmicrohttpd.
///
/// The library reads the requests and writes the answers. This type adds what the library lacks: a
/// deadline for a whole request, however slowly its bytes arrive, and a limit on streams of events.
/// Time is passed in: `tick` means one second.
package final class WebServer: Sendable {
    /// The limits on the resources of clients.
    package struct Limits: Sendable {
        /// The number of simultaneous connections; more wait in the socket's queue.
        package var connections = 128
        /// The number of streams of events among them.
        package var streams = 32
        /// The number of streams of one reader.
        package var streamsOfOne = 8
        /// When no more connections than these are left, the oldest one without a request makes room.
        var spare: Int { connections / 8 }
        /// The size of the head of a request, and of its answer.
        var headBytes = 16_384
        /// The longest body of a request.
        var bodyBytes = 8_192
        /// Seconds from the beginning of a connection, or from the end of an answer, to the end of
        /// a request.
        var headSeconds = 10
        /// Seconds in which an answer must be received.
        var answerSeconds = 60
        /// Seconds without a byte in either direction.
        var silentSeconds = 30

        package init() {}
    }

    /// The phase of a connection.
    private enum Phase { case head, answer, stream }

    private struct Connection {
        var phase = Phase.head
        /// The tick at which the phase began.
        var since: Int
        /// Counts phases: a smaller one began earlier.
        var number: Int
    }

    private struct State: Sendable {
        var tick = 0
        var phases = 0
        var connections: [CInt: Connection] = [:]
        var streams: [ObjectIdentifier: (stream: ServerSentEvents, reader: String?)] = [:]
        var change = 0
        var isStopping = false
    }

    private let state = Mutex(State())
    private let limits: Limits
    private let respond: @Sendable (WebRequest) -> WebAnswer
    /// The library's object: set once, before any of its threads runs, and removed by `stop`.
    private let server = Mutex<UInt?>(nil)

    private init(_ limits: Limits, _ respond: @escaping @Sendable (WebRequest) -> WebAnswer) {
        self.limits = limits
        self.respond = respond
    }

    /// Takes over the socket, and answers requests until `stop`.
    ///
    /// `respond` is called on the server's thread: while it waits, all clients of the socket wait.
    package static func start(
        on listener: CInt,
        limits: Limits = Limits(),
        _ respond: @escaping @Sendable (WebRequest) -> WebAnswer
    ) throws(WebError) -> WebServer {
        if let refusal = web_load() { throw WebError(words: String(cString: refusal)) }
        let web = WebServer(limits, respond)
        var calls = web_calls()
        // Released by `stop`, when no thread of the library is left.
        calls.context = Unmanaged.passRetained(web).toOpaque()
        calls.body_bytes = limits.bodyBytes
        calls.requested = { context, connection, method, target, body, size in
            guard let context, let connection, let method, let target else { return 0 }
            // The memory belongs to the library only until the request ends, so it is copied.
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

    // MARK: Calls from outside

    /// A second has passed: ends connections whose time is over, and keeps streams alive.
    package func tick() {
        let streams = state.withLock { state in
            state.tick += 1
            for (descriptor, connection) in state.connections {
                let limit: Int? =
                    switch connection.phase {
                    case .head: limits.headSeconds
                    case .answer: limits.answerSeconds
                    // The library ends a stream as silent when its client no longer reads.
                    case .stream: nil
                    }
                // The library closes the socket itself, and calls us before.
                if let limit, state.tick - connection.since > limit {
                    shutdown(descriptor, CInt(SHUT_RDWR))
                }
            }
            // Only a write shows that a client has gone. When little room is left for others or for the
            // reader itself, for example after a person has opened many pages in turn, this is checked at
            // every tick.
            let own = Dictionary(grouping: state.streams.values.compactMap(\.reader)) { $0 }
            let isFilling =
                state.streams.count > limits.streams / 2
                || own.values.contains { $0.count > limits.streamsOfOne / 2 }
            return isFilling || state.tick.isMultiple(of: 15)
                ? state.streams.values.map(\.stream) : []
        }
        for stream in streams { stream.beat() }
    }

    /// Announces a change on all streams; `number` grows with each change.
    package func announce(_ number: Int) {
        let streams = state.withLock { state in
            state.change = number
            return state.streams.values.map(\.stream)
        }
        for stream in streams { stream.announce(number) }
    }

    /// Ends the streams of readers who may not read any more.
    package func endStreams(unless mayRead: (_ reader: String?) -> Bool) {
        let streams = state.withLock { Array($0.streams.values) }
        for (stream, reader) in streams where !mayRead(reader) { stream.end() }
    }

    /// The number of open streams.
    package var streamCount: Int { state.withLock { $0.streams.count } }

    /// The number of connected clients.
    package var connectionCount: Int { state.withLock { $0.connections.count } }

    /// Ends all connections and the thread.
    ///
    /// The socket stays open.
    package func stop() {
        let pointer = server.withLock { server in
            defer { server = nil }
            return server
        }
        guard let pointer else { return }
        let streams = state.withLock { state in
            state.isStopping = true
            return state.streams.values.map(\.stream)
        }
        for stream in streams { stream.end() }
        web_end(UnsafeMutableRawPointer(bitPattern: pointer))
        Unmanaged.passUnretained(self).release()
    }

    // MARK: Calls on the library's thread

    private func opened(_ descriptor: CInt) {
        state.withLock { state in
            begin(.head, descriptor, &state)
            // Idle connections must not keep others out until their time is over.
            guard state.connections.count > limits.connections - limits.spare else { return }
            let idle = state.connections.filter { $0.value.phase == .head && $0.key != descriptor }
            guard let oldest = idle.min(by: { $0.value.number < $1.value.number })?.key else {
                return
            }
            shutdown(oldest, CInt(SHUT_RDWR))
        }
    }

    private func begin(_ phase: Phase, _ descriptor: CInt, _ state: inout State) {
        state.phases += 1
        state.connections[descriptor] = Connection(
            phase: phase,
            since: state.tick,
            number: state.phases
        )
    }

    private func closed(_ descriptor: CInt) {
        state.withLock { $0.connections[descriptor] = nil }
    }

    private func finished(_ descriptor: CInt) {
        state.withLock { state in
            guard state.connections[descriptor] != nil else { return }
            begin(.head, descriptor, &state)
        }
    }

    private func enter(_ phase: Phase, _ descriptor: CInt) {
        state.withLock { state in
            guard state.connections[descriptor] != nil else { return }
            begin(phase, descriptor, &state)
        }
    }

    /// A request with the headers that we read.
    private static func request(
        on connection: UnsafeMutableRawPointer,
        _ method: UnsafePointer<CChar>,
        _ target: UnsafePointer<CChar>,
        _ body: [UInt8]?
    ) -> WebRequest {
        func header(_ name: String) -> String? {
            web_header(connection, name).map { String(cString: $0) }
        }
        /// Two programs could read two equal headers differently, so they count as none.
        func single(_ name: String) -> String? {
            web_header_count(connection, name) == 1 ? header(name) : nil
        }
        /// A header that is present but ambiguous must not be treated as absent.
        func plain(_ name: String) -> String? {
            web_header_count(connection, name) > 1 ? "" : header(name)
        }
        return WebRequest(
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
    }

    private func requested(
        _ connection: UnsafeMutableRawPointer,
        _ method: UnsafePointer<CChar>,
        _ target: UnsafePointer<CChar>,
        _ body: [UInt8]?
    ) -> CInt {
        let request = Self.request(on: connection, method, target, body)
        let descriptor = web_descriptor(connection)
        // The client has sent its whole request, so the time for the answer does not count against
        // it.
        enter(.answer, descriptor)
        switch respond(request) {
        case .whole(let status, let headers, let body):
            return Self.withHeaders(headers) { list in
                body.withUnsafeBytes {
                    web_answer(connection, CUnsignedInt(status), list, $0.baseAddress, $0.count)
                }
            }
        case .events(let headers, let reader):
            guard let stream = open(for: reader) else {
                return Self.withHeaders(headers) { web_answer(connection, 503, $0, nil, 0) }
            }
            enter(.stream, descriptor)
            var source = web_source()
            // Released by `release`, which the library calls in any case.
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

    /// Nil when there are too many streams, or too many of this reader.
    private func open(for reader: String?) -> ServerSentEvents? {
        state.withLock { state in
            guard state.streams.count < limits.streams, !state.isStopping else { return nil }
            let own = state.streams.values.count { $0.reader == reader }
            guard reader == nil || own < limits.streamsOfOne else { return nil }
            let stream = ServerSentEvents(state.change) { [weak self] stream in
                _ = self?.state.withLock {
                    $0.streams.removeValue(forKey: ObjectIdentifier(stream))
                }
            }
            state.streams[ObjectIdentifier(stream)] = (stream, reader)
            return stream
        }
    }

    /// Passes names and values in turn, ended by a null pointer, to `body`.
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

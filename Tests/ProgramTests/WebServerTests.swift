import Foundation
import Site
import Synchronization
import Testing
import Workbench

/// Possible actions of clients at the server; the test controls the server's time.
@Suite struct WebServerTests {
    /// A server on a free port, and the requests it has received.
    private final class Bench {
        let server: WebServer
        let port: UInt16
        private let listener: Int32

        init(
            _ limits: WebServer.Limits = WebServer.Limits(),
            _ respond: @escaping @Sendable (WebRequest) -> WebAnswer = { _ in Bench.answer("well") }
        ) throws {
            (listener, port) = try boundSocket()
            try #require(listen(listener, 128) == 0)
            server = try WebServer.start(on: listener, limits: limits, respond)
        }

        deinit {
            server.stop()
            close(listener)
        }

        static func answer(_ text: String) -> WebAnswer {
            .whole(
                status: 200,
                headers: [(name: "Content-Type", value: "text/plain")],
                body: Array(text.utf8)
            )
        }

        func pass(seconds: Int) { for _ in 0..<seconds { server.tick() } }

        func ask(_ bytes: String) throws -> RawAnswer {
            let client = try RawClient(port: port)
            client.send(bytes)
            return RawAnswer(try client.rest())
        }
    }

    private static let get = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

    @Test func `a head that comes byte by byte has one deadline, and nobody else waits`() throws {
        let bench = try Bench()
        let slow = try RawClient(port: bench.port)
        let idle = try RawClient(port: bench.port)
        slow.send("GET / HTTP/1.1\r\nHost: ")
        // When the server answers a later client, it has accepted both earlier ones.
        #expect(try bench.ask(Self.get).text == "well")
        for _ in 0..<9 {
            slow.send("l")
            bench.pass(seconds: 1)
        }
        #expect(!slow.hasNews)
        bench.pass(seconds: 2)
        #expect(try slow.rest().isEmpty)
        #expect(try idle.rest().isEmpty)
        #expect(try bench.ask(Self.get).text == "well")
    }

    @Test func `an answer that nobody takes is ended`() throws {
        let large = String(repeating: "x", count: 32 << 20)
        let bench = try Bench { _ in Bench.answer(large) }
        let client = try RawClient(port: bench.port)
        client.send(Self.get)
        // The server has begun to answer.
        try client.text(until: "HTTP/1.1 200")
        bench.pass(seconds: 70)
        #expect(try client.rest().count < large.utf8.count / 2)
    }

    @Test func `an answer that takes long to be made is not cut off`() throws {
        let server = Mutex<WebServer?>(nil)
        let bench = try Bench { _ in
            let server = server.withLock { $0 }
            for _ in 0..<30 { server?.tick() }
            return Bench.answer("late")
        }
        server.withLock { $0 = bench.server }
        #expect(try bench.ask(Self.get).text == "late")
        server.withLock { $0 = nil }
    }

    @Test func `more connections than may be wait until there is room`() throws {
        var limits = WebServer.Limits()
        limits.connections = 3
        let bench = try Bench(limits)
        let idle = try (0..<3).map { _ in try RawClient(port: bench.port) }
        for client in idle { client.send("GET") }
        let late = try RawClient(port: bench.port)
        late.send(Self.get)
        try wait(for: "the idle ones to be there") { bench.server.connectionCount == 3 }
        #expect(!late.hasNews)
        bench.pass(seconds: 11)
        #expect(RawAnswer(try late.rest()).text == "well")
        for client in idle { #expect(try client.rest().isEmpty) }
    }

    @Test func `a head has a largest size`() throws {
        let bench = try Bench()
        for line in [
            "GET /" + String(repeating: "a", count: 40_000)
                + " HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: "
                + String(repeating: "a", count: 40_000) + "\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: localhost\r\n"
                + String(repeating: "X-Many: a\r\n", count: 4_000) + "\r\n",
        ] {
            let answer = try bench.ask(line)
            // The request is refused with or without an answer, because the rest of it may still be
            // on its way.
            #expect([0, 413, 414, 431].contains(answer.status), "\(answer.head)")
        }
        #expect(try bench.ask(Self.get).text == "well")
    }

    @Test func `what is no request is refused, and the next one is answered`() throws {
        let bench = try Bench()
        for bytes in [
            "\r\n\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
            "\u{16}\u{03}\u{01}\u{02}\u{00}\u{01}\u{00}",
            "GET / HTTP/1.1\r\nHost localhost\r\n\r\n",
            " GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "\0\0\0\0\r\n\r\n",
        ] {
            let client = try RawClient(port: bench.port)
            client.send(bytes)
            shutdown(client.socket, Int32(SHUT_WR))
            // Some of these are the beginning of a header, whose time then ends.
            try wait(for: "the end of what is no request") {
                bench.pass(seconds: 1)
                return client.hasNews
            }
            let answer = RawAnswer(try client.rest())
            #expect(answer.status == 0 || answer.status >= 400, "\(bytes.debugDescription)")
        }
        #expect(try bench.ask(Self.get).text == "well")
    }

    @Test func `changes reach those who wait for them, and there are no more than may be`() throws {
        var limits = WebServer.Limits()
        limits.streams = 2
        let bench = try Bench(limits) { request in
            request.target == "/changes" ? .events(headers: []) : Bench.answer("well")
        }
        let ask = "GET /changes HTTP/1.1\r\nHost: localhost\r\n\r\n"
        let clients = try (0..<2).map { _ in try RawClient(port: bench.port) }
        for client in clients {
            client.send(ask)
            try client.text(until: "id: 0\n")
        }
        #expect(bench.server.streamCount == 2)
        #expect(
            try bench.ask(ask.replacing("\r\n\r\n", with: "\r\nConnection: close\r\n\r\n")).status
                == 503
        )
        bench.server.announce(7)
        for client in clients {
            try client.text(until: "event: change\nid: 7\ndata: {\"change\":7}\n\n")
        }
        // Streams may last longer than other answers, and their clients get signs of life.
        bench.pass(seconds: 75)
        for client in clients { try client.text(until: ":\n\n") }
        // A client that has disconnected makes room for another.
        shutdown(clients[0].socket, Int32(SHUT_RDWR))
        try wait(for: "the stream to be given up") {
            bench.pass(seconds: 15)
            return bench.server.streamCount == 1
        }
        bench.server.stop()
        _ = try clients[1].rest()
        #expect(bench.server.streamCount == 0)
    }

    @Test func `one reader takes not all streams, and anyone who may not read any more loses them`()
        throws
    {
        var limits = WebServer.Limits()
        limits.streamsOfOne = 2
        let bench = try Bench(limits) { request in
            .events(headers: [], reader: String(request.target.dropFirst()))
        }
        func stream(_ reader: String) throws -> RawClient {
            let client = try RawClient(port: bench.port)
            client.send("GET /\(reader) HTTP/1.1\r\nHost: localhost\r\n\r\n")
            return client
        }
        let anna = try (0..<2).map { _ in try stream("anna") }
        for client in anna { try client.text(until: "id: 0\n") }
        let closing = "GET /anna HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        #expect(try bench.ask(closing).status == 503)
        let board = try stream("board")
        try board.text(until: "id: 0\n")
        bench.server.endStreams { $0 == "board" }
        for client in anna { _ = try client.rest() }
        bench.server.announce(3)
        try board.text(until: "id: 3\n")
        #expect(bench.server.streamCount == 1)
    }

    @Test func `connections that ask nothing keep nobody out`() throws {
        var limits = WebServer.Limits()
        limits.connections = 16
        let bench = try Bench(limits)
        var idle: [RawClient] = []
        // Many more than may be connected, and no second passes.
        for _ in 0..<60 { idle.append(try RawClient(port: bench.port)) }
        #expect(try bench.ask(Self.get).text == "well")
        #expect(bench.server.connectionCount <= limits.connections)
        withExtendedLifetime(idle) {}
    }

    @Test(arguments: [nil, "anna"])
    func `anyone who goes from page to page takes no room from others, and has it again`(
        reader: String?
    ) throws {
        var limits = WebServer.Limits()
        if reader == nil { limits.streams = 4 } else { limits.streamsOfOne = 4 }
        let bench = try Bench(limits) { _ in .events(headers: [], reader: reader) }
        let clients = try (0..<4).map { _ in try RawClient(port: bench.port) }
        for client in clients {
            client.send("GET /changes HTTP/1.1\r\nHost: localhost\r\n\r\n")
            try client.text(until: "id: 0\n")
        }
        for client in clients.prefix(3) { shutdown(client.socket, Int32(SHUT_RDWR)) }
        // Much earlier than the next sign of life for the remaining clients.
        var (looks, seconds) = (0, 0)
        try wait(for: "streams to be given up") {
            looks += 1
            if looks.isMultiple(of: 20), seconds < 14 {
                bench.pass(seconds: 1)
                seconds += 1
            }
            return bench.server.streamCount <= 2
        }
        bench.server.stop()
    }
}

import Base
import Images
import Synchronization
import Testing
import Workbench

/// Every known way in which a server can lie: the result is a clear error or the right file.
///
/// The disk never contains more than the limit.
@Suite struct HostileServerTests {
    private static let file = random(200_000, seed: 21)
    private static let digest = SHA256.digest(of: file)

    typealias Answer = @Sendable (HostileServer.Request, HostileServer.Connection) -> Void

    /// One row: the server's answer, whether the size is known, and the expected result.
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        var size: Int? = 200_000
        var limit: Int?
        var settings = hastySettings()
        let answer: Answer
        /// Checks the reason; nil when the right file must arrive.
        let reason: (@Sendable (OriginError) -> Bool)?

        var testDescription: String { name }
    }

    private static func isLong(_ error: OriginError) -> Bool {
        if case .download(.tooLong) = error { return true }
        return false
    }

    private static func isWrongLength(_ error: OriginError) -> Bool {
        if case .download(.wrongLength) = error { return true }
        return false
    }

    private static func isSlow(_ error: OriginError) -> Bool {
        if case .download(.tooSlow) = error { return true }
        return false
    }

    private static func isCut(_ error: OriginError) -> Bool {
        if case .download(.cut) = error { return true }
        return false
    }

    private static func isBad(_ error: OriginError) -> Bool {
        if case .download(.badAnswer) = error { return true }
        return false
    }

    private static func isStatus(_ code: Int) -> @Sendable (OriginError) -> Bool {
        { error in
            if case .download(.status(let found, _)) = error { return found == code }
            return false
        }
    }

    /// Sends a body without end until the client disconnects.
    private static func endless(_ connection: HostileServer.Connection, chunked: Bool) {
        let piece = random(65_536, seed: 3)
        while true {
            let isThere =
                chunked
                ? connection.send("10000\r\n") && connection.send(piece)
                    && connection.send("\r\n")
                : connection.send(piece)
            if !isThere { return }
        }
    }

    static let rows: [Row] = [
        Row(
            name: "an endless chunked body",
            answer: { _, connection in
                connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                endless(connection, chunked: true)
            },
            reason: isLong
        ),
        Row(
            name: "an endless body that ends with the connection",
            answer: { _, connection in
                connection.send("HTTP/1.1 200 OK\r\n\r\n")
                endless(connection, chunked: false)
            },
            reason: isLong
        ),
        Row(
            name: "an endless body, the size unknown",
            size: nil,
            limit: 300_000,
            answer: { _, connection in
                connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                endless(connection, chunked: true)
            },
            reason: isLong
        ),
        Row(
            name: "a length beyond the expected",
            answer: { _, connection in
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
                endless(connection, chunked: false)
            },
            reason: isWrongLength
        ),
        Row(
            name: "a length beyond the cap, the size unknown",
            size: nil,
            limit: 300_000,
            answer: { _, connection in
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
                endless(connection, chunked: false)
            },
            reason: isLong
        ),
        Row(
            name: "more than the length announced",
            answer: { _, connection in
                connection.answer(
                    "200 OK",
                    ["Content-Length: 200000"],
                    file + random(1_000, seed: 1)
                )
            },
            reason: nil
        ),
        Row(
            name: "less than the length announced",
            answer: { _, connection in
                connection.answer("200 OK", ["Content-Length: 200000"], Array(file.prefix(5)))
            },
            reason: isCut
        ),
        Row(
            name: "a negative length",
            answer: { _, connection in
                connection.answer("200 OK", ["Content-Length: -5"], file)
            },
            reason: isBad
        ),
        Row(
            name: "a length that is no number",
            answer: { _, connection in
                connection.answer("200 OK", ["Content-Length: 0x30d40"], file)
            },
            reason: isBad
        ),
        Row(
            name: "two different lengths",
            answer: { _, connection in
                connection.answer(
                    "200 OK",
                    ["Content-Length: 7", "Content-Length: 200000"],
                    file
                )
            },
            reason: isBad
        ),
        Row(
            name: "what is no HTTP",
            answer: { _, connection in
                connection.send("220 mail.example ESMTP\r\n")
            },
            reason: isBad
        ),
        Row(name: "nothing at all", answer: { _, _ in }, reason: isCut),
        Row(
            name: "headers without end",
            answer: { _, connection in
                connection.send("HTTP/1.1 200 OK\r\n")
                let line = "X-Filler: " + String(repeating: "x", count: 1_000) + "\r\n"
                while connection.send(line) {}
            },
            reason: isBad
        ),
        Row(
            name: "a header line without end",
            answer: { _, connection in
                connection.send("HTTP/1.1 200 OK\r\nX-Filler: ")
                let piece = [UInt8](repeating: 0x78, count: 65_536)
                while connection.send(piece) {}
            },
            reason: { isBad($0) || isCut($0) }
        ),
        Row(
            name: "a drip of body",
            settings: impatientSettings(),
            answer: { _, connection in
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n")
                for byte in file {
                    guard connection.send([byte]) else { return }
                    if connection.waitForGoodbye(milliseconds: 20) { return }
                }
            },
            reason: isSlow
        ),
        Row(
            name: "a drip of headers",
            settings: impatientSettings(),
            answer: { _, connection in
                connection.send("HTTP/1.1 200 OK\r\nX-Slow: ")
                for _ in 0..<10_000 {
                    guard connection.send("x") else { return }
                    if connection.waitForGoodbye(milliseconds: 20) { return }
                }
            },
            reason: isSlow
        ),
        Row(
            name: "a page for people with 200",
            answer: { _, connection in
                connection.answer(
                    "200 OK",
                    ["Content-Type: text/html"],
                    Array("<h1>404</h1>".utf8)
                )
            },
            reason: { $0 == .download(.webPage) }
        ),
        Row(
            name: "a page as long as the image",
            answer: { _, connection in
                connection.answer(
                    "200 OK",
                    ["Content-Type: text/html"],
                    random(200_000, seed: 5)
                )
            },
            reason: { $0 == .download(.webPage) }
        ),
        Row(
            name: "other bytes of the right length",
            answer: { _, connection in
                connection.answer("200 OK", [], random(200_000, seed: 5))
            },
            reason: { error in
                if case .image(.wrongDigest) = error { return true }
                return false
            }
        ),
        Row(
            name: "a part where all was asked for",
            answer: { _, connection in
                connection.answer(
                    "206 Partial Content",
                    ["Content-Range: bytes 0-199999/200000"],
                    file
                )
            },
            reason: isBad
        ),
        Row(
            name: "no such thing",
            answer: { _, connection in
                connection.answer("404 Not Found")
            },
            reason: isStatus(404)
        ),
        Row(
            name: "nothing new",
            answer: { _, connection in
                connection.answer("304 Not Modified")
            },
            reason: isStatus(304)
        ),
        Row(
            name: "no content",
            answer: { _, connection in
                connection.answer("204 No Content")
            },
            reason: isStatus(204)
        ),
        Row(
            name: "an error of its own, forever",
            answer: { _, connection in
                connection.answer("503 Service Unavailable")
            },
            reason: isStatus(503)
        ),
        Row(
            name: "a redirect to a file",
            answer: { _, connection in
                connection.answer("302 Found", ["Location: file:///etc/passwd"])
            },
            reason: { $0 == .download(.weakerRedirect) }
        ),
        Row(
            name: "a redirect to another protocol",
            answer: { _, connection in
                connection.answer("302 Found", ["Location: ftp://127.0.0.1/x"])
            },
            reason: { $0 == .download(.weakerRedirect) }
        ),
        Row(
            name: "a redirect to itself",
            answer: { _, connection in
                connection.answer("302 Found", ["Location: /image.bin"])
            },
            reason: { $0 == .download(.tooManyRedirects(5)) }
        ),
        Row(
            name: "a redirect to nowhere",
            answer: { _, connection in
                connection.answer("302 Found", [])
            },
            reason: isStatus(302)
        ),
        Row(
            name: "a content coding that nobody asked for",
            answer: { _, connection in
                connection.answer("200 OK", ["Content-Encoding: gzip"], file)
            },
            reason: nil
        ),
        Row(
            name: "trailers that take all back",
            answer: { _, connection in
                connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n30D40\r\n")
                connection.send(file)
                connection.send("\r\n0\r\nContent-Length: 7\r\nContent-Range: bytes 1-2/3\r\n\r\n")
            },
            reason: nil
        ),
        Row(
            name: "early hints first",
            answer: { _, connection in
                connection.send("HTTP/1.1 103 Early Hints\r\nContent-Length: 3\r\n\r\n")
                connection.answer("200 OK", [], file)
            },
            reason: nil
        ),
        Row(
            name: "a redirect that is in order",
            answer: { request, connection in
                if request.path == "/image.bin" {
                    connection.answer("302 Found", ["Location: /other.bin"], [1, 2, 3])
                } else {
                    connection.answer("200 OK", [], file)
                }
            },
            reason: nil
        ),
    ]

    @Test(arguments: rows, [false, true])
    func `a hostile server gives a clear error or the right file`(
        row: Row,
        isInPlace: Bool
    ) async throws {
        let scratch = try Scratch()
        let most = Mutex(0)
        let server = try HostileServer { request, connection in
            row.answer(request, connection)
            most.withLock { $0 = max($0, usage(scratch.path).bytes) }
        }
        var settings = row.settings
        settings.inPlaceSize = isInPlace ? ByteCount(count: 1 << 20) : .zero
        let result = try await fetch(
            try request(Self.digest, size: row.size, limit: row.limit),
            from: [try web(server.url())],
            into: scratch.path,
            settings: settings
        )
        let cap = (row.limit ?? row.size ?? 0) + 4_096
        #expect(most.withLock { $0 } <= cap)
        #expect(usage(scratch.path).bytes <= cap)
        if let reason = row.reason {
            let found = try #require(result.firstReason, "\(result)")
            #expect(reason(found), "\(found)")
            #expect(!files(below: scratch.path).contains { !$0.contains(".") })
        } else {
            #expect(try result.get() == Self.file)
        }
    }

    @Test func `nothing listens there`() async throws {
        let scratch = try Scratch()
        let port = try ClosedPort()
        let result = try await fetch(
            try request(Self.digest),
            from: [try web("http://127.0.0.1:\(port.number)/x")],
            into: scratch.path
        )
        withExtendedLifetime(port) {}
        guard case .download(.unreachable) = result.firstReason else {
            Issue.record("\(result)")
            return
        }
    }

    @Test func `a bomb of content coding is never inflated`() async throws {
        let scratch = try Scratch()
        // The body claims to be gzip: exactly the bytes on the wire are stored.
        let bomb = [UInt8](repeating: 0x1F, count: 128)
        let server = try HostileServer { _, connection in
            connection.answer("200 OK", ["Content-Encoding: gzip"], bomb)
        }
        let result = try await fetch(
            try request(SHA256.digest(of: bomb), size: 128),
            from: [try web(server.url())],
            into: scratch.path
        )
        #expect(try result.get() == bomb)
        #expect(server.seen.allSatisfy { $0.header("Accept-Encoding") == nil })
    }
}

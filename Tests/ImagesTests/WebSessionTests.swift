import Base
import Images
import Testing
import Workbench

/// Several requests to one server, with headers that may be secrets.
@Suite struct WebSessionTests {
    private static func ask(
        _ session: WebSession,
        _ method: SessionRequest.Method,
        _ server: HostileServer,
        body: [UInt8] = [],
        headers: [(name: String, value: String)] = [("Authorization", "GatewayToken sesame")]
    ) async throws -> Result<[UInt8], DownloadError> {
        let address = try #require(WebAddress(server.url("/bike-1"), allowsHTTP: true))
        return await session.ask(
            SessionRequest(method, address, headers: headers, body: body),
            limit: ByteCount(count: 100),
            within: .seconds(60),
            at: WallTime(milliseconds: 0)
        )
    }

    private static func within(_ body: (WebSession) async throws -> Void) async throws {
        let session = try WebSession(hastySettings())
        let result: Result<Void, any Error>
        do { result = .success(try await body(session)) } catch { result = .failure(error) }
        session.end()
        try result.get()
    }

    @Test func `each method arrives with its headers and body, and success may be empty`()
        async throws
    {
        let server = try HostileServer { request, connection in
            let token = request.header("Authorization") ?? "nobody"
            switch request.number {
            case 0: connection.answer("200 OK", [], Array(token.utf8))
            case 1: connection.answer("201 Created", [], [1])
            default: connection.answer("204 No Content")
            }
        }
        try await Self.within { session in
            let got = try await Self.ask(session, .get, server).get()
            #expect(got == Array("GatewayToken sesame".utf8))
            let words = Array(#"{"status":1}"#.utf8)
            let posted = try await Self.ask(session, .post, server, body: words).get()
            #expect(posted == [1])
            #expect(try await Self.ask(session, .put, server, body: words).get().isEmpty)
        }
        let seen = server.seen.map { $0.head.split(separator: " ")[0] }
        #expect(seen == ["GET", "POST", "PUT"])
        #expect(server.seen.map { $0.header("Content-Length") } == [nil, "12", "12"])
    }

    @Test func `what has not changed is no redirect, and a redirect is not followed`()
        async throws
    {
        let other = try HostileServer { _, connection in connection.answer("200 OK") }
        let place = other.url("/")
        let server = try HostileServer { request, connection in
            if request.number == 0 {
                connection.answer("304 Not Modified")
            } else {
                connection.answer("307 Temporary Redirect", ["Location: \(place)"])
            }
        }
        try await Self.within { session in
            let same = try await Self.ask(session, .get, server)
            #expect(same == .failure(.status(304, retryAfter: nil)))
            #expect(try await Self.ask(session, .get, server) == .failure(.redirected))
        }
        #expect(other.seen.isEmpty)
    }

    @Test func `a server says when to come again`() async throws {
        let server = try HostileServer { _, connection in
            connection.answer("429 Too Many Requests", ["Retry-After: 7"])
        }
        try await Self.within { session in
            let answer = try await Self.ask(session, .get, server)
            #expect(answer == .failure(.status(429, retryAfter: .seconds(7))))
        }
    }

    @Test func `an endless answer ends`() async throws {
        let server = try HostileServer { _, connection in
            connection.answer("200 OK", [], Array(repeating: 0x61, count: 101))
        }
        try await Self.within { session in
            guard case .failure(.tooLong) = try await Self.ask(session, .get, server) else {
                Issue.record("it was taken")
                return
            }
        }
    }
}

import Base
import Images
import Testing
import Workbench

/// One request to a server, with a header that may be a secret.
@Suite struct WebQueryTests {
    private static func ask(
        _ server: HostileServer,
        limit: Int = 100
    ) async throws -> Result<[UInt8], DownloadError> {
        let address = try #require(WebAddress(server.url("/token"), allowsHTTP: true))
        return await WebQuery(to: address, headers: [("Authorization", "Bearer sesame")]).ask(
            limit: try #require(ByteCount(bytes: limit)),
            within: .seconds(60),
            at: WallTime(milliseconds: 0),
            settings: FetchSettings()
        )
    }

    @Test func `the header goes with the question, and the answer comes whole`() async throws {
        let server = try HostileServer { request, connection in
            let name = request.header("Authorization") ?? "nobody"
            connection.answer("200 OK", [], Array(name.utf8))
        }
        let answer = try await Self.ask(server)
        #expect(try answer.get() == Array("Bearer sesame".utf8))
    }

    @Test func `a redirect is not followed, for the header would go with it`() async throws {
        let other = try HostileServer { _, connection in connection.answer("200 OK") }
        let place = other.url("/")
        let server = try HostileServer { _, connection in
            connection.answer("302 Found", ["Location: \(place)"])
        }
        let answer = try await Self.ask(server)
        #expect(throws: DownloadError.self) { try answer.get() }
        #expect(other.seen.isEmpty && server.seen.count == 1)
    }

    @Test func `what is too long, or no success, is an error`() async throws {
        let long = try HostileServer { _, connection in
            connection.answer("200 OK", [], Array(repeating: 0x61, count: 101))
        }
        let tooLong = try await Self.ask(long)
        #expect(throws: DownloadError.self) { try tooLong.get() }
        let refused = try HostileServer { _, connection in
            connection.answer("403 Forbidden", [], Array("no".utf8))
        }
        guard case .failure(.status(403, _)) = try await Self.ask(refused) else {
            Issue.record("it was taken")
            return
        }
    }
}

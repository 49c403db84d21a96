import Base
import Images
import Servers
import Site
import Store
import Synchronization
import Testing
import Workbench

/// Time that passes only while somebody waits.
private final class WaitedTime: Timekeeper {
    private let moment = Mutex(Moment(nanoseconds: 0))

    var now: Moment { moment.withLock { $0 } }
    var wallTime: WallTime { StillTime().wallTime }

    func sleep(until deadline: Moment, for purpose: @autoclosure () -> String) async {
        moment.withLock { $0 = max($0, deadline) }
    }
}

/// The way to a server over the network, with servers that answer anything.
@Suite struct WebLineTests {
    private func settings(_ url: String, _ more: String = "") throws -> ServerSettings {
        let text = serversText.replacing(
            "url: https://updates.example/DEFAULT",
            with: "url: \(url)\n    allow-http: true\n    \(more)"
        )
        return try #require(ServersReader.read(text.bytes, path: "servers.yaml").servers?.first)
    }

    private func within<R>(
        _ settings: ServerSettings,
        _ tokens: [String: String] = [:],
        time: any Timekeeper = WaitedTime(),
        until isStopped: @escaping @Sendable () -> Bool = { false },
        _ body: (WebLine) async throws -> R
    ) async throws -> R {
        let line = try WebLine(
            to: settings,
            with: tokens.mapValues { Secret($0.bytes) },
            time: time,
            seed: 1,
            until: isStopped
        ) { settings throws(DownloadError) in
            var settings = settings
            (settings.proxy, settings.withoutProxy) = (nil, "*")
            return try WebSession(settings)
        }
        let result: Result<R, any Error>
        do { result = .success(try await body(line)) } catch { result = .failure(error) }
        await line.end()
        return try result.get()
    }

    @Test func `the gateway's token, or that of each controller, goes to the server`() async throws
    {
        let server = try HostileServer { _, connection in
            connection.answer("200 OK", [], "{}".bytes)
        }
        let gateway = try settings(server.url("/DEFAULT"), "gateway-token: env:T")
        try await within(gateway, ["": "sesame"]) { line in
            _ = await line.ask(ServerRequest(.get, "bike-1"))
        }
        let own = try settings(server.url("/DEFAULT"), "controller-token: \"file:tokens/{serial}\"")
        try await within(own, ["bike-1": "one", "bike-2": "two"]) { line in
            for controller in ["bike-1", "bike-2", "bike-3"] {
                _ = await line.ask(
                    ServerRequest(.post([]), controller, "deploymentBase/5/feedback")
                )
            }
        }
        let sent = server.seen.map { $0.header("Authorization") }
        #expect(sent == ["GatewayToken sesame", "TargetToken one", "TargetToken two", nil])
        #expect(server.seen.map(\.path)[0] == "/DEFAULT/controller/v1/bike-1")
        #expect(
            server.seen.map(\.path)[1]
                == "/DEFAULT/controller/v1/bike-1/deploymentBase/5/feedback"
        )
    }

    @Test(arguments: [
        ("401 Unauthorized", "the server refuses the token for bike-1"),
        (
            "403 Forbidden",
            "the server forbids this to bike-1: its token may not do it, or a limit of the server is reached"
        ),
    ])
    func `a server that forbids something is not said to refuse the token`(
        status: String,
        why: String
    ) async throws {
        let server = try HostileServer { _, connection in connection.answer(status, [], []) }
        let answer = try await within(try settings(server.url("/DEFAULT"))) { line in
            await line.ask(ServerRequest(.post([]), "bike-1", "deploymentBase/5/feedback"))
        }
        #expect(answer == .failure(ServerFault(why, isSilence: false)))
        #expect(server.seen.count == 1)
    }

    @Test func `a server that demands a certificate gets it, and another one is refused`()
        async throws
    {
        let scratch = try Scratch()
        try makeCertificates(in: scratch.path)
        let folder = scratch.path + "/DEFAULT/controller/v1"
        _ = try run("mkdir", "-p", folder)
        try write("HTTP/1.0 200 OK\r\n\r\n{}".bytes, to: folder + "/bike-1")
        let server = try TLSServer(
            in: scratch.path,
            [
                "-cert", "server.pem", "-key", "server.key", "-CAfile", "authority.pem", "-Verify",
                "1",
                "-verify_return_error",
            ]
        )
        var answers: [ServerAnswer] = []
        for client in ["by-authority", "by-stranger"] {
            let files = [
                "ca: \(scratch.path)/authority.pem",
                "certificate: \(scratch.path)/\(client).pem", "key: \(scratch.path)/\(client).key",
            ]
            let settings = try settings(
                server.url("DEFAULT"),
                files.joined(separator: "\n    ")
            )
            answers.append(
                try await within(settings) { line in
                    await line.ask(ServerRequest(.get, "bike-1"))
                }
            )
        }
        #expect(answers[0] == .success("{}".bytes))
        guard case .failure = answers[1] else {
            Issue.record("\(answers[1])")
            return
        }
    }

    /// A server of the network that answers as the one in memory, when it is not `busy`.
    private func serve(
        _ yard: ServedYard,
        busy: @escaping @Sendable (HostileServer.Request) -> String?
    ) throws -> HostileServer {
        let memory = yard.server
        let server = try HostileServer { request, connection in
            if let status = busy(request) {
                connection.answer(status, ["Retry-After: 7"])
                return
            }
            let parts = request.path.split(separator: "/").dropFirst(3).map { String($0) }
            if request.path.contains("/files/") {
                connection.answer("200 OK", [], memory.with { $0.files["tracker.img"] ?? [] })
                return
            }
            let place = parts.dropFirst().joined(separator: "/")
            // A word of which the server has only the head is a report of progress here.
            let answer =
                request.head.hasPrefix("GET")
                ? memory.answer(ServerRequest(.get, parts[0], place))
                : ServerAnswer.success([])
            switch answer {
            case .success(let bytes): connection.answer("200 OK", [], bytes)
            case .absent: connection.answer("410 Gone")
            case .failure: connection.answer("500 Internal Server Error")
            }
        }
        memory.with {
            $0.host = "127.0.0.1"
            $0.fileHost = "127.0.0.1:\(server.port)"
            $0.scheme = "http"
        }
        return server
    }

    @Test func `a server that is busy before every answer is obeyed, and gets each word`()
        async throws
    {
        let asked = Mutex<Set<String>>([])
        let time = WaitedTime()
        let yard = try await ServedYard()
        yard.server.assign(.init(id: "5", controller: "bike-tag-1"))
        let server = try serve(yard) { request in
            let isNew = asked.withLock { $0.insert(request.head).inserted }
            return isNew ? "429 Too Many Requests" : nil
        }
        let local = try settings(server.url("/DEFAULT"))
        let sync = try await within(local, time: time) { line in
            yard.line = line
            return try await yard.sync(local)
        }
        await yard.end()
        #expect(sync.work.count == 1)
        #expect(sync.rows.allSatisfy { $0.isFinished })
        // A poll of each vehicle, the action, the file and the report of progress: each of them twice.
        #expect(server.seen.count == 10)
        #expect(time.now >= Moment(nanoseconds: 5 * 7_000_000_000))
    }

    @Test func `a server that is busy for too long leaves everything as it is`() async throws {
        let yard = try await ServedYard()
        yard.server.assign(.init(id: "5", controller: "bike-tag-1"))
        let server = try serve(yard) { _ in "429 Too Many Requests" }
        let local = try settings(server.url("/DEFAULT"))
        let sync = try await within(local) { line in
            yard.line = line
            return try await yard.sync(local)
        }
        await yard.end()
        #expect(sync.work.isEmpty && sync.rows.allSatisfy { !$0.isFinished })
        #expect(server.seen.count == 8)
    }

    @Test func `a server in maintenance takes ten minutes of a night at most`() async throws {
        let server = try HostileServer { _, connection in
            connection.answer("503 Service Unavailable", ["Retry-After: 250"])
        }
        let time = WaitedTime()
        try await within(try settings(server.url("/DEFAULT")), time: time) { line in
            for controller in ["bike-1", "bike-2", "bike-3"] {
                guard case .failure(let fault) = await line.ask(ServerRequest(.get, controller))
                else {
                    Issue.record("no failure")
                    return
                }
                #expect(fault.isSilence)
            }
        }
        // The first vehicle waits twice; what is left is too short for a third rest.
        #expect(server.seen.count == 5)
        #expect(time.now < Moment(nanoseconds: 600_000_000_000))
    }

    @Test func `a rest that a server demands ends with the command`() async throws {
        let server = try HostileServer { _, connection in
            connection.answer("503 Service Unavailable", ["Retry-After: 300"])
        }
        let time = WaitedTime()
        let settings = try settings(server.url("/DEFAULT"))
        let answer = try await within(settings, time: time, until: { !server.seen.isEmpty }) {
            line in
            await line.ask(ServerRequest(.get, "bike-1"))
        }
        guard case .failure = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(server.seen.count == 1)
        #expect(time.now < Moment(nanoseconds: 5_000_000_000))
    }

    private static let base =
        #"{"_links":{"deploymentBase":{"href":"http://127.0.0.1/deploymentBase/5"}}}"#

    /// What a hostile server answers to a poll, and to the question for its action.
    private static let answers: [(name: String, poll: String, action: String)] = [
        ("nothing", "", ""),
        ("no JSON", "<html>log in</html>", ""),
        ("an endless document", String(repeating: " ", count: 5 << 20), ""),
        ("JSON without an end", String(repeating: "[", count: 100_000), ""),
        ("a link to another host", base.replacing("127.0.0.1", with: "evil.example"), ""),
        ("a link to another place", base.replacing("deploymentBase/5", with: "files/5"), ""),
        ("an id that is a path", base.replacing("/5", with: "/..%2f5"), ""),
        ("a long id", base.replacing("/5", with: "/" + String(repeating: "5", count: 65)), ""),
        ("an action that is no JSON", base, "{"),
        ("an endless action", base, String(repeating: " ", count: 5 << 20)),
        (
            "another action", base,
            #"{"id":"6","deployment":{"download":"forced","update":"forced","chunks":[]}}"#
        ),
        (
            "an urgency of its own", base,
            #"{"id":"5","deployment":{"download":"now","update":"forced","chunks":[]}}"#
        ),
        (
            "too much software", base,
            #"{"id":"5","deployment":{"download":"forced","update":"forced","chunks":["#
                + [String](repeating: #"{"name":"a","version":"1","artifacts":[]}"#, count: 65)
                .joined(separator: ",") + "]}}"
        ),
        (
            "a file of no size", base,
            #"{"id":"5","deployment":{"download":"forced","update":"forced","chunks":[{"name":"a","version":"1","artifacts":["#
                + #"{"filename":"a.img","hashes":{"sha1":"00"},"size":-1}]}]}}"#
        ),
    ]

    @Test(arguments: answers.map(\.name))
    func `a hostile answer ends the conversation, and nothing is taken`(name: String) async throws {
        let answer = try #require(Self.answers.first { $0.name == name })
        let yard = try await ServedYard()
        let server = try HostileServer { request, connection in
            let isPoll = !request.path.contains("deploymentBase")
            connection.answer("200 OK", [], (isPoll ? answer.poll : answer.action).bytes)
        }
        let local = try settings(server.url("/DEFAULT"))
        let sync = try await within(local) { line in
            yard.line = line
            return try await yard.sync(local)
        }
        #expect(sync.work.isEmpty && sync.rows.allSatisfy { !$0.isFinished })
        #expect(server.seen.count <= 4)
        #expect(try await yard.journal.serverActions(server: "office").isEmpty)
        await yard.end()
    }

    @Test func `a loop of redirects is not entered`() async throws {
        let place = Mutex("")
        let server = try HostileServer { _, connection in
            connection.answer("302 Found", ["Location: \(place.withLock { $0 })"])
        }
        place.withLock { $0 = server.url("/DEFAULT/controller/v1/bike-1") }
        let answer = try await within(try settings(server.url("/DEFAULT"))) { line in
            await line.ask(ServerRequest(.get, "bike-1"))
        }
        guard case .failure = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(server.seen.count == 1)
    }

    @Test func `two thousand vehicles are polled within five minutes, and never in a burst`()
        async throws
    {
        var pace = Pace(requestsPerSecond: 10, seed: 7)
        var now = Moment(nanoseconds: 0)
        var times: [Int64] = []
        for _ in 0..<2_000 {
            // A machine that is busy wakes up late now and then.
            now = pace.next(at: now).advanced(by: .milliseconds(times.count % 5 == 0 ? 40 : 0))
            pace.sent(at: now)
            times.append(now.nanoseconds)
        }
        let gaps = zip(times, times.dropFirst()).map { $1 - $0 }
        #expect(gaps.allSatisfy { $0 >= 110_000_000 })
        #expect(try #require(times.last) < 300_000_000_000)
    }
}

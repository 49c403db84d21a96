import Base
import Foundation
import Manifest
import Operations
import Synchronization
import Testing
import Workbench

extension Program {
    /// The rehearsal whose notices are asked for.
    fileprivate var notified: [String] { steeredRun + ["--notify"] }
}

/// Notifications of the end of a run: each target gets one or is reported as not notified, and no
/// run is delayed.
@Suite struct NotifyTests {
    /// The requests that a server has received.
    private final class Post: Sendable {
        struct Letter: Sendable {
            let head: String
            let body: String
        }

        private let list = Mutex<[Letter]>([])
        var letters: [Letter] { list.withLock { $0 } }
        func add(_ letter: Letter) { list.withLock { $0.append(letter) } }

        func to(_ path: String) -> [Letter] { letters.filter { $0.head.contains("POST \(path) ") } }
    }

    private func server(
        _ post: Post,
        answer: @escaping @Sendable (HostileServer.Connection, Int) -> Void = { connection, _ in
            connection.answer("202 Accepted")
        }
    ) throws -> HostileServer {
        try HostileServer { request, connection in
            let length = request.header("Content-Length").flatMap { Int($0) } ?? 0
            var body = [UInt8](repeating: 0, count: length)
            var got = 0
            while got < length {
                let count = body[got...].withUnsafeMutableBytes {
                    recv(connection.socket, $0.baseAddress, $0.count, 0)
                }
                guard count > 0 else { return }
                got += count
            }
            post.add(
                Post.Letter(head: request.head, body: String(decoding: body, as: UTF8.self))
            )
            answer(connection, request.number)
        }
    }

    /// A rollout of two vehicles, one of which keeps its old version.
    private func program(_ list: String) throws -> Program {
        try program(list, in: Program.steered(2, bad: 1, rollout: "{waves: [rest]}"))
    }

    private func program(_ list: String, in program: Program) throws -> Program {
        try FileManager.default.createDirectory(
            atPath: program.state,
            withIntermediateDirectories: true
        )
        try program.write("state/notify.yaml", list)
        return program
    }

    private func list(_ program: Program, _ more: String...) throws -> String {
        try program.run(["notify", "list", "--state", program.state] + more).output
    }

    @Test func `what is signed is what Standard Webhooks say`() {
        let body =
            #"{"schema":1,"type":"rollout.paused","rollout":"city-4.12","gateway":"north-1","run":42,"#
            + #""reason":"gate","failed":4,"attempted":57}"#
        #expect(
            NotifyMessage.signature(
                "evt_42_1107",
                "1795305600",
                body,
                key: Array("yardmaster-webhook-test-secret-0".utf8)
            ) == "v1,p4+xESL0odwR/WqfJ+3CSXnIpyfZxHc09nULY4e6CSw="
        )
        // RFC 4231, test case 2.
        #expect(
            HMAC.code(of: Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8))
                .map { String(format: "%02x", $0) }.joined()
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        )
    }

    @Test func `after a bad night everybody is notified once, each in its own way`() throws {
        let post = Post()
        let server = try server(post)
        let program = try program(
            """
            sendmail: /bin/sh-is-replaced
            targets:
              crew: {mail: crew@example.com}
              hook: {webhook: "\(server.url("/hook"))", key: "file:hook.key"}
              phone: {ntfy: "\(server.url("/topic"))", token: "file:ntfy.token"}
              alerts: {alertmanager: "\(server.url(""))"}
              watchdog: {healthcheck: "\(server.url("/ping"))"}
              pager: {program: [/bin/sh, -c, "cat >> pager"]}
              glad: {webhook: "\(server.url("/glad"))", when: [ended]}
            """
        )
        let mailer = try program.write(
            "sendmail",
            "#!/bin/sh\necho \"$@\" >> '\(program.folder.path)/mail'\n"
                + "cat >> '\(program.folder.path)/mail'\n",
            mode: 0o700
        )
        let path = program.state + "/notify.yaml"
        try String(contentsOfFile: path, encoding: .utf8)
            .replacingOccurrences(of: "/bin/sh-is-replaced", with: mailer)
            .write(toFile: path, atomically: true, encoding: .utf8)
        try program.write("state/hook.key", "a-key-for-hooks\n")
        try program.write("state/ntfy.token", "a-token-for-ntfy\n")
        let run = try program.run(program.notified)
        #expect(run.status == 10)
        #expect(!run.errors.contains("was not notified"), "\(run.errors)")

        let hook = try #require(post.to("/hook").first)
        #expect(post.to("/hook").count == 1)
        let json = try JSONValue(json: hook.body)
        #expect(json["type"] == "failed" && json["rollout"] == "steered" && json["exit"] == 10)
        #expect(json["rehearsal"] == true)
        #expect(json["vehicles"]?.array?.first?["vehicle"] == "v1")
        #expect(json["vehicles"]?.array?.first?["work"] == "mechanic")
        func header(_ name: String) -> String {
            hook.head.split(separator: "\r\n").first { $0.hasPrefix(name + ": ") }
                .map { String($0.dropFirst(name.count + 2)) } ?? ""
        }
        #expect(
            header("webhook-signature")
                == NotifyMessage.signature(
                    header("webhook-id"),
                    header("webhook-timestamp"),
                    hook.body,
                    key: Array("a-key-for-hooks".utf8)
                )
        )
        let phone = try #require(post.to("/topic").first)
        #expect(phone.head.contains("Authorization: Bearer a-token-for-ntfy\r\n"))
        #expect(
            phone.head.contains(
                "Title: yardmaster (rehearsal): steered has failed: 1 succeeded, 1 "
            )
        )
        #expect(phone.head.contains("Priority: 3\r\nTags: rehearsal\r\n"), "\(phone.head)")
        #expect(phone.body.hasPrefix("a rehearsal: no vehicle was touched\n"), "\(phone.body)")
        #expect(phone.body.contains("\nv1: ") && phone.body.contains("next: yardmaster status"))
        let alert = try JSONValue(json: try #require(post.to("/api/v2/alerts").first).body)
        #expect(alert.array?.first?["labels"]?["alertname"] == "Yardmaster_rehearsal_failed")
        #expect(alert.array?.first?["labels"]?["severity"] == "info")
        #expect(post.to("/ping/log").count == 1 && post.to("/ping/fail").isEmpty)
        #expect(post.to("/glad").isEmpty)
        let mail = try String(contentsOfFile: program.folder.path + "/mail", encoding: .utf8)
        #expect(mail.hasPrefix("-t -i\nTo: crew@example.com\n"))
        #expect(
            mail.contains("\nSubject: yardmaster (rehearsal): steered has failed: 1 succeeded, 1 ")
        )
        let pager = try String(contentsOfFile: program.folder.path + "/pager", encoding: .utf8)
        #expect(try JSONValue(json: pager)["type"] == "failed")

        // No target is notified again, whatever other commands do.
        #expect(try program.run(["notify", "send", "--state", program.state]).status == 0)
        #expect(post.letters.count == 4)
        #expect(try list(program, "--quiet") == "")
        let all = try list(program)
        #expect(all.split(separator: "\n").count { $0.contains("  notified ") } == 6, "\(all)")
        // No secret is printed or stored.
        let journal = try Data(contentsOf: URL(filePath: program.state + "/journal.sqlite"))
        for secret in ["a-key-for-hooks", "a-token-for-ntfy", "/topic"] {
            #expect(!(run.errors + run.output + all).contains(secret), "\(secret)")
            #expect(journal.range(of: Data(secret.utf8)) == nil, "\(secret)")
        }
    }

    @Test func `who cannot be told is named, and the run is what it was`() throws {
        let post = Post()
        let redirecting = try server(post) { connection, _ in
            connection.answer("302 Found", ["Location: http://127.0.0.1:1/elsewhere"])
        }
        let flooding = try server(post) { connection, _ in
            connection.send("HTTP/1.1 200 OK\r\n")
            while connection.send("X-Noise: " + String(repeating: "n", count: 8_000) + "\r\n") {}
        }
        let refusing = try server(post) { connection, _ in connection.answer("410 Gone") }
        let failing = try server(post) { connection, number in
            connection.answer(number == 0 ? "503 Service Unavailable" : "200 OK")
        }
        let program = try program(
            """
            sendmail: /nowhere/sendmail
            targets:
              crew: {mail: crew@example.com}
              down: {webhook: "http://127.0.0.1:1/x"}
              redirecting: {webhook: "\(redirecting.url("/r"))"}
              flooding: {webhook: "\(flooding.url("/f"))"}
              refusing: {webhook: "\(refusing.url("/g"))"}
              failing: {webhook: "\(failing.url("/s"))"}
              pager: {program: [/bin/false]}
            """
        )
        let run = try program.run(program.notified)
        #expect(run.status == 10)
        #expect(run.lastLine.hasSuffix("exit=10"))
        for target in ["crew", "down", "redirecting", "flooding", "refusing", "failing", "pager"] {
            #expect(
                run.errors.contains("yardmaster: warning: \(target) was not notified: "),
                "\(target): \(run.errors)"
            )
        }
        let open = try list(program, "--quiet")
        #expect(open.contains("undelivered, given up: /nowhere/sendmail: No such file"))
        let finals = open.split(separator: "\n").filter { $0.contains("given up") }
            .map { String($0.prefix { $0 != " " }) }
        #expect(finals.sorted() == ["crew", "redirecting", "refusing"], "\(open)")
        // The address would give access, so only its host is shown.
        #expect(!open.contains("/elsewhere") && !run.errors.contains("/s;"))
        // A temporary failure is tried again after its pause, and then the target is notified once.
        try wait(for: "the pause to be over") {
            _ = try program.run(["notify", "send", "--quiet", "--state", program.state])
            return post.to("/s").count == 2
        }
        _ = try program.run(["notify", "send", "--quiet", "--state", program.state])
        #expect(post.to("/s").count == 2)
        #expect(post.to("/r").count == 1 && post.to("/g").count == 1)
        let ids = Set(post.to("/s").map { $0.body })
        #expect(ids.count == 1, "the words stay the same")
    }

    @Test func `a vehicle that is counted as failed is named, even if a run will do the rest`()
        throws
    {
        let yard = try PromiseYard(bikes: [", faults: [{link-lost-in: register, times: 90}]"])
        try yard.manifest(
            family: "comodule",
            steps: "[{read: speed}]",
            rollout: "{retry: {transient: 1}}"
        )
        _ = try program(
            "targets: {pager: {program: [/bin/sh, -c, \"cat >> pager\"]}}\n",
            in: yard.program
        )
        let run = try yard.run("yard", "--notify", "--json")
        #expect(run.status == 10, "\(run.output) \(run.errors)")
        let vehicle = try yard.vehicle("b1", in: run)
        #expect(
            vehicle["outcome"] as? String == "failed" && vehicle["class"] as? String == "transient"
        )
        let told = try JSONValue(
            json: try String(contentsOfFile: yard.program.folder.path + "/pager", encoding: .utf8)
        )
        #expect(told["counts"]?["failed"]?.integer == 1, "\(told)")
        #expect(told["vehicles"]?.array?.first?["vehicle"] == "b1", "\(told)")
    }

    /// The server receives the request and never answers: it is unknown whether it has processed
    /// it.
    @Test func `a server that is merely slow holds nobody up, and hears the same words again`()
        throws
    {
        let post = Post()
        let slow = try server(post) { connection, number in
            guard number == 0 else {
                connection.answer("202 Accepted")
                return
            }
            // Waits until the client gives up.
            var byte: UInt8 = 0
            _ = recv(connection.socket, &byte, 1, 0)
        }
        let quick = try server(post)
        let program = try program(
            """
            targets:
              slow: {webhook: "\(slow.url("/slow"))"}
              quick: {webhook: "\(quick.url("/quick"))"}
            """
        )
        let run = try program.run(program.notified)
        #expect(run.status == 10)
        #expect(
            run.errors.contains("yardmaster: warning: slow was not notified: "),
            "\(run.errors)"
        )
        #expect(!run.errors.contains("quick was not notified"))
        #expect(post.to("/slow").count == 1 && post.to("/quick").count == 1)
        let open = try list(program, "--quiet")
        #expect(open.contains("slow") && !open.contains("given up") && !open.contains("quick"))
        try wait(for: "the pause to be over") {
            _ = try program.run(["notify", "send", "--quiet", "--state", program.state])
            return post.to("/slow").count == 2
        }
        _ = try program.run(["notify", "send", "--quiet", "--state", program.state])
        #expect(post.to("/slow").count == 2 && post.to("/quick").count == 1)
        // The receiver can recognise the repeated message by its number.
        let letters = post.to("/slow")
        #expect(Set(letters.map(\.body)).count == 1)
        let numbers = letters.compactMap { letter -> Substring? in
            letter.head.split(separator: "\r\n").first { $0.hasPrefix("webhook-id: ") }
        }
        #expect(numbers.count == 2 && Set(numbers).count == 1, "\(numbers)")
    }

    @Test func `of a pause people are told once, and a watchdog of each run`() throws {
        let post = Post()
        let server = try server(post)
        let program = try program(
            """
            targets:
              hook: {webhook: "\(server.url("/hook"))"}
              watchdog: {healthcheck: "\(server.url("/ping"))"}
              glad: {webhook: "\(server.url("/glad"))", when: [ended]}
            """,
            in: Program.steered(3, rollout: "{waves: [1, 1, rest], between-waves: {ask: true}}")
        )
        func run(_ status: Int32) throws {
            let run = try program.run(program.notified)
            #expect(run.status == status, "\(run.errors)")
        }
        func resume() throws {
            #expect(try program.run(["resume", "--state", program.state]).status == 0)
        }
        for _ in 0..<3 { try run(12) }
        #expect(post.to("/hook").count == 1, "nothing has happened since")
        #expect(post.to("/ping/log").count == 3)
        // One more vehicle is done, and this pause is another one.
        try resume()
        for _ in 0..<2 { try run(12) }
        #expect(post.to("/hook").count == 2)
        let types = try post.to("/hook").map { try JSONValue(json: $0.body)["type"]?.string }
        #expect(types == ["paused", "paused"])
        try resume()
        try run(0)
        #expect(post.to("/hook").count == 2 && post.to("/ping/log").count == 6)
        let end = try JSONValue(json: try #require(post.to("/glad").first).body)
        #expect(end["exit"] == 0 && end["next"] == "", "nothing is left to do")
    }

    @Test func `a notice of real vehicles has the urgency that it deserves`() throws {
        let target = try #require(
            NotifyReader.read(
                Array("targets: {dog: {healthcheck: \"https://x.example/p\"}}".utf8),
                path: "notify.yaml"
            ).0?.targets.first
        )
        for (kind, path) in [(NotifyKind.failed, "/fail"), (.ended, ""), (.needsPerson, "")] {
            for isRehearsal in [false, true] {
                let notice = NotifyNotice(
                    kind: kind,
                    host: "north",
                    rollout: "steered",
                    reason: "2 failed",
                    time: WallTime(milliseconds: 0),
                    localTime: "now",
                    isRehearsal: isRehearsal
                )
                #expect(notice.title.contains("rehearsal") == isRehearsal)
                #expect(notice.text.contains("rehearsal") == isRehearsal)
                #expect(notice.json["rehearsal"] == (isRehearsal ? true : nil))
                #expect(NotifyNotice(notice.json) == notice)
                let message = NotifyMessage(
                    notice,
                    to: target,
                    id: "1",
                    at: notice.time,
                    NotifyMessage.Secrets()
                )
                guard case .web(let called, _, _) = message else {
                    Issue.record("no request: \(message)")
                    continue
                }
                #expect(called == (isRehearsal ? "/log" : path), "\(kind)")
            }
        }
    }

    @Test func `a test goes the same way, and says what did not arrive`() throws {
        let post = Post()
        let server = try server(post)
        let program = try program("targets: {a: {webhook: \"\(server.url("/a"))\"}}")
        try program.write(
            "more.yaml",
            try String(contentsOfFile: program.folder.path + "/steered.yaml", encoding: .utf8)
                + "notify: {targets: {b: {program: [/nowhere/b]}}}\n"
        )
        let one = try program.run(["notify", "test", "--state", program.state])
        #expect(one.status == 0, "\(one.errors)")
        #expect(one.output == "a: notified\n")
        let both = try program.run(
            ["notify", "test", "--manifest", "more.yaml", "--state", program.state]
        )
        #expect(both.status == 69)
        #expect(
            both.output == "a: notified\nb: not notified: /nowhere/b: No such file or directory\n"
        )
        let unknown = try program.run(["notify", "test", "c", "--state", program.state])
        #expect(unknown.status == 64)
        #expect(unknown.errors.contains("the targets are a"))
        #expect(post.to("/a").count == 2)
    }

    @Test func `a unit that failed is told of, unless its run has said so`() throws {
        let post = Post()
        let server = try server(post)
        let program = try program("targets: {a: {webhook: \"\(server.url("/a"))\"}}")
        let failure = ["notify", "failure", "yardmaster@x.service", "--state", program.state]
        let none = try program.run(
            failure,
            environment: ["MONITOR_EXIT_STATUS": "69", "MONITOR_INVOCATION_ID": "1"]
        )
        #expect(none.status == 0, "\(none.errors)")
        #expect(post.to("/a").count == 1)
        let json = try JSONValue(json: post.to("/a")[0].body)
        #expect(json["reason"] == "yardmaster@x.service has failed: exit 69")
        #expect(try program.run(program.notified).status == 10)
        #expect(post.to("/a").count == 2)
        // A rehearsal has the time of its own world, in which this is long ago.
        let again = try program.run(
            failure,
            environment: ["MONITOR_EXIT_STATUS": "69", "MONITOR_INVOCATION_ID": "1"]
        )
        #expect(again.status == 0)
        #expect(post.to("/a").count == 2, "each invocation once")
    }

    @Test func `an update server that is not used is reported once for each night of a unit`()
        throws
    {
        let post = Post()
        let server = try server(post)
        let program = try program(
            "targets: {a: {webhook: \"\(server.url("/a"))\", when: [failed]}}"
        )
        try program.write(
            "night.yaml",
            "name: night\nvehicles: [{id: B-1, serial: tag-1, family: mcumgr}]\nsteps: [{wait: 5s}]\n"
        )
        try program.write(
            "state/servers.yaml",
            """
            servers:
              office:
                url: https://updates.invalid/DEFAULT
                gateway-token: credential:office-token
                artifacts: [{image: {fits: {family: mcumgr}}}]
            """
        )
        let sync = ["sync", "night.yaml", "--state", program.state]
        // A person sees it.
        #expect(try program.run(sync).status == 78)
        #expect(post.letters.isEmpty)
        // The unit goes on with its run in any case, so its failure is told here: before the run, and after it.
        for night in ["1", "1", "2"] {
            let result = try program.run(sync, environment: ["INVOCATION_ID": night])
            #expect(result.status == 78, "\(result.errors)")
        }
        #expect(post.to("/a").count == 2)
        let notice = try JSONValue(json: post.to("/a")[0].body)
        #expect(
            notice["reason"]?.string?.contains("has its secret in credential:office-token") == true
        )
    }

    @Test func `when nothing was heard for too long, that is reported once`() throws {
        let post = Post()
        let server = try server(post)
        let program = try program(
            "silent-after: 1h\ntargets: {a: {webhook: \"\(server.url("/a"))\", when: [silent]}}"
        )
        #expect(try program.run(program.notified).status == 10)
        #expect(post.letters.isEmpty)
        // The night of a rehearsal is long ago, and nobody waits for another one.
        #expect(try program.run(["notify", "send", "--state", program.state]).status == 0)
        #expect(post.letters.isEmpty)
        let journal = program.state + "/journal.sqlite"
        #expect(try Workbench.run("sqlite3", journal, "UPDATE runs SET seed = NULL") == 0)
        for _ in 0..<2 {
            let send = try program.run(["notify", "send", "--state", program.state])
            #expect(send.status == 0, "\(send.errors)")
        }
        #expect(post.to("/a").count == 1)
        #expect(try JSONValue(json: post.to("/a")[0].body)["type"] == "silent")
    }

    @Test func `after a run that was cut off, silence is reported since its last sign`() throws {
        let post = Post()
        let server = try server(post)
        let program = try program(
            "silent-after: 1h\ntargets: {a: {webhook: \"\(server.url("/a"))\", when: [silent]}}"
        )
        let run = try program.begin("cut", program.steeredRun + ["--pace", "3"])
        #expect(run.waits(for: "transferring"))
        // Rehearsals have a time of their own, in which the last sign is long ago.
        let journal = program.state + "/journal.sqlite"
        #expect(try Workbench.run("sqlite3", journal, "UPDATE runs SET seed = NULL") == 0)
        let send = ["notify", "send", "--state", program.state]
        #expect(try program.run(send).status == 0)
        #expect(post.letters.isEmpty, "the run is at work")
        kill(run.process.processIdentifier, SIGKILL)
        _ = run.result()
        for _ in 0..<2 { #expect(try program.run(send).status == 0) }
        #expect(post.to("/a").count == 1)
        let json = try JSONValue(json: #require(post.to("/a").first).body)
        #expect(json["type"] == "silent")
        let sign = try #require(Tool("sqlite3")).run([journal, "SELECT max(time) FROM events"])
        #expect(json["unix-milliseconds"]?.integer.map { "\($0)\n" } == sign.output)
    }
}

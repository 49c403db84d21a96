import Base
import Foundation
import Show
import Site
import Testing
import Workbench

/// The actions that `serve` offers, and to whom; nothing else changes anything.
@Suite struct ServeActionTests {
    private static let anna = "0a1b2c3d4e5f60718293a4b5c6d7e8f9-anna"
    private static let board = "9f8e7d6c5b4a39281706f5e4d3c2b1a0-board"

    /// A machine after a bad night, with an access list of one operator and one reader.
    private struct Yard {
        let program: Program

        init() throws {
            program = try Program()
            try program.copyDemo()
            _ = try program.run(program.demo("depot-troubled"))
            try list()
        }

        func list(mode: Int = 0o600, operators: [String] = ["anna"]) throws {
            func digest(_ token: String) -> String { "\(SHA256.digest(of: Array(token.utf8)))" }
            let names = operators.map {
                "  \($0): {role: operator, token: \"sha256:\(digest(ServeActionTests.anna))\"}\n"
            }
            try program.write(
                "state/access.yaml",
                Data(
                    ("people:\n" + names.joined()
                        + "  board: {role: reader, token: \"sha256:\(digest(ServeActionTests.board))\"}\n")
                        .utf8
                ),
                mode: mode
            )
        }

        /// The whole journal, as its files.
        var journal: [Data?] {
            ["journal.sqlite", "journal.sqlite-wal"].map {
                let data = FileManager.default.contents(atPath: program.state + "/" + $0)
                return data?.isEmpty == true ? nil : data
            }
        }

        func said(_ words: String...) throws -> JSONValue {
            let result = try program.run(words + ["--json", "--state", program.state])
            return try JSONValue(json: result.output)
        }
    }

    /// A browser: the headers that it sends, and its cookie, once it has one.
    private struct Browser {
        let serving: Serving
        var cookie: String?

        init(_ serving: Serving, token: String) throws {
            self.serving = serving
            let answer = try post("/session", "token=\(token)")
            #expect(answer.status == 303 && answer.header("Location") == "/")
            let given = try #require(answer.header("Set-Cookie"))
            #expect(given.contains("; HttpOnly; SameSite=Strict; ") && !given.contains(token))
            cookie = String(given.prefix { $0 != ";" })
        }

        /// Without a session.
        init(_ serving: Serving, signedOut: Void) { self.serving = serving }

        func get(_ path: String) throws -> RawAnswer {
            try serving.get(path, cookie.map { ["Cookie: \($0)"] } ?? [])
        }

        func post(
            _ path: String,
            _ body: String,
            origin: String? = "http://localhost",
            _ more: [String] = []
        ) throws -> RawAnswer {
            var lines = [
                "POST \(path) HTTP/1.1", "Host: localhost", "Connection: close",
                "Content-Type: application/x-www-form-urlencoded",
                "Content-Length: \(body.utf8.count)",
            ]
            if let origin { lines.append("Origin: \(origin)") }
            if let cookie { lines.append("Cookie: \(cookie)") }
            return try serving.ask(
                (lines + more).joined(separator: "\r\n") + "\r\n\r\n" + body
            )
        }

        /// The fields of the form on a page, ready to be sent.
        func fields(_ page: RawAnswer) throws -> String {
            let fields = page.text.matches(of: /type="hidden" name="([^"]*)" value="([^"]*)"/)
            try #require(!fields.isEmpty, "\(page.text)")
            return fields.map { "\($0.1)=\(LiveTarget.escaped(String($0.2)))" }
                .joined(separator: "&")
        }

        /// Requests a form and sends it.
        func act(_ query: String, _ more: String = "") throws -> RawAnswer {
            let page = try get("/act?" + query)
            #expect(page.status == 200, "\(query): \(page.head)")
            return try post("/act", try fields(page) + more)
        }
    }

    private func send(_ serving: Serving, _ body: String, _ headers: [String]) throws -> RawAnswer {
        let lines = [
            "POST /api/v1/requests HTTP/1.1", "Host: localhost", "Connection: close",
            "Content-Length: \(body.utf8.count)",
        ]
        return try serving.ask((lines + headers).joined(separator: "\r\n") + "\r\n\r\n" + body)
    }

    private static let json = "Content-Type: application/json"

    private static func bearer(_ token: String) -> String { "Authorization: Bearer \(token)" }

    @Test func `an operator does on pages what the commands do, under his name`() throws {
        let yard = try Yard()
        let serving = try Serving(yard.program)
        let anna = try Browser(serving, token: Self.anna)
        let page = try anna.get("/").text
        #expect(page.contains("href=\"/act?request=pause&amp;rollout=demo-4.12\""))
        // It is over, so an abort would be refused.
        #expect(!page.contains("request=abort"))
        let paused = try anna.act("request=pause&rollout=demo-4.12", "&reason=brakes+%3Cb%3E")
        #expect(paused.status == 200 && paused.text.contains("demo-4.12: paused"))
        let status = try yard.said("status")
        #expect(status["author"]?.string == "anna (serve)")
        #expect(status.text.contains("paused by request: brakes <b>"))
        // The page shows the pause immediately, as text.
        #expect(try anna.get("/").text.contains("brakes &lt;b&gt;"))
        #expect(try anna.get("/").text.contains("request=resume"))
        #expect(try anna.act("request=resume&rollout=demo-4.12").text.contains("goes on"))
        #expect(try yard.said("status")["author"] == nil)
        // Nothing is set any more, and the page still shows who has lifted it.
        let resumed = try #require(try yard.said("status")["said"]?.array?.last)
        #expect(resumed["request"] == "resume" && resumed["rollout"] == "demo-4.12")
        #expect(resumed["author"] == "anna (serve)" && resumed["run"] == 1)
        for path in ["/", "/history"] {
            #expect(try anna.get(path).text.contains("resume demo-4.12"), "\(path)")
        }

        let vehicle = "&vehicle=bike-12"
        #expect(
            try anna.get("/vehicles/bike-12").text.contains(
                "request=inhibit" + "&amp;vehicle=bike-12"
            )
        )
        let left = try anna.act("request=inhibit" + vehicle, "&reason=painter&for=2d")
        #expect(left.text.contains("left alone until"))
        let inhibit = try #require(try yard.said("status")["inhibits"]?.array?.first)
        #expect(inhibit["vehicle"] == "bike-12" && inhibit["reason"] == "painter")
        #expect(inhibit["expires"]?.string != nil && inhibit["author"] == "anna (serve)")
        #expect(try anna.get("/vehicles/bike-12").text.contains("request=uninhibit"))
        #expect(try anna.act("request=uninhibit" + vehicle).text.contains("takes part again"))
        #expect(try yard.said("status")["inhibits"] == .array([]))
        let lifted = try #require(try yard.said("history")["said"]?.array?.first)
        #expect(lifted["request"] == "uninhibit" && lifted["vehicles"] == ["bike-12"])
        #expect(lifted["author"] == "anna (serve)")
        #expect(
            try anna.act("request=clear" + vehicle).text.contains("bike-12: its update to")
        )
        #expect(try yard.said("show", "bike-12")["debts"] == .array([]))
        let again = try anna.act("request=retry&rollout=demo-4.12" + vehicle)
        #expect(again.text.contains("taken again by the next run: bike-12"), "\(again.text)")
        #expect(try anna.get("/").text.contains("request=abort"))
        #expect(try anna.act("request=abort&rollout=demo-4.12").text.contains("aborted"))
        // An impossible request is refused with a message, as on the command line.
        let late = try anna.act("request=resume&rollout=demo-4.12")
        #expect(late.status == 409 && late.text.contains("Nothing was changed"))
        #expect(!(try anna.get("/").text.contains("request=pause")))
        #expect(serving.stop() == 143)
    }

    @Test func `a program's requests have the documents of the commands`() throws {
        let yard = try Yard()
        let twin = try Program()
        try FileManager.default.copyItem(atPath: yard.program.state, toPath: twin.state)
        let serving = try Serving(yard.program)
        for (request, words) in [
            (#"{"request":"pause","reason":"brakes"}"#, ["pause", "--reason", "brakes"]),
            (#"{"request":"pause"}"#, ["pause"]),
            (#"{"request":"resume","rollout":"demo-4.12"}"#, ["resume"]),
            (
                #"{"request":"inhibit","vehicles":["bike-01","bike-02"]}"#,
                ["inhibit", "bike-01", "bike-02"]
            ),
            (#"{"request":"uninhibit","vehicles":["bike-0?"]}"#, ["uninhibit", "bike-0?"]),
            (
                #"{"request":"inhibit","all":true,"reason":"survey"}"#,
                ["inhibit", "--all", "--reason", "survey"]
            ),
            (#"{"request":"uninhibit","all":true}"#, ["uninhibit", "--all"]),
            (#"{"request":"clear","all":true}"#, ["clear", "--all"]),
            (#"{"request":"retry","vehicles":["@failed"]}"#, ["retry", "@failed"]),
            (#"{"request":"retry","vehicles":["bike-99"]}"#, ["retry", "bike-99"]),
            (#"{"request":"clear","vehicles":["bike-12"]}"#, ["clear", "bike-12"]),
            (#"{"request":"abort","rollout":"other"}"#, ["abort", "--rollout", "other"]),
            (#"{"request":"abort"}"#, ["abort"]),
            (#"{"request":"resume"}"#, ["resume"]),
        ] {
            let answer = try send(serving, request, [Self.json, Self.bearer(Self.anna)])
            let said = try twin.run(words + ["--json", "--state", twin.state])
            let document = try JSONValue(json: said.output)
            let given = try JSONValue(json: answer.text)
            if said.status == 0 {
                #expect(answer.status == 200 && given == document, "\(request): \(answer.text)")
            } else {
                #expect(answer.status == (said.status == 66 ? 404 : 409), "\(request)")
                #expect(given["error"]?["message"] == document["error"]?["message"])
            }
        }
        let hold = try yard.said("status")
        #expect(hold["author"]?.string == "anna (serve)")
    }

    @Test func `a request that is sent twice with its key is carried out once`() throws {
        let yard = try Yard()
        var serving = try Serving(yard.program)
        func send(_ body: String, _ key: String, _ more: [String] = []) throws -> RawAnswer {
            try self.send(
                serving,
                body,
                [Self.json, Self.bearer(Self.anna), "Idempotency-Key: \(key)"] + more
            )
        }
        func said() throws -> [String] {
            (try yard.said("history")["said"]?.array ?? []).compactMap { $0["request"]?.string }
        }
        let pause = #"{"request":"pause","reason":"brakes"}"#
        let first = try send(pause, "one")
        #expect(first.status == 200 && first.text.contains("demo-4.12: paused"))
        #expect(try yard.program.run(["resume", "--state", yard.program.state]).status == 0)
        // When the request is sent again, the answer is the same, and nothing is paused a second
        // time.
        let second = try send(pause, "one")
        #expect(second.status == 200 && second.text == first.text)
        #expect(try said() == ["resume", "pause"])
        // A different request with the same key is refused; another key makes a new request.
        let other = try send(#"{"request":"abort"}"#, "one")
        #expect(other.status == 422 && other.text.contains("another request was sent"))
        #expect(try said() == ["resume", "pause"])
        #expect(try send(pause, "two").text == first.text)
        #expect(try said() == ["pause", "resume", "pause"])
        // A refusal is a stored answer, too.
        let abort = #"{"request":"abort"}"#
        #expect(try send(abort, "three").status == 200)
        let refused = try send(pause, "four")
        #expect(refused.status == 409)
        #expect(try send(pause, "four").text == refused.text)
        // An unknown rollout is not stored as an answer: there may be such a rollout later.
        let unknown = #"{"request":"pause","rollout":"other"}"#
        #expect(try send(unknown, "five").status == 404)
        #expect(try send(abort, "five").text.contains("no change, it is aborted already"))
        // Invalid keys, and two of them.
        for key in ["", "a b", String(repeating: "x", count: 201)] {
            #expect(try send(pause, key).status == 400, "\(key)")
        }
        #expect(try send(pause, "six", ["Idempotency-Key: seven"]).status == 400)
        // The answer is kept over a restart.
        serving.kill()
        serving = try Serving(yard.program)
        let late = try send(pause, "one")
        #expect(late.status == 200 && late.text == first.text)
        #expect(try send(abort, "one").status == 422)
        #expect(try said() == ["abort", "pause", "resume", "pause"])
        // As after a kill in the middle: the request is neither reported as done nor repeated.
        let cut = "UPDATE replies SET status = 0, document = '' WHERE key = 'two'"
        let file = yard.program.state + "/journal.sqlite"
        try #require(try Workbench.run("sqlite3", file, cut) == 0)
        let doubtful = try send(pause, "two")
        #expect(doubtful.status == 409 && doubtful.text.contains("nobody knows how far"))
        #expect(try said() == ["abort", "pause", "resume", "pause"])
    }

    @Test func `anyone who has no right changes nothing`() throws {
        let yard = try Yard()
        let serving = try Serving(yard.program)
        let anna = try Browser(serving, token: Self.anna)
        let board = try Browser(serving, token: Self.board)
        var nobody = anna
        nobody.cookie = nil
        var forger = anna
        forger.cookie = "yardmaster=" + String(repeating: "0", count: 64)
        let query = "request=pause&rollout=demo-4.12"
        func form() throws -> String { try anna.fields(try anna.get("/act?" + query)) }
        let before = yard.journal

        // No token, a wrong one, and one that is too short: reading is refused, too.
        for path in ["/", "/vehicles", "/vehicles/bike-12", "/history", "/morning"] {
            #expect(try nobody.get(path).status == 401)
            #expect(try forger.get(path).status == 401)
            #expect(!(try nobody.get(path).text.contains("bike-")))
        }
        for path in ["/api/v1/status", "/api/v1/changes", "/metrics", "/api/v1/vehicles/bike-12"] {
            for header in [
                "X-None: 1", Self.bearer("x"), Self.bearer(Self.anna + "x"),
                "Authorization: Basic \(Self.anna)", "Authorization: Bearer",
            ] {
                let answer = try serving.get(path, [header])
                #expect(answer.status == 401 && !answer.text.contains("bike"), "\(path) \(header)")
            }
            let two = [Self.bearer(Self.anna), Self.bearer(Self.anna)]
            #expect(try serving.get(path, two).status == 401)
        }
        for path in ["/healthz", "/style.css", "/script.js"] {
            #expect(try serving.get(path).status == 200)
        }
        #expect(try serving.get("/api/v1/status", [Self.bearer(Self.board)]).status == 200)
        for token in ["x", Self.anna + "x", "", Self.anna.uppercased()] {
            #expect(try nobody.post("/session", "token=\(token)").status == 401)
        }

        // No session, a forged session, and a reader.
        #expect(try nobody.post("/act", try form()).status == 401)
        #expect(try forger.post("/act", try form()).status == 401)
        #expect(try board.get("/act?" + query).status == 403)
        #expect(try board.post("/act", try form()).status == 403)
        #expect(!(try board.get("/").text.contains("/act?")))
        #expect(try nobody.get("/act?" + query).status == 401)

        // A form that is sent by a page of another site, or by no page.
        for origin in [
            nil, "null", "http://evil.example", "http://localhost.evil.example",
            "http://localhost:1", "https://evil.example/http://localhost", "localhost", "",
        ] {
            #expect(
                try anna.post("/act", try form(), origin: origin).status == 403,
                "\(origin ?? "-")"
            )
            #expect(try anna.post("/session", "token=\(Self.anna)", origin: origin).status == 403)
        }
        for site in ["cross-site", "same-site", "none", ""] {
            let answer = try anna.post("/act", try form(), ["Sec-Fetch-Site: \(site)"])
            #expect(answer.status == 403, "\(site)")
        }
        let twice = ["Origin: http://localhost"]
        #expect(try anna.post("/act", try form(), twice).status == 403)

        // Without the mark, with another one, with another session's, and with that of another
        // request.
        let bare = "request=pause&rollout=demo-4.12"
        let other = try anna.fields(try anna.get("/act?request=abort&rollout=demo-4.12"))
        let mark = try #require(other.firstMatch(of: /mark=[0-9a-f]+/)).0
        let second = try Browser(serving, token: Self.anna)
        for body in [
            bare, bare + "&mark=", bare + "&mark=" + String(repeating: "0", count: 64),
            bare + "&" + mark, bare + "&reason=x&" + mark,
            try second.fields(try second.get("/act?" + query)),
        ] {
            #expect(try anna.post("/act", body).status == 403, "\(body)")
        }

        // Bodies that no form of this program sends.
        let good = try form()
        for (body, more) in [
            (good + "&rollout=other", []), (good + "&other=1", []), (good + "&for=2d", []),
            ("request=brew&" + mark, []), ("%zz", []), (good + "&reason=%00", []),
            (good, ["Content-Type: text/plain"]),
        ] as [(String, [String])] {
            let status = try anna.post("/act", body, more).status
            #expect(status == 400, "\(body): \(status)")
        }
        let long = good + "&reason=" + String(repeating: "x", count: 9_000)
        #expect(try anna.post("/act", long).status == 413)

        // Other attempts: the cookie at a program's address, and unknown methods and paths.
        let request = #"{"request":"pause"}"#
        for headers in [
            ["Cookie: \(anna.cookie ?? "")", Self.json], [Self.json],
            [Self.bearer(Self.board), Self.json], [Self.bearer("x"), Self.json],
            [Self.bearer(Self.anna), Self.json, "Origin: http://evil.example"],
            [Self.bearer(Self.anna), Self.json, "Sec-Fetch-Site: cross-site"],
            [Self.bearer(Self.anna), "Content-Type: text/plain"], [Self.bearer(Self.anna)],
        ] {
            let status = try send(serving, request, headers).status
            #expect([401, 403, 415].contains(status), "\(headers): \(status)")
        }
        for body in [
            "", "{", "[]", "{}", #"{"request":"brew"}"#, #"{"request":"pause","more":1}"#,
            #"{"request":"pause","vehicles":["bike-12"]}"#, #"{"request":"pause","reason":7}"#,
            #"{"request":"pause","request":"pause"}"#, #"{"request":"clear","rollout":"x"}"#,
            #"{"request":"inhibit","vehicles":"bike-12"}"#, #"{"request":"inhibit","for":"soon"}"#,
            #"{"request":"inhibit","vehicles":["@nobody"]}"#, #"{"request":"inhibit"}"#,
            #"{"request":"inhibit","all":true}"#, #"{"request":"clear"}"#,
            #"{"request":"pause","all":true}"#, #"{"request":"uninhibit","all":"yes"}"#,
            #"{"request":"clear","all":true,"vehicles":["bike-12"]}"#,
            #"{"request":"pause","reason":"a\u0000b"}"#,
        ] {
            let status = try send(serving, body, [Self.bearer(Self.anna), Self.json]).status
            #expect(status == 400, "\(body): \(status)")
        }
        for line in [
            "PUT /api/v1/requests", "DELETE /act", "PATCH /act", "GET /api/v1/requests",
            "POST /api/v1/status", "POST /", "POST /vehicles/bike-12", "GET /session/end",
            "post /act",
            "POST /api/v1/requests/", "POST /api/v1//requests", "POST /x/../api/v1/requests",
            "POST http://localhost/api/v1/requests", "POST /api/v1/requests?x=1",
            "POST /api/v1/%72equests/..",
        ] {
            for transfer in ["Content-Length: \(request.utf8.count)", "Transfer-Encoding: chunked"]
            {
                let answer = try serving.ask(
                    "\(line) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(transfer)\r\n"
                        + "\(Self.bearer(Self.anna))\r\n\(Self.json)\r\n\r\n\(request)"
                )
                #expect([0, 400, 404, 405, 413].contains(answer.status), "\(line): \(answer.head)")
            }
        }
        let chunks = "13\r\n\(request)\r\n0\r\n\r\n"
        let chunked = try serving.ask(
            "POST /api/v1/requests HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                + "Transfer-Encoding: chunked\r\n\(Self.bearer(Self.anna))\r\n\(Self.json)\r\n\r\n"
                + chunks
        )
        #expect(chunked.status == 413)
        let wide = [
            Self.json, Self.bearer(Self.anna), "X-Long: " + String(repeating: "x", count: 40_000),
        ]
        #expect([0, 413, 431].contains(try send(serving, request, wide).status))
        #expect(
            try serving.ask(
                "POST /api/v1/requests HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n"
                    + "Content-Length: \(request.utf8.count)\r\n\(Self.bearer(Self.anna))\r\n"
                    + "\(Self.json)\r\n\r\n\(request)"
            ).status == 421
        )
        #expect(yard.journal == before)

        // The form itself is valid, once.
        #expect(try anna.post("/act", try form()).status == 200)
        let after = yard.journal
        #expect(after != before)
        let used = try form()
        #expect(try anna.post("/act", used).status == 200)
        let last = yard.journal
        #expect(try anna.post("/act", used).status == 403)
        // After signing out, neither the session nor its forms are valid.
        let kept = try form()
        let leave = try anna.fields(try anna.get("/session"))
        #expect(try anna.post("/session/end", leave, origin: "null").status == 403)
        #expect(try anna.get("/").status == 200)
        #expect(try anna.post("/session/end", leave).status == 303)
        #expect(try anna.get("/").status == 401)
        #expect(try anna.post("/act", kept).status == 401)
        #expect(yard.journal == last)
    }

    @Test func `unknown tokens are noted without the token, and held up when there are many`()
        throws
    {
        let yard = try Yard()
        let serving = try Serving(yard.program)
        let anna = try Browser(serving, token: Self.anna)
        let wrong = String(repeating: "w", count: 40)
        for _ in 0..<LiveAttempts.most {
            #expect(try serving.get("/api/v1/status", [Self.bearer(wrong)]).status == 401)
        }
        let late = try serving.get("/api/v1/status", [Self.bearer(wrong)])
        #expect(late.status == 429 && late.header("Retry-After") == "60")
        let form = try Browser(serving, signedOut: ()).post("/session", "token=\(wrong)")
        #expect(form.status == 429)
        #expect(try anna.get("/").status == 200)
        #expect(try serving.get("/api/v1/status", [Self.bearer(Self.anna)]).status == 200)
        let lines = serving.said.split(separator: "\n").filter { $0.contains("unknown token") }
        #expect(lines.count == LiveAttempts.most)
        #expect(lines.allSatisfy { $0.hasSuffix("GET /api/v1/status") && !$0.contains(wrong) })
    }

    @Test func `a removed reader's stream ends`() throws {
        let yard = try Yard()
        let serving = try Serving(yard.program)
        let board = try serving.client()
        board.send(
            "GET /api/v1/changes HTTP/1.1\r\nHost: localhost\r\n\(Self.bearer(Self.board))\r\n\r\n"
        )
        try board.text(until: "event: change\n")
        try FileManager.default.removeItem(atPath: yard.program.state + "/access.yaml")
        _ = try board.rest()
    }

    /// A password for the web server in front is passed on by it.
    @Test
    func `signing in works behind a web server with passwords, and over TLS by its own cookie`()
        throws
    {
        let yard = try Yard()
        let serving = try Serving(yard.program)
        let anna = try Browser(serving, token: Self.anna)
        let cookie = try #require(anna.cookie)
        #expect(cookie.hasPrefix("yardmaster="))
        let password = "Authorization: Basic ZGVwb3Q6c2VjcmV0"
        #expect(try serving.get("/", ["Cookie: \(cookie)", password]).status == 200)
        #expect(try serving.get("/", [password]).status == 401)
        let encrypted = "X-Forwarded-Proto: https"
        let answer = try Browser(serving, signedOut: ())
            .post("/session", "token=\(Self.anna)", [encrypted])
        let given = try #require(answer.header("Set-Cookie"))
        #expect(given.hasPrefix("__Host-yardmaster=") && given.hasSuffix("; Secure"))
        let own = "Cookie: " + given.prefix { $0 != ";" }
        #expect(try serving.get("/", [own, encrypted]).status == 200)
        #expect(try serving.get("/", [own]).status == 401)
        #expect(try serving.get("/", ["Cookie: \(cookie)", encrypted]).status == 401)
    }

    @Test func `a list that others can read, or that is wrong, lets nobody in`() throws {
        let yard = try Yard()
        func begin(_ arguments: String...) throws -> Program.Result {
            try yard.program.run(
                ["serve", "--listen", "127.0.0.1:0", "--state", yard.program.state] + arguments
            )
        }
        // While it serves, changes of the list apply immediately.
        try yard.list(mode: 0o640)
        let serving = try Serving(yard.program)
        let anna = try Browser(serving, token: Self.anna)
        #expect(try anna.get("/").status == 200)
        try yard.list(mode: 0o644)
        #expect(try anna.get("/").status == 503)
        #expect(try serving.get("/api/v1/status", [Self.bearer(Self.board)]).status == 503)
        #expect(try serving.get("/healthz").status == 200)
        try yard.list(operators: [])
        #expect(try anna.get("/").status == 401)
        #expect(try serving.get("/", [Self.bearer(Self.board)]).status == 200)
        try FileManager.default.removeItem(atPath: yard.program.state + "/access.yaml")
        #expect(try anna.get("/").status == 503)
        let before = yard.journal
        let request = #"{"request":"pause"}"#
        #expect(try send(serving, request, [Self.bearer(Self.anna), Self.json]).status == 503)
        #expect(yard.journal == before)
        // It does not start to serve with such a list, either.
        for mode in [0o644, 0o660, 0o602] {
            try yard.list(mode: mode)
            let result = try begin()
            #expect(result.status == 78 && result.errors.contains("chmod 640"), "\(result.errors)")
        }
        // A list that is gone opens nothing, not even after a restart: only a person does.
        try FileManager.default.removeItem(atPath: yard.program.state + "/access.yaml")
        let gone = try begin()
        #expect(gone.status == 78 && gone.errors.contains("--open"), "\(gone.errors)")
        let missing = try begin("--access", "none.yaml")
        #expect(missing.status == 78 && missing.errors.contains("none.yaml"))
    }
}

import Base
import Commands
import Foundation
import Operations
import Testing
import Workbench

/// The pages of `serve` agree with the commands, and only reading is possible.
@Suite struct ServeTests {
    private func badNight() throws -> Program {
        let program = try Program()
        try program.copyDemo()
        _ = try program.run(program.demo("depot-troubled"))
        return program
    }

    private func inhibit(_ program: Program, _ reason: String) throws {
        let result = try program.run([
            "inhibit", "bike-03", "--reason", reason, "--state", program.state,
        ])
        #expect(result.status == 0, "\(result.errors)")
    }

    private func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test func `every number and every vehicle is what the commands say`() throws {
        let program = try badNight()
        _ = try program.run(program.demo("depot", "--limit", "bike-13"))
        let serving = try Serving(program)
        func said(_ words: String...) throws -> String {
            try program.run(words + ["--json", "--state", program.state]).output
        }
        // Programs get exactly the documents of the commands.
        let status = try said("status")
        #expect(try serving.get("/api/v1/status").text == status)
        #expect(try serving.get("/api/v1/status?rollout=demo-4.12").text == status)
        #expect(try serving.get("/api/v1/history").text == said("history"))
        #expect(try serving.get("/api/v1/history?last=1").text == said("history", "--last", "1"))
        #expect(try serving.get("/api/v1/morning").text == said("morning"))
        for vehicle in ["bike-12", "bike-14"] {
            #expect(try serving.get("/api/v1/vehicles/\(vehicle)").text == said("show", vehicle))
        }
        // People get the same numbers.
        let document = try object(status)
        let counts = try #require(document["counts"] as? [String: Int])
        let page = try serving.get("/").text
        for (name, count) in counts {
            let shown = page.firstMatch(of: try Regex("data-count=\"\(name)\">(\\d+)<"))?[1]
                .substring
            #expect(shown.map(String.init) ?? "0" == "\(count)", "\(name)")
        }
        let vehicles = try #require(document["vehicles"] as? [[String: Any]])
        let list = try serving.get("/vehicles").text
        #expect(list.matches(of: /data-vehicle=/).count == vehicles.count)
        for vehicle in vehicles {
            let id = try #require(vehicle["id"] as? String)
            let state = vehicle["outcome"] as? String ?? vehicle["state"] as? String ?? ""
            #expect(list.contains("data-vehicle=\"\(id)\" data-state=\"\(state)\""), "\(id)")
        }
        let waves = try #require(document["waves"] as? [[String: Any]])
        #expect(!waves.isEmpty)
        for wave in waves {
            let counts = try #require(wave["counts"] as? [String: Int])
            let all = counts.values.reduce(0, +)
            #expect(wave["vehicles"] as? Int == all)
            let ended = all - (counts["unfinished"] ?? 0)
            let row = "<b>wave \(wave["wave"] ?? "")</b> <small>"
            let words = ended == 0 ? "" : "\(ended) of \(all) vehicle"
            #expect(page.contains(row + words), "\(wave)")
        }
        for gate in try #require(document["gates"] as? [String]) { #expect(page.contains(gate)) }
        let tasks = try #require(try object(try said("morning"))["tasks"] as? [[String: Any]])
        // Those that only wait are a number.
        let cards = tasks.filter { !["wait", "left-alone"].contains($0["work"] as? String ?? "") }
        #expect(try serving.get("/morning").text.matches(of: /<article>/).count == cards.count)
        let runs = try #require(try object(try said("history"))["runs"] as? [[String: Any]])
        let history = try serving.get("/history").text
        for run in runs { #expect(history.contains("data-run=\"\(run["run"] ?? "")\"")) }
        // The metrics contain those of the file, and the state of the rollout.
        let file = program.folder.path + "/last.prom"
        _ = try program.run(
            ["history", "show", "last", "--quiet", "--report", file, "--state", program.state]
        )
        let metrics = try serving.get("/metrics").text
        for line in try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n") {
            #expect(metrics.contains(line), "\(line)")
        }
        for (name, count) in counts {
            #expect(
                metrics.contains(
                    "yardmaster_rollout_vehicles{rollout=\"demo-4.12\",outcome=\"\(name)\"} \(count)\n"
                )
            )
        }
        let open = try serving.get("/metrics", ["Accept: application/openmetrics-text"])
        #expect(open.header("Content-Type")?.hasPrefix("application/openmetrics-text") == true)
        #expect(open.text == metrics + "# EOF\n")
        #expect(serving.stop() == 143)
    }

    @Test func `a run has a page, with the numbers of its report`() throws {
        let program = try badNight()
        let serving = try Serving(program)
        let address = "/history/run?run=1"
        #expect(try serving.get("/history").text.contains("<a href=\"\(address)\">1</a>"))
        let page = try serving.get(address).text
        let file = program.folder.path + "/first.html"
        _ = try program.run(
            ["history", "show", "1", "--quiet", "--report", file, "--state", program.state]
        )
        let report = try String(contentsOfFile: file, encoding: .utf8)
        // Below its title the report is the page, but for the zone of its times.
        let parts = report.matches(of: /<section>[\s\S]*?<\/section>/).map { String($0.0) }
        #expect(parts.count > 2)
        for part in parts { #expect(page.contains(part), "\(part)") }
        #expect(try serving.get("/history/run?run=last").text.contains(parts[0]))
        for (wrong, status) in [
            ("/history/run", 400), ("/history/run?run=x", 400), ("/history/run?run=9", 404),
            ("/history/run?run=north/1", 404),
        ] { #expect(try serving.get(wrong).status == status, "\(wrong)") }
    }

    @Test func `two nights stand side by side, and the history leads there`() throws {
        let program = try badNight()
        _ = try program.run(program.demo("depot", "--again"))
        let serving = try Serving(program)
        let address = "/history/compare?before=1&after=2"
        let link = address.replacing("&", with: "&amp;")
        #expect(try serving.get("/history").text.contains("<a href=\"\(link)\">beside run 1</a>"))
        let said = try program.run(
            ["history", "compare", "1", "2", "--json", "--state", program.state]
        ).output
        #expect(try serving.get("/api/v1/compare?before=1&after=2").text == said)
        let document = try JSONValue(json: said)
        let page = try serving.get(address).text
        let changes = try #require(document["changes"]?.array)
        #expect(!changes.isEmpty && page.matches(of: /data-kind=/).count == changes.count)
        for change in changes {
            let (vehicle, kind) = (change["vehicle"]?.string ?? "", change["kind"]?.string ?? "")
            #expect(page.contains("data-vehicle=\"\(vehicle)\" data-kind=\"\(kind)\""))
        }
        #expect(page.contains("<b data-same>\(document["same"]?.integer ?? -1)</b>"))
        // The counts of both runs.
        for outcome in ["succeeded", "failed", "deferred"] {
            let numbers = ["before", "after"].map {
                document[$0]?["counts"]?[outcome]?.integer ?? 0
            }
            guard numbers.contains(where: { $0 > 0 }) else { continue }
            let row = try #require(
                page.split(separator: "\n").first { $0.contains("data-outcome=\"\(outcome)\"") }
            )
            #expect(row.matches(of: /<span>([0-9]+)<\/span>/).map { Int64($0.1) } == numbers)
        }
        for (wrong, status) in [
            ("/history/compare", 400), ("/history/compare?before=1", 400),
            ("/history/compare?before=1&after=x", 400), ("/history/compare?before=1&after=9", 404),
            ("/api/v1/compare?before=0&after=1", 400),
        ] { #expect(try serving.get(wrong).status == status, "\(wrong)") }
    }

    @Test func `trends are drawn from what the runs have told`() throws {
        let program = try badNight()
        _ = try program.run(program.demo("depot", "--again"))
        let serving = try Serving(program)
        let page = try serving.get("/trends").text
        #expect(page.matches(of: /data-run=/).count == 2)
        for title in ["Outcomes", "Rate", "Signal"] { #expect(page.contains("<h2>\(title)</h2>")) }
        // The numbers agree with the reports: failures, and bytes divided by their time.
        let file = program.folder.path + "/first.csv"
        _ = try program.run(
            ["history", "show", "1", "--quiet", "--report", file, "--state", program.state]
        )
        let lines = try String(contentsOfFile: file, encoding: .utf8)
            .split(whereSeparator: \.isNewline)
        let names = lines[0].split(separator: ",", omittingEmptySubsequences: false)
        let sent = try #require(names.firstIndex(of: "bytes_sent"))
        let seconds = try #require(names.firstIndex(of: "transfer_seconds"))
        let outcome = try #require(names.firstIndex(of: "outcome"))
        var (bytes, time, failed) = (0.0, 0.0, 0)
        for line in lines.dropFirst() {
            let cells = line.split(separator: ",", omittingEmptySubsequences: false)
            bytes += Double(cells[sent]) ?? 0
            time += Double(cells[seconds]) ?? 0
            failed += cells[outcome] == "failed" ? 1 : 0
        }
        let row = try #require(page.firstMatch(of: /data-run="1">(.*)/)).1
        func cell(_ name: String) -> String? {
            (try? Regex("data-label=\"\(name)\"><span>([^<]*)<"))
                .flatMap { row.firstMatch(of: $0)?[1].substring }
                .map(String.init)
        }
        #expect(cell("failed") == "\(failed)")
        let rate = try #require(cell("KiB/s").flatMap(Double.init))
        #expect(abs(rate - bytes / time / 1_024) < 0.06, "\(rate) of \(bytes) in \(time)")
        #expect(cell("median dBm").flatMap(Int.init).map { (-100 ... -20).contains($0) } == true)
        #expect(try serving.get("/trends?last=1").text.matches(of: /data-run=/).count == 1)
        #expect(try serving.get("/trends?last=99").status == 400)
    }

    @Test func `vehicles are searched and filtered without script`() throws {
        let program = try badNight()
        let serving = try Serving(program)
        func found(_ query: String) throws -> [String] {
            try serving.get("/vehicles?" + query).text.matches(of: /data-vehicle="([^"]*)"/)
                .map { String($0.1) }
        }
        #expect(try found("state=failed&rollout=demo-4.12&q=") == ["bike-12"])
        #expect(try found("q=00A000000000000E") == ["bike-14"])
        // A label, with the blank encoded as a form encodes it.
        #expect(try found("q=114+dmo") == ["bike-14"])
        #expect(try found("q=nobody").isEmpty)
        #expect(try found("page=2").isEmpty)
        let vehicle = try serving.get("/vehicles/bike-12").text
        #expect(vehicle.contains("owes the update to"))
        #expect(vehicle.contains("Verdicts of all nights"))
        for path in [
            "/vehicles/bike-99", "/rollouts/other", "/nothing", "/api/v1/status?rollout=other",
            "/api/v1/vehicles/bike-99", "/api/v2/status",
        ] {
            #expect(try serving.get(path).status == 404, "\(path)")
        }
    }

    @Test func `a page loads nothing from elsewhere and nothing in it can act`() throws {
        let program = try badNight()
        let serving = try Serving(program)
        for path in [
            "/", "/vehicles", "/vehicles/bike-12", "/morning", "/history", "/trends", "/nothing",
            "/metrics",
            "/api/v1/status", "/style.css", "/script.js", "/healthz",
        ] {
            let answer = try serving.get(path)
            let policy = try #require(answer.header("Content-Security-Policy"))
            #expect(policy.hasPrefix("default-src 'none';") && !policy.contains("unsafe"))
            #expect(answer.header("X-Content-Type-Options") == "nosniff")
            guard answer.header("Content-Type")?.hasPrefix("text/html") == true else { continue }
            let text = answer.text
            // The pages contain nothing that their policy would forbid.
            #expect(!text.contains("style=\"") && !text.contains("<style"), "\(path)")
            #expect(!text.contains(" onc") && !text.contains("javascript:"), "\(path)")
            for match in text.matches(of: /(?:src|href|action)="([^"]*)"/) {
                #expect(match.1.hasPrefix("/") || match.1.hasPrefix("#"), "\(match.1)")
            }
        }
    }

    @Test func `what is unchanged is not sent again`() throws {
        let program = try badNight()
        let serving = try Serving(program)
        let first = try serving.get("/vehicles")
        let tag = try #require(first.header("ETag"))
        let second = try serving.get("/vehicles", ["If-None-Match: \(tag)"])
        #expect(second.status == 304 && second.body.isEmpty)
        try inhibit(program, "at the painter")
        try wait(for: "the page to have changed") {
            try serving.get("/", ["If-None-Match: \(tag)"]).text.contains("at the painter")
        }
    }

    @Test func `those who wait are told of a change, also after the server was gone`() throws {
        let program = try badNight()
        let ask = "GET /api/v1/changes HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for reason in ["first", "second"] {
            let serving = try Serving(program)
            let client = try serving.client()
            client.send(ask)
            let head = try client.text(until: "event: change\n")
            #expect(head.contains("text/event-stream"))
            // For a new reader the first state is a change.
            try client.text(until: "id: 1\n")
            try inhibit(program, reason)
            try client.text(until: "id: 2\n")
            #expect(try serving.get("/").text.contains(reason))
            #expect(serving.stop() == 143)
            _ = try client.rest()
        }
    }

    @Test func `nothing but reading is possible, and only under our name`() throws {
        let program = try badNight()
        let serving = try Serving(program, ["--listen", "127.0.0.1:0", "--host", "Depot.Example"])
        let before = try program.run(["status", "--json", "--state", program.state]).output
        for method in [
            "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get", "BREW",
        ] {
            let answer = try serving.ask(
                "\(method) / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            )
            #expect(answer.status == 405, "\(method): \(answer.head)")
            #expect(answer.header("Allow") == "GET, HEAD")
        }
        let body = try serving.ask(
            "POST /api/v1/status HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\na=b\n"
        )
        #expect(body.status == 405)
        #expect(body.header("Content-Type") == "application/json")
        let smuggled = try serving.ask(
            "GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
                + "Connection: close\r\n\r\n0\r\n\r\n"
        )
        #expect(smuggled.status == 405)
        for host in [
            "localhost:\(serving.port)", "127.0.0.1", "[::1]:1", "depot.example",
            "DEPOT.example.:80",
        ] {
            #expect(try serving.get("/healthz", host: host).status == 200, "\(host)")
        }
        for host in [
            "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "localhost:80:80",
            "evil.example:localhost", "127.0.0.2", "[::1", "",
        ] {
            #expect([400, 421].contains(try serving.get("/", host: host).status), "\(host)")
        }
        let two = try serving.get("/", ["Host: evil.example"])
        #expect([400, 421].contains(two.status))
        let head = try serving.ask(
            "HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        )
        #expect(head.status == 200 && head.body.isEmpty && head.header("ETag") != nil)
        #expect(try program.run(["status", "--json", "--state", program.state]).output == before)
    }

    @Test func `an address is read in one way or not at all`() throws {
        let program = try badNight()
        let serving = try Serving(program)
        for path in [
            "/../../etc/passwd", "/..", "/./", "//", "//evil.example/", "/vehicles//",
            "/vehicles/%2e%2e", "/%2e%2e/%2e%2e/etc/passwd",
            "/vehicles/..%2f..%2fjournal.sqlite%00",
            "/vehicles/%zz", "/vehicles/%", "/vehicles/%ff", "/vehicles?page=0",
            "/vehicles?page=-1",
            "/vehicles?page=1&page=2", "/vehicles?page=99999999999999999999", "/vehicles?other=1",
            "/history?last=x", "http://localhost/", "*", "/vehicles/\u{e9}", "/#part",
            "/morning?since=yesterday", "/" + String(repeating: "a/", count: 1_500),
        ] {
            let answer = try serving.get(path)
            #expect([400, 404, 414, 431].contains(answer.status), "\(path): \(answer.status)")
            #expect(!answer.text.contains("root:") && !answer.text.contains("SQLite format"))
        }
        // Encoded slashes are part of the name.
        #expect(try serving.get("/vehicles/..%2f..%2fjournal.sqlite").status == 404)
        #expect(try serving.get("/journal.sqlite").status == 404)
    }

    @Test func `it serves on a unix socket, on one that is handed over, and nowhere else`() throws {
        let program = try badNight()
        let path = program.folder.path + "/serve.sock"
        let serving = try Serving(program, ["--listen", "unix:\(path)"])
        let client = try RawClient(path: path)
        client.send("GET /healthz HTTP/1.1\r\nHost: whatever\r\nConnection: close\r\n\r\n")
        #expect(RawAnswer(try client.rest()).text == "ok\n")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o660)
        let second = try program.run([
            "serve", "--open", "--listen", "unix:\(path)", "--state", program.state,
        ])
        #expect(second.status == 69)
        #expect(serving.stop() == 143)
        #expect(!FileManager.default.fileExists(atPath: path))
        for (address, code) in [
            ("0.0.0.0:0", 78), ("[::]:0", 78), ("192.0.2.1:80", 78), ("8750", 64),
            ("unix:here", 64),
            ("127.0.0.1:99999", 64), ("localhost", 64),
        ] {
            let result = try program.run([
                "serve", "--open", "--listen", address, "--state", program.state,
            ])
            #expect(result.status == code, "\(address): \(result.errors)")
        }
        // Like systemd: descriptor 3, and the environment with the process's number.
        let (listener, port) = try boundSocket()
        #expect(listen(listener, 16) == 0)
        defer { close(listener) }
        let shell = Process()
        shell.executableURL = URL(filePath: "/bin/sh")
        shell.arguments = [
            "-c",
            "exec 3<&0 </dev/null; LISTEN_FDS=1 LISTEN_PID=$$ exec \"$0\" serve --open --quiet --state \"$1\"",
            Program.path, program.state,
        ]
        shell.standardInput = FileHandle(fileDescriptor: listener)
        shell.standardOutput = FileHandle.nullDevice
        shell.standardError = FileHandle.nullDevice
        try shell.run()
        let visitor = try RawClient(port: port)
        visitor.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        #expect(RawAnswer(try visitor.rest()).text == "ok\n")
        shell.terminate()
        shell.waitUntilExit()
        #expect(shell.terminationStatus == 143)
    }

    @Test func `serve replaces the socket of a server that was killed, and no other file`() throws {
        let program = try badNight()
        let path = program.folder.path + "/serve.sock"
        try Serving(program, ["--listen", "unix:\(path)"]).kill()
        #expect(FileManager.default.fileExists(atPath: path))
        let next = try Serving(program, ["--listen", "unix:\(path)"])
        let client = try RawClient(path: path)
        client.send("GET /healthz HTTP/1.1\r\nHost: whatever\r\nConnection: close\r\n\r\n")
        #expect(RawAnswer(try client.rest()).text == "ok\n")
        next.kill()
        // A file at that place may be the journal.
        let note = try program.write("note.txt", "mine\n")
        let link = program.folder.path + "/link.sock"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        for other in [note, link] {
            let serving = try Serving(program, ["--listen", "unix:\(other)"])
            #expect(serving.stop() == 69)
            #expect(serving.said.contains("File exists\n  hint: what is there is not a socket"))
        }
        #expect(try String(contentsOfFile: note, encoding: .utf8) == "mine\n")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == path)
    }

    @Test func `a header with a space behind its name, and two lengths of a body, are refused`()
        throws
    {
        let program = try Program()
        try FileManager.default.createDirectory(
            atPath: program.state,
            withIntermediateDirectories: true
        )
        let serving = try Serving(program)
        for lines in [
            "Transfer-Encoding : chunked\r\n", "Transfer-Encoding\t: chunked\r\n",
            "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", "Content-Length : 4\r\n",
        ] {
            for method in ["GET", "POST"] {
                let answer = try serving.ask(
                    "\(method) /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(lines)\r\n"
                        + "0\r\n\r\n"
                )
                #expect(answer.status == 400 || answer.head.isEmpty, "\(lines): \(answer.head)")
                #expect(answer.text != "ok\n")
            }
        }
        #expect(try serving.get("/healthz").text == "ok\n")
    }

    @Test func `where nothing has run the pages say so`() throws {
        let program = try Program()
        let serving = try Serving(program)
        let page = try serving.get("/")
        #expect(page.status == 404 && page.text.contains("there is no journal"))
        #expect(try serving.get("/healthz").text == "ok\n")
    }
}

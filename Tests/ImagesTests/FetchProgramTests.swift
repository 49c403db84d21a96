import Base
import Foundation
import Images
import Synchronization
import Testing
import Workbench

/// `fetch` and `images`, run as a shell runs them.
@Suite struct FetchProgramTests {
    private static let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appending(path: "yardmaster")

    struct Result {
        let status: Int32
        let output: String
        let errors: String
    }

    private let scratch: Scratch
    private var state: String { scratch.path + "/state" }

    init() throws { scratch = try Scratch() }

    private func start(_ arguments: [String], as name: String) throws -> Process {
        let process = Process()
        process.executableURL = Self.program
        process.arguments = arguments
        process.currentDirectoryURL = URL(filePath: scratch.path)
        process.standardInput = FileHandle.nullDevice
        for suffix in ["out", "err"] {
            try write([], to: "\(scratch.path)/\(name).\(suffix)")
        }
        process.standardOutput = FileHandle(forWritingAtPath: "\(scratch.path)/\(name).out")
        process.standardError = FileHandle(forWritingAtPath: "\(scratch.path)/\(name).err")
        // A name that is not found is not looked for long.
        let resolver = "attempts:1 timeout:1"
        process.environment = [
            "no_proxy": "*", "PATH": "/usr/bin:/bin", "RES_OPTIONS": resolver,
        ]
        try process.run()
        return process
    }

    private func end(_ process: Process, as name: String) throws -> Result {
        process.waitUntilExit()
        return Result(
            status: process.terminationStatus,
            output: String(decoding: try contents("\(scratch.path)/\(name).out"), as: UTF8.self),
            errors: String(decoding: try contents("\(scratch.path)/\(name).err"), as: UTF8.self)
        )
    }

    private func run(_ arguments: String...) throws -> Result {
        try end(try start(arguments + ["--state", state], as: "run"), as: "run")
    }

    /// Writes a manifest `m.yaml` with these images, each with its lines of YAML.
    private func manifest(_ images: [(name: String, bytes: [UInt8], urls: [String])]) throws {
        var text = "name: tallinn\nfetch: {attempts: 1}\nvehicles:\n"
        text += "  - {id: v1, serial: \"00b0000000000001\", family: comodule}\nimages:\n"
        for (name, bytes, urls) in images {
            text += "  \(name):\n    url: \"\(urls[0])\"\n    allow-http: true\n"
            if urls.count > 1 {
                let mirrors = urls.dropFirst().map { "\"\($0)\"" }.joined(separator: ", ")
                text += "    mirrors: [\(mirrors)]\n"
            }
            text += "    sha256: \"\(SHA256.digest(of: bytes))\"\n    size: \(bytes.count)\n"
            text += "    version: \"1.0.0\"\n    fits: {family: comodule}\n"
        }
        text += "steps:\n" + images.map { "  - update: {to: \($0.name)}\n" }.joined()
        try write(Array(text.utf8), to: scratch.path + "/m.yaml")
    }

    @Test func `what is fetched is reported, and the second time nothing is asked`() throws {
        let (one, two) = (random(3_000, seed: 1), random(4_000, seed: 2))
        let server = try HostileServer { request, connection in
            connection.serve(request.path.hasPrefix("/one") ? one : two, to: request)
        }
        try manifest([
            ("one", one, [server.url("/one?token=hidden")]), ("two", two, [server.url("/two")]),
        ])
        let plan = try run("plan", "m.yaml")
        #expect(plan.output.contains("not in the store"))
        let first = try run("fetch", "m.yaml")
        #expect(first.status == 0, "\(first.errors)")
        #expect(first.output.hasSuffix("fetched=2 present=0 failed=0 exit=0\n"))
        #expect(!(plan.output + first.output + first.errors).contains("hidden"))
        let second = try run("fetch", "m.yaml", "--json")
        #expect(second.status == 0)
        #expect(second.output.contains("\"state\":\"present\""))
        #expect(!second.output.contains("\"state\":\"fetched\""))
        #expect(server.seen.count == 2)
        #expect(try !run("plan", "m.yaml").output.contains("not in the store"))

        let list = try run("images", "list")
        #expect(list.output.contains("\(SHA256.digest(of: one))"))
        #expect(list.output.contains("tallinn"))
        #expect(try run("images", "verify").status == 0)
    }

    @Test func `every exit has its code, its place and its remedy`() throws {
        let bytes = random(3_000, seed: 3)
        let server = try HostileServer { request, connection in
            switch request.path {
            case "/none": connection.answer("404 Not Found")
            case "/other": connection.answer("200 OK", [], random(3_000, seed: 4))
            case "/page": connection.answer("200 OK", ["Content-Type: text/html"], [1])
            case "/down": connection.answer("503 Later")
            default: connection.answer("200 OK", [], bytes)
            }
        }
        let closed = try ClosedPort()
        defer { withExtendedLifetime(closed) {} }
        for (urls, status, words) in [
            ([server.url("/none")], 66, "404"), ([server.url("/other")], 77, "SHA-256"),
            ([server.url("/page")], 77, "web page"), ([server.url("/down")], 69, "503"),
            (["http://127.0.0.1:\(closed.number)/x"], 69, "cannot be reached"),
            (["file:none.bin"], 66, "none.bin"),
            ([server.url("/none"), server.url("/other")], 77, "404"),
            ([server.url("/none"), server.url("/down")], 69, "404"),
        ] as [([String], Int32, String)] {
            try manifest([("city", bytes, urls)])
            let result = try run("fetch", "m.yaml")
            #expect(result.status == status, "\(urls): \(result.errors)")
            #expect(result.errors.contains(words), "\(result.errors)")
            #expect(result.errors.contains("m.yaml:6:3"), "\(result.errors)")
            #expect(result.errors.contains("hint: "))
            // The line for scripts is printed after any result.
            #expect(result.output == "fetched=0 present=0 failed=1 exit=\(status)\n")
            let document = try run("fetch", "m.yaml", "--json")
            #expect(document.status == status)
            #expect(document.output.contains("\"fetched\":0,\"present\":0,\"failed\":1"))
            #expect(document.output.contains("\"code\":\(status)"))
            let quiet = try run("fetch", "m.yaml", "--quiet")
            #expect(quiet.output == "fetched=0 present=0 failed=1 exit=\(status)\n")
        }
        try manifest([("city", bytes, [server.url("/none"), server.url("/right")])])
        #expect(try run("fetch", "m.yaml").status == 0)
    }

    @Test func `a name that is not found is looked for again`() throws {
        try manifest([("city", [1], ["http://nothing.invalid/x"])])
        let path = scratch.path + "/m.yaml"
        let text = String(decoding: try contents(path), as: UTF8.self)
        try write(Array(text.replacing("attempts: 1", with: "attempts: 2").utf8), to: path)
        let result = try run("fetch", "m.yaml")
        #expect(result.status == 69)
        #expect(result.errors.contains("; again in "), "\(result.errors)")
        let words = "is given up: the server cannot be reached"
        #expect(result.errors.contains(words), "\(result.errors)")
    }

    @Test func `some that came and some that did not are counted in the last line`() throws {
        let bytes = random(3_000, seed: 11)
        try write(bytes, to: scratch.path + "/here.bin")
        try manifest([
            ("city", bytes, ["file:here.bin"]), ("gone", [1], ["file:none.bin"]),
            ("lost", [2], ["file:none.bin"]),
        ])
        let first = try run("fetch", "m.yaml")
        #expect(first.status == 66)
        #expect(first.output.hasSuffix("fetched=1 present=0 failed=2 exit=66\n"), "\(first.output)")
        let second = try run("fetch", "m.yaml", "--json")
        #expect(second.output.contains("\"fetched\":0,\"present\":1,\"failed\":2"))
        #expect(second.output.contains("\"error\""))
    }

    @Test func `a plan calls in the store only what the manifest would accept`() throws {
        let bytes = random(3_000, seed: 12)
        try write(bytes, to: scratch.path + "/here.bin")
        try manifest([("city", bytes, ["file:here.bin"])])
        #expect(try run("fetch", "m.yaml").status == 0)
        #expect(try run("plan", "m.yaml").output.contains("\n  in the store\n"))
        let text = String(decoding: try contents(scratch.path + "/m.yaml"), as: UTF8.self)
        // The same bytes, with another size in the manifest.
        try write(
            Array(text.replacing("size: 3000", with: "size: 2999").utf8),
            to: scratch.path + "/other.yaml"
        )
        let other = try run("plan", "other.yaml")
        #expect(!other.output.contains("\n  in the store\n"), "\(other.output)")
        #expect(other.output.contains("3000 bytes instead of 2999"), "\(other.output)")
        #expect(try run("plan", "other.yaml", "--json").output.contains("\"stored\":false"))
        // The same image, denied by the manifest.
        let denied = text + "trust: {deny: [\"\(SHA256.digest(of: bytes))\"]}\n"
        try write(Array(denied.utf8), to: scratch.path + "/denied.yaml")
        let refused = try run("plan", "denied.yaml")
        #expect(!refused.output.contains("\n  in the store\n"), "\(refused.output)")
        // Damaged bytes under the right name.
        let path = StoreFolder(stateDirectory: state).path(of: SHA256.digest(of: bytes))
        chmod(path, 0o644)
        try write(random(3_000, seed: 13), to: path)
        let damaged = try run("plan", "m.yaml")
        #expect(damaged.output.contains("not in the store"), "\(damaged.output)")
    }

    @Test func `a damaged image is found by verify and replaced by fetch`() throws {
        let bytes = random(3_000, seed: 5)
        let server = try HostileServer { request, connection in
            connection.serve(bytes, to: request)
        }
        try manifest([("city", bytes, [server.url()])])
        #expect(try run("fetch", "m.yaml", "--quiet").status == 0)
        let store = StoreFolder(stateDirectory: state)
        let path = store.path(of: SHA256.digest(of: bytes))
        chmod(path, 0o644)
        try write(random(3_000, seed: 6), to: path)
        let found = try run("images", "verify")
        #expect(found.status == 77)
        #expect(found.output.contains("damaged"))
        #expect(try run("fetch", "m.yaml").status == 0)
        #expect(try contents(path) == bytes)
        #expect(try run("images", "verify", "--quiet").status == 0)
    }

    @Test func `a clean-up spares what a rollout needs until it is forgotten`() throws {
        let (old, new) = (random(3_000, seed: 7), random(3_000, seed: 8))
        try write(old, to: scratch.path + "/old.bin")
        try write(new, to: scratch.path + "/new.bin")
        try manifest([("city", old, ["file:old.bin"])])
        #expect(try run("fetch", "m.yaml").status == 0)
        try manifest([("city", new, ["file:new.bin"])])
        #expect(try run("fetch", "m.yaml").status == 0)
        let pruned = try run("images", "prune")
        #expect(pruned.output.contains("\(SHA256.digest(of: old))"))
        #expect(!pruned.output.contains("\(SHA256.digest(of: new))"))
        #expect(try run("images", "prune").output.contains("0 images"))
        let forgotten = try run("images", "prune", "--forget", "tallinn", "--json")
        #expect(forgotten.output.contains("\(SHA256.digest(of: new))"))
        #expect(try run("images", "prune", "--forget", "nobody").errors.contains("nobody"))
    }

    @Test func `two processes fetch the same images once each, and one says who does it`() throws {
        let images = (0..<6 as Range<UInt64>).map { random(200_000, seed: 70 + $0) }
        let isOpen = Mutex(false)
        let server = try HostileServer { request, connection in
            // The first requests are held until the second process has reported that it waits.
            while !isOpen.withLock({ $0 }) {
                if connection.waitForGoodbye(milliseconds: 5) { return }
            }
            let index = Int(request.path.dropFirst()) ?? 0
            connection.serve(images[index], to: request)
        }
        try manifest(
            images.enumerated().map {
                ("image-\($0.offset)", $0.element, [server.url("/\($0.offset)")])
            }
        )
        let arguments = ["fetch", "m.yaml", "--state", state]
        let first = try start(arguments, as: "first")
        try wait(for: "the first requests") {
            try #require(first.isRunning)
            return server.seen.count >= images.count
        }
        let second = try start(arguments, as: "second")
        let words = "process \(first.processIdentifier) fetches it already"
        try wait(for: "the second process to say that it waits") {
            let told = String(decoding: try contents(scratch.path + "/second.err"), as: UTF8.self)
            try #require(told.contains(words) || second.isRunning, "\(told)")
            return told.contains(words)
        }
        let prune = try run("images", "prune")
        #expect(prune.status == 75, "\(prune.errors)")
        isOpen.withLock { $0 = true }
        let (one, two) = (try end(first, as: "first"), try end(second, as: "second"))
        #expect(one.status == 0 && two.status == 0, "\(one.errors) \(two.errors)")
        #expect(one.output.hasSuffix("fetched=6 present=0 failed=0 exit=0\n"))
        #expect(two.output.hasSuffix("fetched=0 present=6 failed=0 exit=0\n"))
        #expect(server.seen.count == images.count)
        #expect(try run("images", "verify").status == 0)
    }

    @Test func `a run fetches before its first packet, and later needs no network`() throws {
        let demo = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "manifests/demo")
        let copy = URL(filePath: scratch.path + "/demo")
        try FileManager.default.copyItem(at: demo, to: copy)
        chmod(scratch.path + "/demo/keys/demo.key", 0o600)
        let bytes = try contents(scratch.path + "/demo/city-4.12.0.zip")
        let isThere = Mutex(true)
        let server = try HostileServer { request, connection in
            if isThere.withLock({ $0 }) {
                connection.serve(bytes, to: request)
            } else {
                connection.answer("404 Not Found")
            }
        }
        let path = scratch.path + "/demo/rollout.yaml"
        let text = String(decoding: try contents(path), as: UTF8.self)
        let url = "url: \"\(server.url())\"\n    allow-http: true"
        let changed = text.replacing("url: file:city-4.12.0.zip", with: url)
        try write(Array(changed.utf8), to: path)

        isThere.withLock { $0 = false }
        let depot = "demo/depot.yaml"
        let refused = try run(
            "run",
            "demo/rollout.yaml",
            "--simulate",
            depot,
            "--events",
            "none.jsonl"
        )
        #expect(refused.status == 66, "\(refused.errors)")
        let events = scratch.path + "/none.jsonl"
        #expect(access(events, F_OK) != 0, "something began before the images were there")
        isThere.withLock { $0 = true }
        #expect(try run("fetch", "demo/rollout.yaml").status == 0)
        isThere.withLock { $0 = false }
        let asked = server.seen.count
        let result = try run("run", "demo/rollout.yaml", "--simulate", depot, "--seed", "7")
        #expect([0, 10, 11].contains(result.status), "\(result.errors)")
        #expect(result.output.contains("rollout=demo-4.12 ok="))
        #expect(server.seen.count == asked)
    }

    @Test func `a fetch that is killed is gone on with by the next one`() throws {
        let bytes = random(3 << 20, seed: 9)
        let server = try HostileServer { request, connection in
            guard request.number == 0 else {
                connection.serve(bytes, tag: "\"a\"", to: request)
                return
            }
            connection.send(
                "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: \(bytes.count)\r\n\r\n"
            )
            connection.send(Array(bytes.prefix(2 << 20)))
            connection.waitForGoodbye()
        }
        try manifest([("city", bytes, [server.url()])])
        let store = StoreFolder(stateDirectory: state)
        let part = store.path(of: SHA256.digest(of: bytes)) + ".part"
        let process = try start(["fetch", "m.yaml", "--state", state], as: "killed")
        var status = stat()
        try wait(for: "2 MiB of the image") {
            try #require(process.isRunning)
            return stat(part, &status) == 0 && status.st_size >= 2 << 20
        }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        let result = try run("fetch", "m.yaml")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errors.contains("going on at 2 MiB"), "\(result.errors)")
        #expect(server.seen.map(\.rangeStart) == [nil, 2 << 20])
        #expect(server.seen[1].header("If-Range") == "\"a\"")
        #expect(try run("images", "verify").status == 0)
    }

    @Test(arguments: [(SIGINT, 130), (SIGTERM, 143)] as [(Int32, Int32)])
    func `a signal ends a fetch that hangs, and what arrived is kept`(
        signal: Int32,
        code: Int32
    ) throws {
        let bytes = random(300_000, seed: 10)
        let server = try HostileServer { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(bytes.count)\r\n\r\n")
            connection.send(Array(bytes.prefix(100_000)))
            connection.waitForGoodbye()
        }
        try manifest([("city", bytes, [server.url()])])
        let part = StoreFolder(stateDirectory: state).path(of: SHA256.digest(of: bytes)) + ".part"
        let process = try start(["fetch", "m.yaml", "--state", state], as: "held")
        var status = stat()
        try wait(for: "100 KB of the image") {
            try #require(process.isRunning)
            return stat(part, &status) == 0 && status.st_size >= 100_000
        }
        kill(process.processIdentifier, signal)
        let result = try end(process, as: "held")
        #expect(result.status == code, "\(result.errors)")
        #expect(result.output == "fetched=0 present=0 failed=1 exit=\(code)\n")
        #expect(try contents(part) == Array(bytes.prefix(100_000)))
    }
}

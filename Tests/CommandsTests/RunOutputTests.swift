import Base
import Commands
import Foundation
import Operations
import Show
import Store
import Testing

@Suite struct RunOutputTests {
    private func options(_ line: [String]) throws -> RunOptions {
        guard case .run(let invocation) = try Parser.parse(["run"] + line) else {
            throw UsageError.unknownCommand("help", nearest: nil)
        }
        return try RunOptions(invocation, try context())
    }

    private func context() throws -> Context {
        Context(console: Console(try Outlet.open(name: "test"), isJournal: false))
    }

    private let end = Event(
        number: 1,
        time: WallTime(milliseconds: 0),
        body: .runEnded(
            RunEnd(
                rollout: "r",
                counts: [.succeeded: 1],
                unfinished: 0,
                exitCode: 0,
                reason: "done",
                took: .seconds(1)
            )
        )
    )

    @Test func `the flags of a run are resolved`() throws {
        let options = try options([
            "m.yaml", "--state", "/s", "--simulate", "d.yaml", "--pace", "2.5", "--seed", "9",
            "--events", "-", "--limit", "v1", "--limit", "bus-*", "-q",
        ])
        #expect(options.manifest == "m.yaml")
        #expect(options.state == "/s")
        #expect(options.simulation?.depot == .file("d.yaml"))
        #expect(options.simulation?.pace == 2.5)
        #expect(options.simulation?.seed == 9)
        #expect(options.events == .standardOutput)
        #expect(options.common.isQuiet)
        #expect(!options.common.wantsJSON)
        #expect(options.common.takes(try #require(VehicleID("v1"))))
        #expect(options.common.takes(try #require(VehicleID("bus-7"))))
        #expect(!options.common.takes(try #require(VehicleID("v2"))))
    }

    @Test func `without flags there is no simulation and every vehicle is taken`() throws {
        let options = try options(["m.yaml", "--state", "/s"])
        #expect(options.simulation == nil)
        #expect(options.events == .none)
        #expect(options.common.takes(try #require(VehicleID("v2"))))
    }

    @Test func `events are added to their file`() async throws {
        let file = FileManager.default.temporaryDirectory
            .appending(path: "events-\(UUID().uuidString).jsonl")
        let path = file.path(percentEncoded: false)
        defer { try? FileManager.default.removeItem(at: file) }
        for _ in 0..<2 {
            let output = try RunOutput(
                try options(["m", "--state", "/s", "-q", "--events", path]),
                try context()
            )
            await output.whileWriting { output.take(end, at: Moment(nanoseconds: 0)) }
        }
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 2)
        for line in lines {
            #expect(try JSONValue(json: String(line))["kind"] == "run-ended")
        }
    }

    @Test func `a file that cannot be made is reported before the run`() throws {
        let options = try options(["m", "--state", "/s", "--events", "/dev/null/events"])
        let error = #expect(throws: CommandError.self) { try RunOutput(options, try context()) }
        #expect(error?.kind == .cannotCreate)
        #expect(error?.causes == ["Not a directory"])
    }
}

/// Records on the journal's socket.
@Suite struct JournalOutputTests {
    @Test func `a run under the service manager sends records and prints its result`() async throws
    {
        let path = FileManager.default.temporaryDirectory
            .appending(path: "journal-\(getpid())").path(percentEncoded: false)
        unlink(path)
        let receiver = try #require(listen(at: path))
        defer {
            close(receiver)
            unlink(path)
        }
        let outlet = try Outlet.open(name: "test")
        let context = Context(console: Console(outlet, isJournal: true))
        guard case .run(let invocation) = try Parser.parse(["run", "m", "--state", "/s"]) else {
            return
        }
        let output = try RunOutput(
            try RunOptions(invocation, context),
            context,
            journal: JournalSocket(path: path)
        )
        let vehicle = try #require(VehicleID("v1"))
        output.take(
            Event(
                number: 1,
                time: WallTime(milliseconds: 0),
                body: .interrupted(vehicle, cause: "link lost\nMESSAGE=forged", count: 1)
            ),
            at: Moment(nanoseconds: 0)
        )
        async let written: Void = outlet.pump()
        outlet.finish()
        await written
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = recv(receiver, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        let record = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        #expect(
            record.hasPrefix(
                "MESSAGE=v1: interruption 1: link lost\\u{a}MESSAGE=forged\nPRIORITY=5\n"
            )
        )
        #expect(record.contains("\nYARDMASTER_VEHICLE=v1\n"))
        #expect(recv(receiver, &bytes, bytes.count, Int32(MSG_DONTWAIT)) < 0)
    }

    @Test func `without a listener there is no socket`() {
        #expect(JournalSocket(path: "/nowhere/socket") == nil)
        #expect(JournalSocket(path: String(repeating: "x", count: 200)) == nil)
    }

    @Test(arguments: [
        ("yardmaster: error: a\n  hint: b\n", "<3>yardmaster: error: a\n<3>  hint: b\n"),
        ("yardmaster: warning: a\n", "<4>yardmaster: warning: a\n"), ("a\n\nb", "<6>a\n<6>b\n"),
    ])
    func `lines get the level of what they say`(text: String, levelled: String) {
        #expect(Console.levelled(text) == levelled)
    }

    private func listen(at path: String) -> CInt? {
        let receiver = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(receiver, $0, size) }
        }
        return code == 0 ? receiver : nil
    }

    @Test func `what begins the same again is the command that began it`() {
        let flags = PlaceFlags()
        let lines = [
            PlanOrigin.manifest("/m.yaml"), .order(["bus 1", "command lock"], manifest: "/m.yaml"),
            .image("/new image.zip", modules: ["--all"]),
            .rollback("city 4", words: ["--image", "/old.zip", "bus-1"]),
        ].map { $0.again(flags) }
        #expect(
            lines == [
                "yardmaster run --again /m.yaml",
                "yardmaster exec --manifest /m.yaml 'bus 1' 'command lock'",
                "yardmaster update '/new image.zip' --all",
                "yardmaster rollback 'city 4' --image /old.zip bus-1",
            ]
        )
    }
}

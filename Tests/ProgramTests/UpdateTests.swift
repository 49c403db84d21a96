import Foundation
import Testing
import Workbench

/// Updates of modules in range by a file, without a manifest.
@Suite(.serialized, .timeLimit(.minutes(5))) struct UpdateTests {
    /// A kind of file, with a module that it is for.
    struct Kind: CustomTestStringConvertible, Sendable {
        let file: String
        let serial: String
        /// Its item in the depot.
        let module: String
        let versions: (before: String, after: String)
        var flags: [String] = []
        /// Whether the module keeps the bytes that it has while nobody is connected.
        var keepsBytes = false
        var testDescription: String { "\(file) to \(serial)" }
    }

    private static let key = "d0c5000000000000000000000000000000000001"
    private static let quick = "restart-time: 200ms, activation-time: 200ms, erase-time: 2ms"

    private static let bike = Kind(
        file: "manifests/demo/city-4.12.0.zip",
        serial: "00a0000000000001",
        module: """
            {serial: "00a0000000000001", key: "\(key)", type: 17, version: "4.11.3", \(quick)}
            """,
        versions: ("4.11.3", "4.12.0"),
        flags: ["--secret", "file:bike.key"],
        keepsBytes: true
    )
    private static let lamp = Kind(
        file: "manifests/demo/city-4.12.0.zip",
        serial: "lamp-0001",
        module: "{serial: lamp-0001, family: nordic, version: \"4.1.0\", \(quick)}",
        versions: ("4.1.0", "4.12.0")
    )
    private static let tag = Kind(
        file: "manifests/tags/tag-2.0.0.zip",
        serial: "tag-0001",
        module: """
            {serial: tag-0001, family: nordic, bootloader: legacy-dfu, version: "1.4.0", \(quick)}
            """,
        versions: ("1.4.0", "2.0.0")
    )
    private static let tracker = Kind(
        file: "manifests/depot-wide/tracker-2.0.0.img",
        serial: "ym-0001",
        module: "{serial: ym-0001, family: mcumgr, version: \"1.4.0\", \(quick)}",
        versions: ("1.4.0", "2.0.0"),
        keepsBytes: true
    )
    private static let package = Kind(
        file: "Tests/SMPTests/Fixtures/xip-2.0.zip",
        serial: "ym-0002",
        module: """
            {serial: ym-0002, family: mcumgr, bootloader: direct-xip, version: "1.4.0", \(quick)}
            """,
        versions: ("1.4.0", "2.0.0")
    )
    private static let sensor = Kind(
        file: "manifests/sensors/sensor-2.7.31.bin",
        serial: "esp-0001",
        module: """
            {serial: esp-0001, family: esp, version: "2.6.0", restart-time: 200ms, erase-time: 2ms}
            """,
        versions: ("2.6.0", "2.7.31")
    )

    static let kinds = [bike, lamp, tag, tracker, package, sensor]

    private let program: Program

    init() throws {
        program = try Program()
        try program.write("bike.key", Self.key + "\n")
    }

    private func depot(_ modules: [String], isSlow: Bool = false) throws {
        let pace = isSlow ? (30, 1) : (8, 12)
        let link = "link: {interval: \(pace.0)ms, mtu: 247, packets-per-interval: \(pace.1)}"
        let items = modules.map { "  - \($0)\n" }.joined()
        try program.write("depot.yaml", "name: yard\nseed: 7\n\(link)\nmodules:\n\(items)")
    }

    private func path(_ kind: Kind) -> String {
        Program.repository.appending(path: kind.file).path(percentEncoded: false)
    }

    private func words(_ kind: Kind, _ more: [String]) -> [String] {
        ["update", path(kind), "--state", program.state] + kind.flags + more
    }

    private func update(_ kind: Kind, _ more: String...) throws -> Program.Result {
        try program.run(words(kind, ["--simulate", "depot.yaml"] + more))
    }

    // MARK: Files and families

    @Test(arguments: kinds)
    func `each kind of file is recognised, shown and brought to its module`(kind: Kind) throws {
        try depot([kind.module])
        let shown = try update(kind)
        #expect(shown.status == 64, "\(shown.output) \(shown.errors)")
        let change = "\(kind.versions.before) → \(kind.versions.after), about "
        #expect(shown.output.contains(kind.serial) && shown.output.contains(change))
        #expect(shown.errors.contains("--yes"), "\(shown.errors)")
        let done = try update(kind, "--yes")
        #expect(done.status == 0, "\(done.output) \(done.errors.suffix(900))")
        #expect(done.lastLine.contains(" ok=1 current=0 "), "\(done.lastLine)")
        let again = try update(kind, "--yes", kind.serial)
        #expect(again.status == 0, "\(again.errors)")
        #expect(again.output.contains("\(kind.versions.after) already"), "\(again.output)")
        #expect(again.lastLine.contains(" ok=0 current=1 "), "\(again.lastLine)")
    }

    // In real time, so not for all of them.
    @Test(arguments: [bike, tag, tracker])
    func `over the bus it is the same`(kind: Kind) throws {
        try depot([kind.module])
        let served = try ServedDepot("depot.yaml", of: program)
        let done = try program.run(words(kind, ["--bus", served.address, "--yes", kind.serial]))
        #expect(done.status == 0, "\(done.output) \(done.errors.suffix(900))")
        let change = "\(kind.versions.before) → \(kind.versions.after), about "
        #expect(done.output.contains(change), "\(done.output)")
        #expect(done.lastLine.contains(" ok=1 current=0 "), "\(done.lastLine)")
    }

    /// What the simulated modules have in their flash.
    private func flash() throws -> [UInt8] {
        let memory = URL(filePath: program.state + "/simulation/yard.memory")
        return [UInt8](try Data(contentsOf: memory))
    }

    @Test func `a file for other hardware is refused before the first packet`() throws {
        try depot([Self.tracker.module, Self.tag.module])
        // Listening makes the memory of the depot.
        #expect(try update(Self.tag, "--yes", "nobody").status == 11)
        let before = try flash()
        let refused = try update(Self.tag, "--yes", "--events", "events", Self.tracker.serial)
        #expect(refused.status == 77, "\(refused.output) \(refused.errors)")
        #expect(refused.errors.contains("legacy DFU"), "\(refused.errors)")
        #expect(refused.errors.contains("the file fits"), "\(refused.errors)")
        // The clock of the depot is all that has changed, and no run was begun.
        let after = try flash()
        #expect(after.count == before.count)
        #expect(zip(before, after).count { $0 != $1 } <= 8)
        #expect(!FileManager.default.fileExists(atPath: program.state + "/journal.sqlite"))
        #expect(!FileManager.default.fileExists(atPath: program.folder.path + "/events"))
        let done = try update(Self.tag, "--yes", Self.tag.serial)
        #expect(done.status == 0, "\(done.errors)")
        let updated = try flash()
        #expect(zip(before, updated).count { $0 != $1 } > 8)
    }

    @Test func `a refused file says which modules it fits, in reach or at all`() throws {
        try depot([Self.tracker.module, Self.tag.module])
        let named = try update(Self.tag, "--yes", "ym-*")
        #expect(named.status == 77, "\(named.output) \(named.errors)")
        #expect(named.errors.contains("the file fits \(Self.tag.serial)"), "\(named.errors)")
        try depot([Self.tracker.module])
        let alone = try update(Self.tag, "--yes")
        #expect(alone.status == 77, "\(alone.errors)")
        #expect(alone.errors.contains("modules of nordic/legacy"), "\(alone.errors)")
    }

    @Test func `a file that is no image, or is not there, is refused`() throws {
        try depot([Self.tracker.module])
        try program.write("notes.txt", "hello")
        for (file, status, words) in [
            ("notes.txt", 77, "neither an MCUboot image nor a zip package"),
            ("nothing.img", 66, "nothing.img"),
        ] {
            let result = try program.run([
                "update", file, "--yes", "--simulate", "depot.yaml", "--state", program.state,
            ])
            #expect(result.status == status && result.errors.contains(words), "\(result.errors)")
        }
    }

    // MARK: Which module

    @Test func `of several in range those are updated that are named`() throws {
        try depot([Self.tracker.module.replacing("ym-0001,", with: "ym-0001, count: 3,")])
        let refused = try update(Self.tracker, "--yes")
        #expect(refused.status == 64, "\(refused.errors)")
        #expect(refused.errors.contains("3 modules are in reach"), "\(refused.errors)")
        #expect(refused.errors.contains("ym-0003, mcumgr"), "\(refused.errors)")
        #expect(refused.errors.contains("--all"), "\(refused.errors)")
        let one = try update(Self.tracker, "--yes", "--serial", "YM-0002")
        #expect(one.lastLine.contains(" ok=1 current=0 "), "\(one.output) \(one.errors)")
        let two = try update(Self.tracker, "--yes", "ym-000[23]", "ym-0002", "ym-0003")
        #expect(two.status == 11, "\(two.output) \(two.errors)")
        #expect(two.errors.contains(": 'ym-000[23]'\n"), "\(two.errors)")
        let rest = try update(Self.tracker, "--yes", "--all")
        #expect(rest.lastLine.contains(" ok=2 current=1 "), "\(rest.output) \(rest.errors)")
        let absent = try update(Self.tracker, "--yes", "ym-0009")
        #expect(absent.status == 11, "\(absent.output) \(absent.errors)")
        #expect(absent.errors.contains("not heard in 10s: ym-0009"), "\(absent.errors)")
    }

    @Test func `a module that is opened by a secret says which flag gives it`() throws {
        try depot([Self.bike.module])
        var bike = Self.bike
        bike.flags = []
        let refused = try update(bike, "--yes")
        #expect(refused.status == 64, "\(refused.output) \(refused.errors)")
        #expect(refused.errors.contains("add --secret file:PATH"), "\(refused.errors)")
        bike.flags = ["--secret", Self.key]
        let shown = try update(bike, "--yes")
        #expect(shown.status == 64 && !shown.errors.contains(Self.key), "\(shown.errors)")
    }

    @Test func `a vehicle that the journal knows keeps its id, and what holds for it`() throws {
        try depot([Self.tracker.module])
        try program.write(
            "fleet.yaml",
            """
            name: yard
            vehicles:
              - {id: van-1, serial: ym-0001, family: mcumgr}
            steps:
              - wait: 1s
            """
        )
        let state = ["--state", program.state]
        let ran = try program.run(["run", "fleet.yaml", "--simulate", "depot.yaml"] + state)
        #expect(ran.status == 0, "\(ran.errors)")
        let inhibit = try program.run(["inhibit", "van-1", "--reason", "workshop"] + state)
        #expect(inhibit.status == 0, "\(inhibit.errors)")
        let held = try update(Self.tracker, "--yes", "van-1")
        #expect(held.output.contains("inhibited"), "\(held.output)")
        #expect(held.lastLine.contains(" ok=0 "), "\(held.lastLine)")
        #expect(try program.run(["uninhibit", "van-1"] + state).status == 0)
        let done = try update(Self.tracker, "--yes", "van-1")
        #expect(done.lastLine.contains(" ok=1 "), "\(done.output) \(done.errors)")
    }

    // MARK: The question

    @Test func `on a terminal it asks, and a word other than yes does nothing`() throws {
        try depot([Self.tracker.module])
        let line = words(Self.tracker, ["--simulate", "depot.yaml"])
        for (key, status, end) in [("n", 0, "nothing was done"), ("y", 0, "ok=1")] {
            let terminal = try Pty(Program.path, line, in: program.folder.path)
            try terminal.wait(for: "Update? [y/N]")
            #expect(terminal.text.contains("1.4.0 → 2.0.0"), "\(terminal.text)")
            for byte in "\(key)\n".utf8 { terminal.press(byte) }
            try terminal.wait(for: end)
            #expect(try terminal.end() == status)
        }
    }

    // MARK: Interruptions

    private func progress(_ name: String) -> [[String: Any]] {
        let path = program.folder.path + "/" + name
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { line in
            let event = try? JSONSerialization.jsonObject(with: Data(line.utf8))
            guard let event = event as? [String: Any], event["kind"] as? String == "progress" else {
                return nil
            }
            return event
        }
    }

    /// The bytes that the module had when the program was killed; nil when that was not in
    /// mid-image.
    private func killInMidImage(_ kind: Kind, _ number: Int) throws -> Int? {
        let events = "killed-\(number).jsonl"
        func had() -> (bytes: Int, total: Int)? {
            guard let last = progress(events).last, let total = last["total"] as? Int,
                let bytes = last["acknowledged"] as? Int
            else { return nil }
            return (bytes, total)
        }
        let process = try program.start(
            words(kind, ["--simulate", "depot.yaml", "--pace", "4", "--yes", "--events", events])
        )
        try wait(for: "some of the image") {
            had().map { $0.bytes > $0.total / 4 } == true || !process.isRunning
        }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        return had().flatMap { $0.bytes < $0.total * 3 / 4 ? $0.bytes : nil }
    }

    @Test(arguments: [bike, lamp, tag, tracker, sensor])
    func `an update that was killed in mid-image is continued by the same command`(
        kind: Kind
    ) throws {
        var had: Int?
        for number in 1...5 where had == nil {
            // A module that was updated completely is replaced by another one.
            try? FileManager.default.removeItem(atPath: program.state)
            try depot([kind.module], isSlow: true)
            had = try killInMidImage(kind, number)
        }
        let acknowledged = try #require(had, "no run of five was killed in mid-image")
        let again = try update(kind, "--yes", "--events", "again.jsonl")
        #expect(again.status == 0, "\(again.output) \(again.errors.suffix(900))")
        let change = "an unfinished update to \(kind.versions.after), about "
        #expect(again.output.contains(change), "\(again.output)")
        #expect(again.lastLine.contains(" ok=1 "), "\(again.lastLine)")
        let first = try #require(progress("again.jsonl").first)
        let resumed = first["resumed-from"] as? Int ?? 0
        #expect(!kind.keepsBytes || resumed >= acknowledged - 4_096, "\(first)")
    }
}

import Foundation
import PrivateBus
import Testing
import Workbench

/// The program with a depot that another process of it serves as `org.bluez`, so all BlueZ code is
/// used.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ServedDepotTests {
    /// A healthy module, one that loses its link in the middle of the image, and one that restarts
    /// there.
    private static let depot = """
        name: served
        seed: 7
        link: {interval: 8ms, mtu: 247, packets-per-interval: 12}
        modules:
          - {serial: "00a0000000000001", key: "d0c5000000000000000000000000000000000001",
             type: 17, version: "4.11.3"}
          - serial: "00a0000000000002"
            key: "d0c5000000000000000000000000000000000001"
            type: 17
            version: "4.11.3"
            faults:
              - {link-lost-at: 40KiB}
          - serial: "00a0000000000003"
            key: "d0c5000000000000000000000000000000000001"
            type: 17
            version: "4.11.3"
            faults:
              - {restart-at: 50KiB}
          - {serial: "00a0000000000004", key: "d0c5000000000000000000000000000000000001",
             type: 17, version: "4.12.0"}

        """

    private static let manifest = """
        name: served-4.12
        vehicles: {from: fleet.csv}
        images:
          city-4.12:
            url: file:city-4.12.0.zip
            sha256: "7505fe5b8af2bb43117d294cd35b8eebf17838e5390865a4b031c76da50094cf"
            version: "4.12.0"
            fits: {family: comodule, type: 17, variant: 0}
        steps:
          - require: {state_of_charge: ">= 40", speed: "== 0"}
            otherwise: defer
          - update: {to: city-4.12}
        settle: {quiet: 2s, confirm-gap: 200ms, deadline: 2m}
        connect: {timeout: 30s, attempts: 2}

        """

    private struct Event {
        let kind: String
        let fields: [String: Any]

        subscript(name: String) -> Any? { fields[name] }
    }

    private let program: Program
    private let bus: PrivateBus

    init() throws {
        program = try Program()
        bus = try PrivateBus()
        try program.write("depot.yaml", Self.depot)
        try program.write("rollout.yaml", Self.manifest)
        try program.write("demo.key", "d0c5000000000000000000000000000000000001\n")
        let rows = (1...4).map { "bike-0\($0),00a000000000000\($0),comodule,file:demo.key\n" }
        try program.write("fleet.csv", "id,serial,family,secret\n" + rows.joined())
        let image = Program.repository.appending(path: "manifests/demo/city-4.12.0.zip")
        try program.write("city-4.12.0.zip", Data(contentsOf: image))
    }

    /// Serves the depot while `body` runs.
    private func serving<R>(_ body: () throws -> R) throws -> R {
        let output = program.folder.path + "/ready"
        _ = FileManager.default.createFile(atPath: output, contents: nil)
        let process = Process()
        process.executableURL = URL(filePath: Program.path)
        process.arguments = [
            "simulate", "--bus", bus.address, "--state", program.folder.path + "/served",
            "depot.yaml",
        ]
        process.currentDirectoryURL = URL(filePath: program.folder.path)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: URL(filePath: output))
        process.standardError = FileHandle.nullDevice
        try process.run()
        defer {
            process.terminate()
            process.waitUntilExit()
        }
        try wait(for: "the depot to be served") {
            try #require(process.isRunning)
            return try String(contentsOfFile: output, encoding: .utf8).hasPrefix("ready: ")
        }
        return try body()
    }

    private func arguments(_ events: String, _ state: String, _ more: String...) -> [String] {
        ["run", "rollout.yaml", "--state", program.folder.path + "/" + state, "--events", events]
            + more
    }

    /// The complete lines: the last one may be incomplete.
    private func events(_ name: String) throws -> [Event] {
        let path = program.folder.path + "/" + name
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return [] }
        return text.split(separator: "\n").compactMap { line in
            let value = try? JSONSerialization.jsonObject(with: Data(line.utf8))
            guard let fields = value as? [String: Any], let kind = fields["kind"] as? String else {
                return nil
            }
            return Event(kind: kind, fields: fields)
        }
    }

    /// The outcome of each vehicle, in the order of their names.
    private func outcomes(_ name: String) throws -> [String] {
        try events(name).filter { $0.kind == "vehicle-ended" }
            .map { "\($0["vehicle"] ?? "?") \($0["outcome"] ?? "?")" }.sorted()
    }

    @Test func `a rollout over the served depot ends as one on simulated air`() throws {
        let simulated = try program.run(
            arguments("air.jsonl", "air", "--simulate", "depot.yaml")
        )
        #expect(simulated.status == 0, "\(simulated.errors.suffix(600))")
        try serving {
            let served = try program.run(
                arguments("bus.jsonl", "bus", "--bus", bus.address)
            )
            #expect(served.status == 0, "\(served.errors.suffix(600))")
            #expect(served.lastLine == simulated.lastLine)
        }
        #expect(try outcomes("bus.jsonl") == outcomes("air.jsonl"))
        #expect(
            try outcomes("bus.jsonl") == [
                "bike-01 succeeded", "bike-02 succeeded", "bike-03 succeeded",
                "bike-04 already-current",
            ]
        )
    }

    @Test func `a Bluetooth service that restarts in mid-image costs no outcome`() throws {
        try serving {
            let run = try program.start(
                arguments("bus.jsonl", "bus", "--bus", bus.address, "--limit", "bike-01")
            )
            defer { if run.isRunning { run.terminate() } }
            try wait(for: "20 KB of the image") {
                try #require(run.isRunning)
                return try events("bus.jsonl").contains {
                    $0.kind == "progress" && $0["acknowledged"] as? Int ?? 0 > 20_000
                }
            }
            try PrivateBus.cause("restart", on: bus.address)
            run.waitUntilExit()
            #expect(run.terminationStatus == 0)
        }
        #expect(try outcomes("bus.jsonl") == ["bike-01 succeeded"])
        let resumed = try events("bus.jsonl").contains { event in
            event.kind == "progress" && event["resumed-from"] as? Int ?? 0 > 0
        }
        #expect(resumed, "it went on where the module stood")
    }

    @Test func `while a run waits for its window, that is what status says`() throws {
        // Open for an hour, three hours from now by the clock of the machine, which is UTC here.
        let opens = (Int(Date().timeIntervalSince1970) / 60 + 180) % 1_440
        let clock =
            "\(opens / 60 < 10 ? "0" : "")\(opens / 60):\(opens % 60 < 10 ? "0" : "")\(opens % 60)"
        try program.write(
            "rollout.yaml",
            Self.manifest + "rollout: {window: {from: \"\(clock)\", for: 1h, zone: UTC}}\n"
        )
        try serving {
            let run = try program.start(arguments("bus.jsonl", "bus", "--bus", bus.address))
            defer { if run.isRunning { run.terminate() } }
            let state = program.folder.path + "/bus"
            var said = ""
            try wait(for: "status to say it") {
                try #require(run.isRunning)
                said = try program.run(["status", "--state", state]).output
                return said.contains("waits for its window, which opens ")
            }
            #expect(
                said.contains(" \(clock)") && !said.contains("under way in wave"),
                "\(said)"
            )
            let document = try program.run(["status", "--json", "--state", state]).output
            #expect(document.contains("\"waits-until\":\"") && document.contains("T\(clock):00"))
            run.terminate()
            run.waitUntilExit()
            let after = try program.run(["status", "--state", state]).output
            #expect(!after.contains("waits for its window"), "\(after)")
        }
        #expect(try events("bus.jsonl").allSatisfy { $0.kind != "attempt-started" })
    }

    @Test func `what the served modules know outlives the process that serves them`() throws {
        for expected in ["succeeded", "already-current"] {
            try serving {
                let run = try program.run(
                    arguments("\(expected).jsonl", expected, "--bus", bus.address)
                        + ["--limit", "bike-01"]
                )
                #expect(run.status == 0, "\(run.errors.suffix(600))")
            }
            #expect(try outcomes("\(expected).jsonl") == ["bike-01 \(expected)"])
        }
    }

    @Test func `a GO device comes over the served bus and carries out what it is told`() throws {
        try program.write("car.token", SampleTokens.good)
        try program.write(
            "depot.yaml",
            """
            name: cars
            tenant-keys: ["\(SampleTokens.tenant)"]
            modules:
              - {serial: G9-0001, family: geotab-go, hardware-id: 553845661}
            """
        )
        try program.write(
            "fleet.yaml",
            """
            name: cars
            vehicles:
              - {id: car, serial: G9-0001, family: geotab-go, token: "file:car.token"}
            steps:
              - command: lock
            """
        )
        func order(_ step: String) throws -> Program.Result {
            try program.run([
                "exec", "--manifest", "fleet.yaml", "--bus", bus.address, "--state", program.state,
                "car", step,
            ])
        }
        try serving {
            let first = try order("command check-in; command lock")
            #expect(first.status == 0, "\(first.errors)")
            let again = try order("command check-in")
            #expect(again.status == 10, "\(again.errors)")
            #expect(again.output.contains("a reservation is already under way"))
            // Without a bond its word does not count: a person has to look.
            #expect(again.output.contains("it may have been carried out"), "\(again.output)")
            let cleared = try program.run(["clear", "car", "--state", program.state])
            #expect(cleared.status == 0, "\(cleared.errors)")
        }
        try serving {
            let after = try order("command check-out")
            #expect(after.status == 0, "\(after.errors)")
        }
    }

    @Test func `a depot is not served without a place, and not on a bus that is not there`() throws
    {
        let nowhere = try program.run(["simulate", "--state", program.state, "depot.yaml"])
        #expect(nowhere.status == 64)
        #expect(nowhere.errors.contains("--bus ADDRESS"))
        let missing = try program.run([
            "simulate", "--bus", "unix:path=/nonexistent/bus", "--state", program.state,
            "depot.yaml",
        ])
        #expect(missing.status == 69)
        #expect(missing.errors.contains("org.bluez"))
    }
}

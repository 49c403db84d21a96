import Foundation
import Testing
import Workbench

/// The examples of the library, run as the documents describe: in simulated air, and over a served
/// bus.
@Suite(.serialized, .timeLimit(.minutes(3))) struct ExampleTests {
    private static let depot = """
        name: examples
        seed: 3
        tenant-keys: ["00\(SampleTokens.tenant)"]
        modules:
          - {serial: "00a0000000000001", key: "11", type: 17, version: "4.11.3", state-of-charge: 64,
             restart-time: 200ms, activation-time: 200ms, erase-time: 2ms}
          - {serial: "0a0b0c0d0e0f", family: lrdevice, networks: [yard], faults: [{storm: 1, times: 99}]}
          - {serial: G9-0001, family: geotab-go, hardware-id: 553845661}

        """

    /// The depot in a folder, with the secrets of its vehicles.
    private func program() throws -> Program {
        let program = try Program()
        try program.write("depot.yaml", Self.depot)
        try program.write("demo.key", "11\n")
        try program.write("car.token", SampleTokens.good + "\n")
        return program
    }

    @Test func `the first example finds modules, connects, and switches the lights on`() throws {
        let run = try ExampleProgram.run(
            "SetLights",
            ["manifests/demo/depot.yaml", "manifests/demo/keys/demo.key"]
        )
        #expect(run.status == 0)
        let lines = run.output.split(separator: "\n")
        #expect(lines.count { $0.hasSuffix("COMODULE") } == 24)
        #expect(lines.contains { $0.contains("state_of_charge = 80 percent") })
        #expect(lines.last == "lights are enabled now")
    }

    @Test func `the examples work on a served bus as they do on simulated air`() throws {
        let program = try program()
        let folder = program.folder.path
        let served = try ServedDepot("depot.yaml", of: program)
        let bus = "bluez@" + served.address
        let lights = try ExampleProgram.run("SetLights", [bus, "demo.key"], in: folder)
        #expect(lights.status == 0, "\(lights.output)")
        #expect(lights.output.contains("state_of_charge = 64 percent"), "\(lights.output)")
        #expect(lights.output.hasSuffix("lights are enabled now\n"), "\(lights.output)")
        let read = try ExampleProgram.run("ScanAndRead", [bus, "demo.key"], in: folder)
        #expect(read.status == 0, "\(read.output)")
        #expect(read.output.contains("1 modules are in reach\n"), "\(read.output)")
        #expect(read.output.contains("state_of_charge = 64 percent"), "\(read.output)")
        let lock = try ExampleProgram.run(
            "UseLock",
            [bus, "0a0b0c0d0e0f", "lock.secret"],
            in: folder
        )
        #expect(lock.status == 0, "\(lock.output)")
        #expect(lock.output.contains("it tells 3/2 by itself"), "\(lock.output)")
        #expect(lock.output.hasSuffix("  lock = locked\n"), "\(lock.output)")
        // The stored secret also opens the lock a second time.
        let again = try ExampleProgram.run(
            "UseLock",
            [bus, "0a0b0c0d0e0f", "lock.secret"],
            in: folder
        )
        #expect(again.status == 0 && !again.output.contains("has a secret now"), "\(again.output)")
        let unlock = try ExampleProgram.run("UnlockVehicle", [bus, "car.token"], in: folder)
        #expect(unlock.status == 0, "\(unlock.output)")
        #expect(unlock.output.hasSuffix("\nunlocked\n"), "\(unlock.output)")
        withExtendedLifetime(served) {}
    }

    @Test(arguments: LibraryBench.Air.allCases)
    func `the tour does what each snippet of the seeds does`(air: LibraryBench.Air) throws {
        let program = try program()
        let served = air == .served ? try ServedDepot("depot.yaml", of: program) : nil
        let run = try ExampleProgram.run(
            "SeedTour",
            [
                served.map { "bluez@" + $0.address } ?? "depot.yaml", "demo.key", "car.token",
                "0574583B-0D8D-2962-4D79-0F43EEB96C98", LibraryBench.image("demo/city-4.12.0.zip"),
            ],
            in: program.folder.path
        )
        withExtendedLifetime(served) {}
        #expect(run.status == 0, "\(run.output)")
        for line in [
            "connected to COMODULE 00a0000000000001", "available property: odometer",
            "assist is a range", "speed was updated to: 0 kilometer_per_hour", "assist = 2",
            "label = 0x01020304", "there is an update of secondary", "firmware 4.12.0 now",
            " 0a0b0c0d0e0f", "its light is on", "done []", "socket: advertising",
            "socket: closed", "a packet has a length now: true", "the device has written",
            "the log had lines, and has 0",
        ] {
            #expect(run.output.contains(line + "\n"), "\(line) is not in \(run.output)")
        }
        #expect(run.output.hasSuffix("the tour is over\n"), "\(run.output)")
    }

    @Test
    func `a family with a wire of its own is found, opened, read, written and updated over SMP`()
        async throws
    {
        let program = try program()
        try program.write("right.key", "4711\n")
        try program.write("wrong.key", "4712\n")
        let served = try await ServedLocker(code: "4711")
        func run(_ key: String) throws -> (status: Int32, output: String) {
            try ExampleProgram.run(
                "OwnFamily",
                [
                    "bluez@" + served.address, key,
                    LibraryBench.image("depot-wide/tracker-2.0.0.img"), "2.0.0",
                ],
                in: program.folder.path
            )
        }
        let wrong = try run("wrong.key")
        #expect(wrong.status == 1 && wrong.output.contains("refuses our secret"), "\(wrong.output)")
        #expect(await served.look { $0.refused > 0 && $0.opened == 0 } == true)
        let right = try run("right.key")
        #expect(right.status == 0, "\(right.output)")
        #expect(
            right.output == """
                lck-0001 runs 1.0.0
                  openings = 7
                  close-after = 300 second
                  light = disabled
                  color = 0x010203
                  label = bay 3
                it closes after 120 seconds, and its light is on
                lck-0001 runs 2.0.0 now
                its light is enabled still

                """
        )
        #expect(await served.look { $0.version } == "2.0.0")
        #expect(await served.look { $0.isConfirmed } == true)
        #expect(await served.look { $0.values[0x12] } == [0, 0xFF, 0])
        await served.close()
        let example = Program.repository.appending(path: "Examples/OwnFamily/OwnFamily.swift")
        let lines =
            try String(contentsOf: example, encoding: .utf8).split(
                separator: "\n",
                omittingEmptySubsequences: false
            ).count - 1
        #expect(lines <= 200)
        let document = Program.repository.appending(path: "docs/library.md")
        let text = try String(contentsOf: document, encoding: .utf8)
        #expect(text.contains("`OwnFamily` does in \(lines) lines"))
    }

    @Test func `an update that is killed goes on in the next program, and is proven`() throws {
        let program = try program()
        let folder = program.folder.path
        let served = try ServedDepot("depot.yaml", of: program)
        let arguments = [
            "bluez@" + served.address, "demo.key", "00a0000000000001",
            LibraryBench.image("demo/city-4.12.0.zip"),
        ]
        let first = Process()
        let output = Pipe()
        first.executableURL = URL(filePath: Program.path).deletingLastPathComponent()
            .appending(path: "UpdateModule")
        first.arguments = arguments
        first.currentDirectoryURL = URL(filePath: folder)
        first.standardInput = FileHandle.nullDevice
        first.standardOutput = output
        try first.run()
        var seen = ""
        while !seen.contains("] 20 %") {
            let piece = output.fileHandleForReading.availableData
            try #require(!piece.isEmpty, "it ended before: \(seen)")
            seen += String(decoding: piece, as: UTF8.self)
        }
        kill(first.processIdentifier, SIGKILL)
        first.waitUntilExit()
        #expect(FileManager.default.fileExists(atPath: folder + "/00a0000000000001.update"))
        let second = try ExampleProgram.run("UpdateModule", arguments, in: folder)
        withExtendedLifetime(served) {}
        #expect(second.status == 0, "\(second.output)")
        #expect(second.output.contains("continues with 7505fe5b"), "\(second.output)")
        // The module reports its progress: no bar begins at zero.
        #expect(!second.output.contains("[..........] 0 %"), "\(second.output)")
        #expect(second.output.hasSuffix("00a0000000000001 runs 4.12.0\n"), "\(second.output)")
        #expect(!FileManager.default.fileExists(atPath: folder + "/00a0000000000001.update"))
    }

    @Test func `the document shows what the examples print`() throws {
        let place = Program.repository.appending(path: "docs/library.md")
        var text = try String(contentsOf: place, encoding: .utf8)
        let marks = text.matches(
            of: /<!-- output of (\w+) ([^>]*) -->\n```text\n((?:(?!```).*\n)*)```\n/
        )
        #expect(
            marks.map { String($0.1) } == [
                "ScanAndRead", "UpdateModule", "UseLock", "UnlockVehicle",
            ]
        )
        // From the last mark to the first, so that the positions stay valid.
        for mark in marks.reversed() {
            let program = try Program()
            let words = mark.2.split(separator: " ").map { word in
                word.hasPrefix("manifests/")
                    ? Program.repository.path(percentEncoded: false) + word : String(word)
            }
            let run = try ExampleProgram.run(String(mark.1), words, in: program.folder.path)
            #expect(run.status == 0)
            if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" {
                text.replaceSubrange(mark.3.startIndex..<mark.3.endIndex, with: run.output)
            } else {
                #expect(run.output == String(mark.3))
            }
        }
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" {
            try text.write(to: place, atomically: true, encoding: .utf8)
        }
    }
}

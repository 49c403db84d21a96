import Foundation
import Testing
import Workbench

/// The state after the program was killed, and the next run.
@Suite(.serialized) struct KillTests {
    private struct Progress {
        let vehicle: String
        let acknowledged: Int
        let total: Int
        let resumedFrom: Int
    }

    private func progress(_ path: String) throws -> [Progress] {
        try events(path).compactMap { event in
            guard event["kind"] as? String == "progress",
                let vehicle = event["vehicle"] as? String,
                let acknowledged = event["acknowledged"] as? Int,
                let total = event["total"] as? Int,
                let from = event["resumed-from"] as? Int
            else { return nil }
            return Progress(
                vehicle: vehicle,
                acknowledged: acknowledged,
                total: total,
                resumedFrom: from
            )
        }
    }

    /// The complete lines: the last one may be incomplete.
    private func events(_ path: String) throws -> [[String: Any]] {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return [] }
        return text.split(separator: "\n").compactMap { line in
            (try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: Any]
        }
    }

    /// Kills a paced run as soon as a vehicle's image is being sent.
    ///
    /// Nil when the kill was too late for that, according to the events that were written before
    /// it.
    private func killInMidImage(_ program: Program, vehicle number: Int) throws -> Progress? {
        let path = program.folder.path + "/first.jsonl"
        let process = try program.start(
            program.demo("depot", "--pace", "6", "--events", "first.jsonl")
        )
        var isSeen = false
        var known: Int?
        try wait(for: "20 KB of the image") {
            let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
            guard size != known else { return !process.isRunning }
            known = size
            isSeen = try progress(path).contains {
                $0.vehicle == "bike-0\(number)" && $0.acknowledged > 20_000
            }
            return isSeen
        }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        guard isSeen else { return nil }
        let last = try progress(path).last { $0.vehicle == "bike-0\(number)" }
        return last.flatMap { $0.acknowledged < 80_000 ? $0 : nil }
    }

    /// On a busy machine the kill may be late: then it is repeated with another depot.
    private func killInMidImage(vehicle number: Int) throws -> (Program, Progress) {
        for _ in 1...5 {
            let program = try Program()
            try program.copyDemo()
            if let last = try killInMidImage(program, vehicle: number) { return (program, last) }
        }
        let none: (Program, Progress)? = nil
        return try #require(none, "no run of five was killed in the middle of the image")
    }

    @Test(arguments: [1, 2]) func `a killed run goes on in mid-image and updates nobody twice`(
        number: Int
    ) throws {
        let (program, last) = try killInMidImage(vehicle: number)
        let status = try program.run(["status", "--state", program.state])
        #expect(status.status == 0)
        #expect(status.output.contains("was cut off"))
        #expect(
            status.output.contains("in the bootloader, and first in the next run: \(last.vehicle)")
        )

        let second = try program.run(program.demo("depot", "--events", "second.jsonl"))
        #expect(second.status == 0, "\(second.errors.suffix(600))")
        let path = program.folder.path + "/second.jsonl"
        let first = try #require(try progress(path).first)
        #expect(first.vehicle == last.vehicle, "the one in its bootloader comes first")
        // Bytes that the module already has are not sent again, except those of the open object.
        #expect(first.resumedFrom >= last.acknowledged - 4_096)
        let ended = try events(path).filter { $0["kind"] as? String == "vehicle-ended" }
        let resumed = try #require(ended.first { $0["vehicle"] as? String == last.vehicle })
        let sent = try #require(resumed["bytes"] as? Int)
        #expect(sent <= last.total - first.resumedFrom + 4_096)
        // Modules that already had their image, settled or not, are only looked at.
        let complete = Set(
            try progress(program.folder.path + "/first.jsonl")
                .filter { $0.acknowledged == $0.total }.map(\.vehicle)
        )
        #expect(complete.count == number - 1)
        for vehicle in complete {
            let end = ended.first { $0["vehicle"] as? String == vehicle }
            #expect(end.map { $0["bytes"] as? Int == 0 } ?? true, "\(vehicle)")
        }
    }

    @Test func `a run that is told to stop ends at a safe point and goes on later`() throws {
        let program = try Program()
        try program.copyDemo()
        let path = program.folder.path + "/first.jsonl"
        let process = try program.start(
            program.demo("depot", "--pace", "6", "--events", "first.jsonl")
        )
        try wait(for: "20 KB of the image") {
            try #require(process.isRunning)
            return try progress(path).contains { $0.acknowledged >= 20_000 }
        }
        kill(process.processIdentifier, SIGTERM)
        process.waitUntilExit()
        #expect(process.terminationStatus == 143)
        let status = try program.run(["status", "--state", program.state])
        #expect(status.output.contains("exit 143"))
        let second = try program.run(program.demo())
        #expect(second.status == 0)
        #expect(second.lastLine.contains("failed=0"))
    }

    @Test func `a second run is turned away while the first holds the lock`() throws {
        let program = try Program()
        try program.copyDemo()
        let process = try program.start(
            program.demo("depot", "--pace", "2", "--events", "first.jsonl")
        )
        try wait(for: "the first event") {
            try #require(process.isRunning)
            return try !events(program.folder.path + "/first.jsonl").isEmpty
        }
        let second = try program.run(program.demo())
        #expect(second.status == 75)
        #expect(second.errors.contains("process \(process.processIdentifier)"))
        let status = try program.run(["status", "--state", program.state])
        #expect(status.status == 0)
        #expect(status.output.contains("at work now"))
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        #expect(try program.run(program.demo("depot", "--limit", "bike-24")).status == 0)
    }
}

import Base
import Foundation
import Testing
import Workbench

/// `run --report` that is killed at any point, as a plain user: plan and report are complete, old
/// or new.
@Suite struct RecordCrashTests {
    /// The number of points: few in the gate, any number by hand.
    private static let count =
        ProcessInfo.processInfo.environment["YARDMASTER_CRASH_POINTS"].flatMap { Int($0) } ?? 4

    private let program: Program

    init() throws {
        program = try Program()
        try program.copyDemo()
        try FileManager.default.createDirectory(
            atPath: program.folder.path + "/reports",
            withIntermediateDirectories: false
        )
        // Two vehicles are enough to give each run some work.
        let fleet = program.folder.path + "/demo/fleet.csv"
        let rows = try String(contentsOfFile: fleet, encoding: .utf8).split(separator: "\n")
        try program.write("demo/fleet.csv", rows.prefix(3).joined(separator: "\n") + "\n")
        try PlainUser.own(program.folder.path)
    }

    private func start() throws -> Process {
        try PlainUser.start(
            [
                Program.path, "run", "demo/rollout.yaml", "--simulate", "demo/depot.yaml",
                "--again", "--state", program.state, "--quiet", "--report", "reports/night.html",
                "--report", "reports/night.json",
            ],
            in: program.folder.path
        )
    }

    private var reports: [String] {
        (try? FileManager.default.contentsOfDirectory(
            atPath: program.folder.path + "/reports"
        ).sorted()) ?? []
    }

    private func checkReports(_ point: Int) throws {
        let folder = program.folder.path + "/reports/"
        for name in reports where !name.hasSuffix(".part") {
            let bytes = try Data(contentsOf: URL(filePath: folder + name))
            if name.hasSuffix(".json") {
                let value = try? JSONSerialization.jsonObject(with: bytes)
                #expect(value != nil, "point \(point)")
            } else {
                let text = String(decoding: bytes, as: UTF8.self)
                #expect(text.hasSuffix("</html>\n"), "point \(point): \(text.suffix(80))")
            }
        }
    }

    @Test func `the end at any call leaves plan and report whole, and the next run goes on`() throws
    {
        let whole = try start()
        let most = whole.countCalls()
        #expect(whole.terminationStatus == 0 && most > 20, "\(most) calls")
        #expect(reports == ["night.html", "night.json"])
        var chance = SplitMix64(seed: 61)
        var killed = 0
        for point in 0..<Self.count {
            let process = try start()
            let place = Int.random(in: most / 4...most, using: &chance)
            if process.isKilled(after: place) { killed += 1 }
            try checkReports(point)
            let status = try program.run(["status", "--state", program.state])
            #expect(status.status == 0, "point \(point): \(status.errors)")
            let next = try start()
            next.waitUntilExit()
            #expect(next.terminationStatus == 0, "point \(point), after \(place) calls")
            try checkReports(point)
            #expect(reports == ["night.html", "night.json"], "point \(point)")
            let plans = try FileManager.default.contentsOfDirectory(
                atPath: program.state + "/plans"
            )
            #expect(plans == ["demo-4.12"], "point \(point)")
        }
        #expect(killed * 3 >= Self.count, "\(killed) of \(Self.count) were killed in time")
    }
}

import Base
import Foundation
import Manifest
import Operations
import Synchronization
import Testing
import Workbench

/// The check program that runs between two waves.
@Suite struct CheckProgramTests {
    private func answer(
        _ words: [String],
        timeout: Duration = .seconds(20),
        unless isOver: () -> Bool = { false }
    ) -> String? {
        var between = BetweenWaves()
        between.check = words
        between.timeout = timeout
        return CheckProgram(between, rollout: "night", wave: 1).run(unless: isOver).objection
    }

    @Test func `who ends with 0 lets the rollout go on`() {
        #expect(answer(["true"]) == nil)
        #expect(answer([]) == nil, "nobody is asked")
    }

    @Test(
        arguments: [
            (["false"], "false ended with 1"), (["sh", "-c", "exit 7"], "sh ended with 7"),
            (["sh", "-c", "kill -15 $$"], "sh was ended by signal 15"),
            (["/nowhere/check"], "cannot run /nowhere/check: No such file or directory"),
            (["/"], "cannot run /: Permission denied"),
        ] as [([String], String)]
    ) func `anything else stops it, with what happened`(words: [String], sentence: String) {
        #expect(answer(words) == sentence)
    }

    @Test func `who takes too long is ended with all that it has begun`() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: file) }
        let began = ContinuousClock.now
        let sentence = answer(
            ["sh", "-c", "sleep 300 & echo $! > \(file); wait"],
            timeout: .seconds(1)
        )
        #expect(sentence == "sh took longer than 1s")
        #expect(ContinuousClock.now - began < .seconds(60))
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let child = try #require(Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)))
        // The process is gone, or dead and not yet reaped by its new parent; the kernel needs a
        // moment.
        func isGone() -> Bool {
            let stat = try? String(contentsOfFile: "/proc/\(child)/stat", encoding: .utf8)
            return stat.map { $0.contains(") Z ") } ?? true
        }
        try wait(for: "the child's end", until: isGone)
    }

    @Test func `a run that ends does not wait for it`() {
        let asked = Mutex(0)
        let began = ContinuousClock.now
        let sentence = answer(["sleep", "300"], timeout: .seconds(300)) {
            asked.withLock {
                $0 += 1
                return $0 > 1
            }
        }
        #expect(sentence == "sleep was ended because the run ends")
        #expect(ContinuousClock.now - began < .seconds(60))
    }

    @Test func `it knows the rollout and the wave, and no secrets of ours`() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: file) }
        setenv("DEPOT_TOKEN", "not for others", 1)
        defer { unsetenv("DEPOT_TOKEN") }
        #expect(answer(["sh", "-c", "env > \(file)"]) == nil)
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        #expect(lines.contains("YARDMASTER_ROLLOUT=night"))
        #expect(lines.contains("YARDMASTER_WAVE=2"))
        #expect(!lines.contains { $0.hasPrefix("DEPOT_TOKEN") })
    }
}

import Base
import Commands
import Foundation
import Operations
import Store
import Testing

/// Clocks that cannot be right, and what is refused because of them.
@Suite struct ClockTests {
    /// A state directory in which a run with real modules was at work until `last`; without a time, nothing has run.
    private func program(until last: WallTime?, seed: UInt64? = nil) async throws -> Program {
        let program = try Program()
        guard let last else { return program }
        let state = try StateDirectory.create(at: program.state)
        let thread = try ThreadExecutor.start(name: "journal")
        let journal = try await Journal.open(directory: state.path, executor: thread)
        let plan = try #require(SHA256Digest(String(repeating: "0", count: 64)))
        let run = try await journal.beginRun(rollout: "night", plan: plan, at: last, seed: seed)
        try await journal.endRun(run, exitCode: 0, reason: "done", at: last)
        await journal.close()
        thread.stop()
        return program
    }

    private func refusal(_ program: Program, at now: WallTime, _ more: String...) throws
        -> CommandError?
    {
        guard case .run(let invocation) = try Parser.parse(["run", "m.yaml"] + more) else {
            return nil
        }
        do throws(CommandError) {
            try ClockCheck.demand(invocation, now, state: program.state)
            return nil
        } catch { return error }
    }

    private static let evening = WallTime(milliseconds: 1_795_000_000_000)

    @Test(arguments: [
        (evening, true), (evening.advanced(by: .seconds(-299)), true),
        (evening.advanced(by: .seconds(-301)), false), (WallTime(milliseconds: 12_000), false),
    ])
    func `a clock from 1970 or from before the last run is refused`(now: WallTime, isRight: Bool)
        async throws
    {
        let program = try await program(until: Self.evening)
        let error = try refusal(program, at: now)
        #expect((error == nil) == isRight, "\(String(describing: error))")
        #expect(error.map { $0.exitCode == .configuration } ?? true)
        #expect(error?.hint?.contains("timedatectl") ?? true)
        #expect(try refusal(program, at: now, "--clock-is-right") == nil)
        #expect(try refusal(program, at: now, "--simulate", "depot.yaml") == nil)
        // Rehearsals have times of their own, and where nothing has run only 1970 is wrong.
        for other in [
            try await self.program(until: Self.evening, seed: 7),
            try await self.program(until: nil),
        ] {
            #expect((try refusal(other, at: now) == nil) == (now.milliseconds > 12_000))
        }
    }

    /// Only the last run counts: after one with the flag, the nights go on by themselves.
    @Test func `a clock that was once wrong in the future is forgotten after one run`() async throws
    {
        let program = try await program(until: Self.evening.advanced(by: .seconds(400_000_000)))
        #expect(try refusal(program, at: Self.evening) != nil)
        let thread = try ThreadExecutor.start(name: "journal")
        let journal = try await Journal.open(directory: program.state, executor: thread)
        let plan = try #require(SHA256Digest(String(repeating: "0", count: 64)))
        _ = try await journal.beginRun(rollout: "night", plan: plan, at: Self.evening)
        await journal.close()
        thread.stop()
        #expect(try refusal(program, at: Self.evening.advanced(by: .seconds(60))) == nil)
    }

    @Test func `with a wrong clock nothing is done for which the time matters`() async throws {
        let program = try await program(until: WallTime(milliseconds: 4_000_000_000_000))
        try program.copyDemo()
        let state = ["--state", program.state]
        for words in [
            ["run", "demo/rollout.yaml"], ["secrets", "rotate", "demo/rollout.yaml"],
            ["exec", "--manifest", "demo/rollout.yaml", "bike-01", "command lock"],
            ["enrol", "bike-99", "--list", "demo/fleet.csv"],
            ["inhibit", "--all", "--reason", "survey", "--for", "2h"],
        ] {
            let answer = try program.run(words + state)
            #expect(answer.status == 78, "\(words): \(answer.errors)")
            #expect(answer.errors.contains("the clock of this machine is wrong"), "\(words)")
        }
        for words in [
            ["inhibit", "--all", "--reason", "survey"],
            ["inhibit", "--all", "--reason", "survey", "--for", "2h", "--clock-is-right"],
        ] {
            #expect(try program.run(words + state).status == 0, "\(words)")
        }
    }
}

import Foundation
import Testing
import Workbench

/// What people see of a run on terminals: its own, and others.
@Suite struct WatchingTests {
    private func steered() throws -> Program {
        try Program.steered(3, bad: 1, rollout: "{waves: [1, rest]}")
    }

    @Test func `Ctrl-C is answered at once, the first one and the second one`() throws {
        let program = try steered()
        let terminal = try Pty(
            Program.path,
            program.steeredRun + ["--pace", "0.2"],
            in: program.folder.path
        )
        try terminal.wait(for: "at work on 1 vehicle")
        terminal.press(Pty.interrupt)
        try terminal.wait(for: "INT: comes to the next safe point and ends")
        terminal.press(Pty.interrupt)
        try terminal.wait(for: "ended at once; the same command goes on where this one stood")
        #expect(try terminal.end() == 130)
    }

    @Test func `there is something to watch, and it is for people`() throws {
        let program = try steered()
        let none = try program.run(["status", "--watch", "--state", program.folder.path + "/none"])
        #expect(none.status == 66)
        _ = try program.run(program.steeredRun)
        let json = try program.run(["status", "--watch", "--json", "--state", program.state])
        #expect(json.status == 64)
        let other = try program.run([
            "status", "--watch", "--rollout", "other", "--state", program.state,
        ])
        #expect(other.status == 66)
    }
}

import Foundation
import Testing
import Workbench

/// The display of a run on terminals: its own, and others.
@Suite struct WatchingTests {
    /// Starts a run that stays at its point until it is asked to hurry.
    private func begin(_ program: Program) throws -> Program.Running {
        let running = try program.begin("run", program.steeredRun + ["--pace", "0.5"])
        try #require(running.waits(for: "attempt-started"))
        return running
    }

    private func steered() throws -> Program {
        try Program.steered(3, bad: 1, rollout: "{waves: [1, rest]}")
    }

    /// A run that a module keeps waiting for ten simulated seconds, without a safe point: the second Ctrl-C comes
    /// before it, also on a busy machine.
    private func kept() throws -> Program {
        try Program.steered(
            3,
            bad: 1,
            fault: "silent-in: challenge",
            rollout: "{waves: [1, rest]}"
        )
    }

    @Test func `Ctrl-C is answered at once, the first one and the second one`() throws {
        let program = try kept()
        let terminal = try Pty(
            Program.path,
            program.steeredRun + ["--pace", "0.2"],
            in: program.folder.path
        )
        try terminal.wait(for: "at work on 1 vehicle")
        try terminal.wait(for: "authenticating")
        terminal.press(Pty.interrupt)
        try terminal.wait(for: "INT: comes to the next safe point and ends")
        terminal.press(Pty.interrupt)
        try terminal.wait(for: "ended at once; the same command goes on where this one stood")
        #expect(try terminal.end() == 130)
    }

    @Test func `what commands say fits a terminal, and is one line each in a pipe`() throws {
        let program = try steered()
        let ran = try program.run(program.steeredRun)
        #expect(ran.status == 10, "\(ran.errors)")
        let state = ["--state", program.state]
        for words in [
            ["status"] + state, ["show", "v1"] + state, ["history"] + state, ["profiles"],
            ["plan", "steered.yaml"] + state,
        ] {
            let terminal = try Pty(Program.path, words, in: program.folder.path, columns: 80)
            _ = try terminal.end()
            let shown = terminal.text.split(separator: "\r\n").map(String.init)
            for line in shown where !line.contains("yardmaster ") {
                #expect(line.count < 80, "\(words): \(line)")
            }
            let piped = try program.run(words).output
            #expect(shown.count >= piped.split(separator: "\n").count, "\(words)")
        }
    }

    @Test func `a window of any size has whole lines, and one that changes is drawn again`() throws
    {
        let program = try kept()
        let terminal = try Pty(
            Program.path,
            program.steeredRun + ["--pace", "0.2"],
            in: program.folder.path,
            columns: 80,
            lines: 24
        )
        var screen = Screen(width: 80, height: 24)
        try terminal.draw(on: &screen) {
            $0.text.contains("at work on 1 vehicle") && $0.text.contains("authenticating")
        }
        // Smaller, larger, and as before: the live lines are there once, and are not wrapped.
        for (columns, lines) in [(44, 16), (120, 40), (80, 24)] {
            screen.resize(width: columns, height: lines)
            terminal.resize(columns: UInt16(columns), lines: UInt16(lines))
            try terminal.draw(on: &screen) { screen in
                let shown = screen.text.split(separator: "\n").filter { $0.contains("at work on") }
                return shown.count == 1 && shown[0].count < columns
            }
        }
        terminal.press(Pty.interrupt)
        // Perhaps still folded for the size of before.
        try terminal.draw(on: &screen) { $0.text.contains("comes to the next safe point") }
        terminal.press(Pty.interrupt)
        try terminal.draw(on: &screen) { $0.text.contains("ended at once") }
        #expect(try terminal.end() == 130)
        #expect(screen.strange == [])
        // The live lines are gone, and none of them has scrolled up on the way.
        #expect(!screen.all.contains("at work on"), "\(screen.all)")
    }

    @Test func `another terminal shows what the run shows, until Ctrl-C`() throws {
        let program = try steered()
        let running = try begin(program)
        let terminal = try Pty(
            Program.path,
            ["status", "--watch", "--state", program.state],
            in: program.folder.path
        )
        for words in [
            "v1 ", "wave 1 of 2", "0 of 3 vehicles ended, 0 failed", "at work on 1 vehicle",
        ] {
            try terminal.wait(for: words)
        }
        running.hurries()
        let result = running.result()
        // The last line of the run, exactly.
        try terminal.wait(for: result.lastLine)
        try terminal.wait(for: "waits for the next run")
        // The next run is followed from its beginning.
        _ = try program.run(program.steeredRun + ["--again"])
        try terminal.wait(for: "rollout steered: run 2, 3 vehicles")
        terminal.press(Pty.interrupt)
        #expect(try terminal.end() == 0)
        // The program has set no mode of the terminal that would have to be reset.
        #expect(!terminal.text.contains("\u{1B}[?"))
        #expect(terminal.text.hasSuffix("\r\u{1B}[K"))
    }

    @Test func `into a pipe go lines`() throws {
        let program = try steered()
        let running = try begin(program)
        let watch = Process()
        let pipe = Pipe()
        watch.executableURL = URL(filePath: Program.path)
        watch.arguments = ["status", "--watch", "--state", program.state]
        watch.standardOutput = pipe
        watch.standardError = FileHandle.nullDevice
        try watch.run()
        var text = ""
        func read(until words: String) throws {
            while !text.contains(words) {
                let bytes = pipe.fileHandleForReading.availableData
                try #require(!bytes.isEmpty, "\(text)")
                text += String(decoding: bytes, as: UTF8.self)
            }
        }
        try read(until: "at work on ")
        running.hurries()
        try read(until: running.result().lastLine)
        try read(until: "waits for the next run\n")
        watch.interrupt()
        watch.waitUntilExit()
        #expect(watch.terminationStatus == 0)
        #expect(!text.contains("\u{1B}"))
        #expect(text.split(separator: "\n").contains { $0.contains("v2: succeeded") }, "\(text)")
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

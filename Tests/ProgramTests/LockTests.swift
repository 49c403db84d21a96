import Foundation
import Testing
import Workbench

/// Steps on locks of family `lrdevice`: their answers are data, and a refusal is a failure.
@Suite struct LockTests {
    private static let key = String(repeating: "5a", count: 32)

    private func run(
        _ program: Program,
        _ steps: String,
        faults: String = "",
        isServed: Bool = false
    ) throws -> Program.Result {
        try program.write("lock.key", "\(Self.key):opensesame")
        try program.write(
            "depot.yaml",
            """
            name: locks
            modules:
              - {serial: c0ffee000001, family: lrdevice, name: Gate, key: "\(Self.key)",
                 password: opensesame, auto-lock: 30, networks: [yard, office]\(faults)}

            """
        )
        try program.write(
            "rollout.yaml",
            """
            name: locks-\(UUID().uuidString.lowercased())
            vehicles:
              - {id: gate, serial: c0ffee000001, family: lrdevice, secret: "file:lock.key"}
            steps:
            \(steps)
            rollout: {retry: {transient: 1, device: 0}}

            """
        )
        let command = ["run", "rollout.yaml", "--state", program.state]
        guard isServed else { return try program.run(command + ["--simulate", "depot.yaml"]) }
        let served = try ServedDepot("depot.yaml", of: program)
        let result = try program.run(command + ["--bus", served.address])
        withExtendedLifetime(served) {}
        return result
    }

    @Test func `what a lock answers is read, expected and set`() throws {
        let program = try Program()
        let result = try run(
            program,
            """
              - read: [lock, name, auto-lock, networks]
              - feature: {auto-lock: off}
              - expect: {auto-lock: "== off"}
              - feature: {lock: unlocked}
              - expect: {lock: "== unlocked"}
              - feature: {name: North gate}
              - expect: {name: "== North gate"}
            """
        )
        #expect(result.status == 0, "\(result.output.suffix(900)) \(result.errors.suffix(600))")
        for value in ["lock is", "auto-lock is", "yard, office"] {
            #expect(result.output.contains(value), "\(value): \(result.output.suffix(900))")
        }
    }

    @Test func `a refusal is a failure, with the device's own word`() throws {
        let program = try Program()
        let result = try run(program, "  - feature: {wifi: \"nowhere,secret\"}")
        #expect(result.status == 10, "\(result.output.suffix(900))")
        #expect(result.output.contains("refused"), "\(result.output.suffix(900))")
    }

    @Test func `what was carried out is not repeated because the next feature was refused`() throws
    {
        let program = try Program()
        for steps in ["reset: on, wifi: \"nowhere,secret\"", "led: on, wifi: \"nowhere,secret\""] {
            let result = try run(program, "  - feature: {\(steps)}")
            #expect(result.status == 10, "\(result.output.suffix(900))")
            let isDone = result.output.contains("feature reset was carried out, but not all")
            #expect(isDone == steps.hasPrefix("reset"), "\(result.output.suffix(900))")
            #expect(result.output.contains("in-doubt") == isDone, "\(result.output.suffix(900))")
            guard isDone else { continue }
            let again = try run(program, "  - feature: {\(steps)}")
            #expect(again.output.contains("in-doubt"), "\(again.output.suffix(900))")
            #expect(try program.run(["clear", "gate", "--state", program.state]).status == 0)
        }
    }

    @Test func `an order that is refused for want of a bond is not done, and says what to add`()
        throws
    {
        let program = try Program()
        let result = try run(
            program,
            "  - feature: {led: on}",
            faults: ", faults: [{wants-bond: true, times: 9}]",
            isServed: true
        )
        #expect(result.status == 10, "\(result.output.suffix(900))")
        #expect(!result.output.contains("in-doubt"), "\(result.output.suffix(900))")
        #expect(result.output.contains("rejected"), "\(result.output.suffix(900))")
        #expect(result.output.contains("set `pairing`"), "\(result.output.suffix(900))")
    }

    @Test func `a name that is too long is reported before the run`() throws {
        let program = try Program()
        let result = try run(program, "  - feature: {name: a name of more than twenty characters}")
        #expect(result.status == 65)
        #expect(result.errors.contains("1 to 20 characters"), "\(result.errors)")
    }

    @Test func `an order that is answered by something else is in doubt, never not done`() throws {
        let program = try Program()
        let result = try run(
            program,
            "  - feature: {led: on}",
            faults: ", faults: [{wrong-kind: true}]"
        )
        #expect(result.status == 10, "\(result.output.suffix(900))")
        #expect(result.output.contains("in-doubt"), "\(result.output.suffix(900))")
    }

    @Test func `what a lock answers can be watched`() throws {
        let program = try Program()
        _ = try run(program, "  - read: [lock]")
        let watched = try program.run([
            "watch", "gate", "--manifest", "rollout.yaml", "--simulate", "depot.yaml", "--for",
            "5s",
        ])
        #expect(watched.status == 0, "\(watched.errors)")
        #expect(watched.output.contains(" lock locked"), "\(watched.output)")
        #expect(watched.output.contains(" auto-lock 30 second"), "\(watched.output)")
    }

    /// The journal leaves texts out, since one may be a password.
    @Test func `a text that another rollout owes is not taken for the one of this rollout`() throws
    {
        let program = try Program()
        #expect(try run(program, "  - read: [name]").status == 0)
        let digest = String(repeating: "a", count: 64)
        let owed =
            "INSERT INTO owed (execution, digest, ordinal, rollout, vehicle, run, action) "
            + "VALUES (999, '\(digest)', 0, 'other', 'gate', 1, 'feature name=…')"
        #expect(try Workbench.run("sqlite3", program.state + "/journal.sqlite", owed) == 0)
        for steps in ["  - feature: {name: North gate}", "  - read: [name]"] {
            let result = try run(program, steps)
            #expect(result.status == 10, "\(result.output.suffix(900))")
            #expect(
                result.output.contains(
                    "`feature name=…` of the rollout other cannot be done by this one"
                ),
                "\(result.output.suffix(900))"
            )
        }
    }

    @Test func `a lock in doubt is asked for its state`() throws {
        let program = try Program()
        let result = try run(
            program,
            "  - feature: {lock: unlocked}",
            faults: ", faults: [{silent: true}]"
        )
        #expect(result.status == 0, "\(result.output.suffix(900))")
        #expect(result.lastLine.contains("ok=1"), "\(result.output.suffix(900))")
    }
}

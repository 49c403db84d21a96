import Commands
import Foundation
import Operations
import Testing
import Workbench

/// Whose state a verb changes and shows, and what it does where no runs are.
@Suite struct GatewayStateTests {
    private static let verbs = [
        ["pause"], ["resume"], ["abort"], ["retry"], ["clear", "--all"], ["uninhibit", "--all"],
        ["inhibit", "--all", "--reason", "survey"], ["inhibit", "v1", "--reason", "brakes open"],
    ]

    /// Everything in a folder, with what is in it.
    private func files(_ folder: String) -> [String] {
        (FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? [])
            .sorted()
    }

    /// A folder with a journal, or something in its place.
    private func place(_ program: Program, _ name: String) throws -> String {
        let path = "\(program.folder.path)/\(name)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try program.write("\(name)/journal.sqlite", "x")
        return path
    }

    private func found(
        _ program: Program,
        flag: String? = nil,
        _ environment: [String: String] = [:]
    ) throws(CommandError) -> String {
        try GatewayState.find(
            flag: flag,
            environment: { environment[$0] },
            units: program.folder.path + "/units"
        )
    }

    @Test(arguments: verbs)
    func `a request where nothing has run is refused, and makes no journal`(verb: [String]) throws {
        let program = try Program()
        let home = program.folder.path + "/home"
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: false)
        let environment = ["HOME": home, "XDG_STATE_HOME": ""]
        let alone = try program.run(verb, environment: environment)
        #expect(alone.status == 66, "\(alone.errors)")
        #expect(alone.errors.contains("there is no journal in /var/lib/yardmaster"))
        #expect(alone.errors.contains("there is no journal in \(home)/.local/state/yardmaster"))
        let named = try program.run(verb + ["--state", program.state], environment: environment)
        #expect(named.status == 66, "\(named.errors)")
        #expect(named.errors.contains("there is no journal in \(program.state)"))
        #expect(files(home).isEmpty && !files(program.folder.path).contains("state"))
        // Nor in a directory that is there and in which nothing has run.
        try FileManager.default.createDirectory(
            atPath: program.state,
            withIntermediateDirectories: false
        )
        #expect(try program.run(verb + ["--state", program.state]).status == 66)
        #expect(files(program.state).isEmpty)
    }

    @Test func `a verb without a directory means the only one with runs, or none`() throws {
        let program = try Program()
        let home = program.folder.path + "/home"
        let environment = ["HOME": home]
        let none = #expect(throws: CommandError.self) { try found(program, environment) }
        #expect(none?.exitCode == .inputMissing && none?.causes.count == 2)
        let own = try place(program, "home/.local/state/yardmaster")
        #expect(try found(program, environment) == own)
        let units = try place(program, "units")
        let both = #expect(throws: CommandError.self) { try found(program, environment) }
        #expect(both?.exitCode == .inputMissing)
        #expect(both?.causes.count { $0.contains(own) || $0.contains(units) } == 2)
        #expect(try found(program, flag: "other", environment) == "other")
        #expect(try found(program, ["STATE_DIRECTORY": own + ":x", "HOME": home]) == own)
        try FileManager.default.removeItem(atPath: own)
        #expect(try found(program, environment) == units)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can become somebody who may not"))
    func `a state that this user may not use is named with its owner, and no other is taken`()
        async throws
    {
        await #expect(processExitsWith: .success) {
            let scratch = try Workbench.Scratch()
            let units = scratch.path + "/units"
            mkdir(units, 0o700)
            chmod(scratch.path, 0o755)
            try PlainUser.become()
            let error = #expect(throws: CommandError.self) {
                try GatewayState.find(
                    flag: nil,
                    environment: { ["HOME": "/nonexistent"][$0] },
                    units: units,
                    line: ["/usr/bin/yardmaster", "inhibit", "bus-17", "--reason", "brakes open"]
                )
            }
            #expect(error?.exitCode == .inputMissing)
            #expect(error?.causes == ["it belongs to root"])
            #expect(
                error?.hint
                    == "sudo -u root yardmaster inhibit bus-17 --reason 'brakes open'"
            )
        }
    }

    @Test
    func `the whole depot is meant only when that is said, and left alone only with a reason`()
        throws
    {
        let yard = try PromiseYard()
        try yard.manifest(steps: "[{command: lock}]")
        #expect(try yard.run().status == 0)
        for (words, remedy) in [
            (["inhibit"], "'yardmaster inhibit --all --reason TEXT'"),
            (["inhibit", "--reason", "survey"], "'yardmaster inhibit --all --reason TEXT'"),
            (["inhibit", "--all"], "'yardmaster inhibit --all --reason TEXT'"),
            (["uninhibit"], "'yardmaster uninhibit --all'"),
            (["clear"], "'yardmaster clear --all'"),
            (["clear", "--all", "car"], "'yardmaster clear --all'"),
        ] {
            let answer = try yard.program.run(words + ["--state", yard.program.state])
            #expect(answer.status == 64, "\(words): \(answer.output)\(answer.errors)")
            #expect(answer.errors.contains(remedy), "\(words): \(answer.errors)")
        }
        #expect(try yard.exec("car", "command lock").status == 0, "nothing was set")
        #expect(try yard.say("inhibit", "--all", "--reason", "survey").status == 0)
        #expect(try yard.exec("car", "command lock").status == 11)
        #expect(try yard.say("uninhibit", "--all").status == 0)
        #expect(try yard.exec("car", "command lock").status == 0)
    }
}

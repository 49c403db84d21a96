import Foundation
import Testing
import Workbench

/// One order to a vehicle, given in a shell.
@Suite struct ExecTests {
    private func exec(_ program: Program, _ vehicle: String, _ step: String) throws
        -> Program.Result
    {
        try program.run([
            "exec", "--manifest", "demo/rollout.yaml", "--simulate", "demo/depot.yaml", "--state",
            program.state, vehicle, step,
        ])
    }

    @Test func `what was set is read back and told`() throws {
        let program = try Program()
        try program.copyDemo()
        let result = try exec(program, "bike-02", "set lights=enabled; read lights, speed")
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("lights is enabled, speed is 0"))
        // The vehicle keeps its settings, and each order is a separate rollout.
        let again = try exec(program, "bike-02", "read lights")
        #expect(again.status == 0 && again.output.contains("lights is enabled"))
    }

    @Test(arguments: [
        ("bike-02", "set lihgts=enabled", 65, "did you mean `lights`?"),
        ("bike-02", "set assist=99", 65, "assist"),
        ("bike-02", "command lock", 65, "has no GO device"),
        ("bike-02", "fly home", 64, "cannot be understood"),
        ("bike-99", "read speed", 64, "has no vehicle bike-99"),
        ("bike-02", "expect state_of_charge>=95", 10, "state_of_charge is 80"),
    ])
    func `an order that cannot be done says why`(
        vehicle: String,
        step: String,
        status: Int,
        words: String
    ) throws {
        let program = try Program()
        try program.copyDemo()
        let result = try exec(program, vehicle, step)
        #expect(Int(result.status) == status, "\(result.errors)")
        #expect((result.errors + result.output).contains(words), "\(result.errors)")
    }

    @Test func `a profile of the operator's own is worked with`() throws {
        let program = try Program()
        try program.copyDemo()
        let shipped = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/Families/Comodule/Profiles/comodule-generic.yaml")
        let text = try String(contentsOf: shipped, encoding: .utf8)
            .replacingOccurrences(of: "profile: generic", with: "profile: mine")
        try FileManager.default.createDirectory(
            atPath: program.folder.path + "/profiles",
            withIntermediateDirectories: true
        )
        try program.write("profiles/mine.yaml", text)
        let list = try String(
            contentsOfFile: program.folder.path + "/demo/fleet.csv",
            encoding: .utf8
        )
        #expect(list.contains("comodule"))
        try program.write(
            "demo/rollout.yaml",
            """
            name: own
            vehicles:
              - {id: one, serial: "00a0000000000001", family: comodule, profile: mine, secret: "file:keys/demo.key"}
            steps:
              - read: speed
            """
        )
        let refused = try program.run(["validate", "demo/rollout.yaml"])
        #expect(refused.status == 65 && refused.errors.contains("has no profile"))
        let taken = try program.run([
            "run", "--profiles", "profiles", "--simulate", "demo/depot.yaml", "--state",
            program.state, "demo/rollout.yaml",
        ])
        #expect(taken.status == 0, "\(taken.errors)")
        #expect(taken.output.contains("speed is 0"))
    }

    /// A depot with one car, and its manifest.
    private func cars() throws -> Program {
        let program = try Program()
        try program.write("car.passkey", "123456\n")
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
              - {id: car, serial: G9-0001, family: geotab-go, token: "file:car.token",
                pairing: passkey, passkey: "file:car.passkey"}
            steps:
              - command: lock
            """
        )
        return program
    }

    private func order(_ step: String, _ more: String...) -> [String] {
        ["exec", "--manifest", "fleet.yaml", "car", step] + place + more
    }

    private let place = ["--simulate", "depot.yaml", "--state", "state"]

    private func deeds(_ program: Program) throws -> [String] {
        let text = try String(
            contentsOfFile: program.folder.path + "/state/simulation/cars.memory.deeds",
            encoding: .utf8
        )
        return text.split(separator: "\n").map { String($0.drop { $0 != " " }) }
    }

    @Test func `a vehicle stands where the last process left them`() throws {
        let program = try cars()
        func order(_ step: String) throws -> Program.Result { try program.run(self.order(step)) }
        #expect(try order("command check-in").status == 0)
        let again = try order("command check-in")
        #expect(again.status == 10, "\(again.errors)")
        #expect(again.output.contains("a reservation is already under way"))
        #expect(try order("command check-out; command lock").status == 0)
        #expect(
            try deeds(program) == [" g9-0001 check-in", " g9-0001 check-out", " g9-0001 lock"]
        )
    }

    @Test(arguments: [SIGINT, SIGKILL])
    func `an order that was cut off waits for a person, and no run is offered for it`(
        signal: Int32
    ) throws {
        let program = try cars()
        let running = try program.start(
            order(
                "command check-in; wait 1h; command lock",
                "--pace",
                "60",
                "--events",
                "events.jsonl"
            )
        )
        let path = program.folder.path + "/events.jsonl"
        try wait(for: "the check-in") {
            let text = try? String(contentsOfFile: path, encoding: .utf8)
            return text?.contains("\"step-ended\"") == true
        }
        kill(running.processIdentifier, signal)
        running.waitUntilExit()
        #expect(try deeds(program) == [" g9-0001 check-in"])

        for verb in [["status"], ["show", "car"], ["morning"]] {
            let shown = try program.run(verb + ["--state", "state"])
            #expect(shown.output.contains("no run goes on with an order"), "\(shown.output)")
            #expect(shown.output.contains("yardmaster history show"), "\(shown.output)")
            #expect(!shown.output.contains("MANIFEST"), "\(shown.output)")
            #expect(!shown.output.contains("run it again"), "\(shown.output)")
        }
        // Any later run leaves the task: it does not know what the order was for.
        #expect(try program.run(["run", "fleet.yaml"] + place).status == 0)
        let still = try program.run(["show", "car", "--state", "state"])
        #expect(still.output.contains("no run goes on with an order"), "\(still.output)")
        #expect(try program.run(order("command check-out; command lock")).status == 0)
        let after = try program.run(["show", "car", "--state", "state"])
        #expect(!after.output.contains("no run goes on with an order"), "\(after.output)")
        #expect(try deeds(program).count { $0.hasSuffix("check-in") } == 1)
    }
}

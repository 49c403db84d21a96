import Foundation
import Testing

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

    @Test func `a vehicle stands where the last process left them`() throws {
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
        func order(_ step: String) throws -> Program.Result {
            try program.run([
                "exec", "--manifest", "fleet.yaml", "--simulate", "depot.yaml", "--state",
                program.state, "car", step,
            ])
        }
        #expect(try order("command check-in").status == 0)
        let again = try order("command check-in")
        #expect(again.status == 10, "\(again.errors)")
        #expect(again.output.contains("a reservation is already under way"))
        #expect(try order("command check-out; command lock").status == 0)
        let deeds = try String(
            contentsOfFile: program.state + "/simulation/cars.memory.deeds",
            encoding: .utf8
        )
        let orders = deeds.split(separator: "\n").map { $0.drop { $0 != " " } }
        #expect(orders == [" g9-0001 check-in", " g9-0001 check-out", " g9-0001 lock"])
    }
}

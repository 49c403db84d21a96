import Foundation
import Testing

/// `secrets check`, run as a shell would run it.
@Suite struct SecretsCheckTests {
    private let program: Program

    init() throws {
        program = try Program()
        try program.write("good.key", "11\n")
        try program.write("open.key", "11\n", mode: 0o644)
        try program.write("bad.key", "not hex\n")
        try program.write("car.token", SampleTokens.good)
        try program.write("old.token", SampleTokens.bad)
    }

    private func check(_ rows: String, _ more: String...) throws -> Program.Result {
        try program.write(
            "cars.yaml",
            """
            name: cars
            vehicles:
            \(rows)
            steps:
              - wait: 1s

            """
        )
        return try program.run(["secrets", "check", "cars.yaml"] + more)
    }

    @Test func `each secret is read and told of, and none is shown`() throws {
        let result = try check(
            """
              - {id: b1, serial: "00a0000000000001", family: comodule, secret: "file:good.key"}
              - {id: b2, serial: "00a0000000000002", family: comodule, secret: "file:open.key"}
              - {id: b3, serial: "00a0000000000003", family: comodule, secret: "file:bad.key"}
              - {id: b4, serial: "00a0000000000004", family: comodule, secret: "file:none.key"}
              - {id: c1, serial: G9-0001, family: geotab-go, secret: "file:car.token"}
              - {id: c2, serial: G9-0002, family: geotab-go, token: {command: [./issue]}}
              - {id: e1, serial: esp-0001, family: esp}
            """
        )
        #expect(result.status == 78, "\(result.output)\(result.errors)")
        let lines = result.output.split(separator: "\n").map { line in
            line.split(separator: " ").map(String.init)
        }
        #expect(lines.map { $0[0] } == ["b1", "b2", "b3", "b4", "c1", "c2", "cars.yaml:"])
        let words = ["good", "REFUSED", "REFUSED", "REFUSED", "good", "issued"]
        #expect(lines.prefix(6).map { $0[3] } == words)
        #expect(result.output.contains("open.key can be read by other users"))
        #expect(result.output.contains("6 secrets of 7 vehicles, 3 refused"))
        #expect(!result.output.contains("not hex"))
        #expect(!result.output.contains(SampleTokens.good.prefix(40)))
        let quiet = try program.run(["secrets", "check", "cars.yaml", "--quiet"])
        #expect(quiet.output.split(separator: "\n").count == 3)
        let json = try program.run(["secrets", "check", "cars.yaml", "--json"])
        #expect(json.status == 78 && json.output.contains("\"standing\":\"issued\""))
    }

    @Test func `a token of another vehicle, or one that is over, is refused`() throws {
        let other = try check(
            """
              - {id: c1, serial: G9-0009, family: geotab-go, secret: "file:car.token"}
            """
        )
        #expect(other.status == 77, "\(other.output)\(other.errors)")
        #expect(other.output.contains("for another vehicle"))
        let old = try check(
            """
              - {id: c1, serial: G9-0001, family: geotab-go, secret: "file:old.token"}
            """
        )
        #expect(old.status == 78, "\(old.output)\(old.errors)")
        let good = try check(
            """
              - {id: c1, serial: G9-0001, family: geotab-go, secret: "file:car.token"}
            """
        )
        #expect(good.status == 0 && good.output.contains("0 refused"), "\(good.output)")
    }

    @Test func `a key that is missing is told of beside a passkey that is there`() throws {
        try program.write("six", "012345\n")
        let row = """
              - {id: b1, serial: "00a0000000000001", family: comodule, pairing: passkey, passkey: "file:six"}
            """
        let result = try check(row)
        #expect(result.status == 65, "\(result.output)\(result.errors)")
        #expect(result.output.contains("2 secrets of 1 vehicle, 1 refused"), "\(result.output)")
        #expect(result.output.contains("vehicle b1 has no secret"), "\(result.output)")
        // `validate` reports the same.
        let plan = try program.run(["validate", "cars.yaml"])
        #expect(plan.status == 65 && plan.errors.contains("vehicle b1 has no secret"))
    }

    @Test func `what a token's server is asked with may be the service manager's`() throws {
        let row = """
              - {id: c1, serial: G9-0001, family: geotab-go, token: {url: "https://t.example/", key: "credential:desk"}}
            """
        let result = try check(row)
        #expect(result.status == 78, "\(result.output)\(result.errors)")
        #expect(result.output.contains("passed no credentials directory"), "\(result.output)")
        let plan = try program.run(["validate", "cars.yaml"])
        #expect(plan.status == 0, "\(plan.errors)")
        #expect(plan.errors.contains("passed no credentials directory"), "\(plan.errors)")
    }
}

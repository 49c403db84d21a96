import Foundation
import Testing

/// Where secrets do not get to: the environment of other programs, and dumps of our memory.
@Suite(.serialized, .timeLimit(.minutes(3))) struct SecretKeepingTests {
    private static let secrets = [
        "YARDMASTER_CAR_KEY": "swordfish-1", "CAR_KEY": "swordfish-2",
        "CREDENTIALS_DIRECTORY": "/run/swordfish-3",
    ]

    /// Writes down what the program that calls this script gave it.
    private static let spy =
        "#!/bin/sh\ncd \"$(dirname \"$0\")\"\nenv > seen-$(basename \"$0\")\n"
        + "grep core /proc/$PPID/limits > limits-$(basename \"$0\")\n"

    private func text(_ name: String, _ program: Program) throws -> String {
        try String(contentsOfFile: program.folder.path + "/" + name, encoding: .utf8)
    }

    /// Checks what such a script has written down.
    private func judge(_ name: String, _ program: Program) throws {
        let seen = try text("seen-" + name, program)
        #expect(seen.contains("PATH="), "\(seen)")
        #expect(!seen.contains("swordfish"), "\(seen)")
        let limits = try text("limits-" + name, program).split(separator: " ").map(String.init)
        #expect(limits.prefix(6).dropFirst(4).allSatisfy { ["0", "1"].contains($0) }, "\(limits)")
    }

    @Test func `checks and notices run without our environment, and we leave no core`() throws {
        let program = try Program.steered(
            3,
            rollout: "{waves: [1, rest], between-waves: {check: [./check]}}"
        )
        for name in ["check", "pager"] { try program.write(name, Self.spy, mode: 0o700) }
        let manifest = try text("steered.yaml", program)
        try program.write(
            "steered.yaml",
            manifest + "notify: {targets: {pager: {program: [\(program.folder.path)/pager]}}}\n"
        )
        let run = try program.run(program.steeredRun, environment: Self.secrets)
        #expect(run.status == 0, "\(run.errors)")
        let sent = try program.run(
            ["notify", "test", "--manifest", "steered.yaml", "--state", program.state],
            environment: Self.secrets
        )
        #expect(sent.status == 0, "\(sent.errors)")
        try judge("check", program)
        try judge("pager", program)
    }

    @Test func `issuers of tokens run without our environment`() throws {
        let program = try Program()
        try program.write("cars.token", SampleTokens.good)
        try program.write("issue", Self.spy + "cat cars.token\n", mode: 0o700)
        try program.write(
            "depot.yaml",
            """
            name: cars
            seed: 3
            tenant-keys: ["00\(SampleTokens.tenant)"]
            modules:
              - {serial: G9-0001, family: geotab-go, hardware-id: 553845661}

            """
        )
        try program.write(
            "cars.yaml",
            """
            name: cars
            vehicles:
              from: [{id: car-1, serial: G9-0001, family: geotab-go}]
              token: {command: [./issue]}
            steps: [{command: lock}]

            """
        )
        let run = try program.run(
            ["run", "cars.yaml", "--simulate", "depot.yaml", "--state", program.state],
            environment: Self.secrets
        )
        #expect(run.status == 0, "\(run.errors)")
        try judge("issue", program)
    }

    @Test func `a tool that doctor asks runs without our environment`() throws {
        let program = try Program()
        try program.write("bluetoothctl", Self.spy + "echo bluetoothctl: 5.66\n", mode: 0o700)
        let environment = ["PATH": program.folder.path + ":/usr/bin:/bin"]
        let result = try program.run(
            ["doctor", "--bus", "unix:path=/nonexistent"],
            environment: Self.secrets.merging(environment) { $1 }
        )
        #expect(result.output.contains("5.66"), "\(result.output)")
        try judge("bluetoothctl", program)
    }
}

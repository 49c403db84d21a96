import Foundation
import Testing
import VehicleModules

/// Modules that are opened without a secret of their own, in simulated air and over a served bus,
/// and by a manifest.
@Suite(.serialized, .timeLimit(.minutes(3))) struct LibraryKeyTests {
    typealias Air = LibraryBench.Air

    private static let security = """
          security:
            service: 00002554-1212-efde-1523-785feabcd123
            key: 00002555-1212-efde-1523-785feabcd123
            challenge: 00002556-1212-efde-1523-785feabcd123
            response: 00002557-1212-efde-1523-785feabcd123
            authenticated: 00002558-1212-efde-1523-785feabcd123

        """

    private static func profile(_ name: String, _ authentication: String) -> String {
        """
        profile: \(name)
        family: comodule
        title: A model that is opened without a secret of its own
        known-from: this test
        advertisement: {company: "020f", serial: {in: manufacturer-data, length: 8}}
        gatt:
          metrics:
            service: 00001554-1212-efde-1523-785feabcd123
            notifier: 0000155e-1212-efde-1523-785feabcd123
            register: 0000155f-1212-efde-1523-785feabcd123
            selector: 00001564-1212-efde-1523-785feabcd123
        \(authentication.contains(": none") ? "" : security)\(authentication)
        properties:
          - {name: charge, type: range, access: read-only, read: {register: "0401", at: 2, bytes: 1}}
        firmware:
          - {part: secondary, protocol: secure-dfu, selector: "00", version: {information: "2a26"}}

        """
    }

    private let bench: LibraryBench
    private let profiles: String

    init() throws {
        bench = try LibraryBench(
            """
            name: keys
            seed: 3
            modules:
              - {serial: "00a0000000000001", key: "11", version: "4.11.3"}
              - {serial: "00a0000000000002", profile: open, version: "4.11.3"}

            """
        )
        profiles = bench.program.folder.path + "/profiles"
        try FileManager.default.createDirectory(atPath: profiles, withIntermediateDirectories: true)
        let names = [
            ("keyed", "authentication: challenge-response\ndefault-key: file:../fleet.key"),
            ("lost", "authentication: challenge-response\ndefault-key: file:none.key"),
            ("open", "authentication: none"),
        ]
        for (name, lines) in names {
            try bench.program.write("profiles/\(name).yaml", Self.profile(name, lines))
        }
        try bench.program.write("fleet.key", "11\n")
    }

    @Test(arguments: Air.allCases)
    func `a module without a secret is opened by its profile, or says which line to add`(
        air: Air
    ) async throws {
        try await bench.on(air, profiles: profiles) { radio in
            let cases = [("00a0000000000001", "keyed"), ("00a0000000000002", "open")]
            for (serial, profile) in cases {
                try await radio.withModule(serial, profile: profile) { module in
                    #expect(module.firmware?.secondary == "4.11.3", "\(profile)")
                    let properties = await module.properties
                    #expect(properties.map(\.name) == ["charge"])
                }
            }
            // An open module has no secret that could be changed.
            let unchanged = await LibraryBench.code {
                try await radio.withModule("00a0000000000002", profile: "open") { module in
                    try await module.changeSecret(to: ModuleSecret("22"))
                }
            }
            #expect(unchanged == .invalidValue)
            let missing = await LibraryBench.code {
                try await radio.withModule("00a0000000000001", profile: "lost") { _ in }
            }
            #expect(missing == .invalidFile)
            do {
                try await radio.withModule("00a0000000000001") { _ in }
                Issue.record("it was opened")
            } catch let failure as ModuleFailure {
                #expect(failure.code == .invalidPrivateKey)
                #expect(failure.remedy.contains("default-key") && failure.remedy.contains("none"))
            }
        }
    }

    @Test func `a manifest's vehicles without a secret are opened by their profile`() throws {
        let program = bench.program
        try program.write(
            "keys.yaml",
            """
            name: keys
            profiles: profiles
            vehicles:
              - {id: keyed, serial: "00a0000000000001", family: comodule, profile: keyed}
              - {id: open, serial: "00a0000000000002", family: comodule, profile: open}
            steps:
              - read: [charge]

            """
        )
        let check = try program.run(["secrets", "check", "keys.yaml"])
        #expect(check.status == 0, "\(check.output)\(check.errors)")
        #expect(check.output.contains("file:../fleet.key"))
        #expect(check.output.contains("1 secret of 2 vehicles, 0 refused"), "\(check.output)")
        let run = try program.run(
            ["run", "keys.yaml", "--simulate", "depot.yaml", "--state", program.state]
        )
        #expect(run.status == 0 && run.output.contains("ok=2"), "\(run.output)\(run.errors)")
        let none = try program.run(
            ["validate", "keys.yaml", "--profiles", "profiles"]
        )
        #expect(none.status == 0, "\(none.errors)")
    }

    @Test func `a default key that no module of the profile takes, or that is the key, is refused`()
        throws
    {
        let cases = [
            ("a", "authentication: none\ndefault-key: file:fleet.key", "have no default key"),
            (
                "b", "authentication: challenge-response\ndefault-key: \"112233\"",
                "a key must be a reference"
            ),
        ]
        for (name, lines, text) in cases {
            try bench.program.write("\(name).yaml", Self.profile(name, lines))
            let found = try bench.program.run(["profiles", "check", "\(name).yaml"])
            #expect(found.status == 65 && found.errors.contains(text), "\(found.errors)")
            #expect(!found.errors.contains("112233"))
        }
    }
}

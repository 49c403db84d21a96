import Base
import Foundation
import Testing

/// Image files that a plan uses for a part for which they are not made.
@Suite struct PairingTests {
    private struct File {
        let path: String
        /// The version in the file, or the expected version of its image.
        let version: String
        /// The parts for which the file may be used, by family.
        let fits: [String: [String]]
    }

    private static let parts = ["secondary", "primary", "bootloader", "external-1", "external-2"]
    private static let handedOn = ["primary", "external-1", "external-2"]

    private static let files = [
        File(
            path: "ImagesTests/Fixtures/app.zip",
            version: "4.12.0",
            fits: ["comodule": ["secondary"] + handedOn, "nordic": ["secondary"]]
        ),
        File(
            path: "ImagesTests/Fixtures/all.zip",
            version: "4.12.0",
            fits: ["comodule": ["secondary"], "nordic": ["secondary"]]
        ),
        File(
            path: "ImagesTests/Fixtures/bl.zip",
            version: "0.0.3",
            fits: ["comodule": ["bootloader"]]
        ),
        File(path: "ImagesTests/Fixtures/sd.zip", version: "1.0.0", fits: [:]),
        File(
            path: "ImagesTests/Fixtures/legacy.zip",
            version: "1.0.0",
            fits: ["nordic/legacy": ["secondary"]]
        ),
        File(
            path: "SMPTests/Fixtures/large.img",
            version: "2.0.0",
            fits: ["mcumgr": ["secondary"]]
        ),
        File(
            path: "SMPTests/Fixtures/dfu_application.zip",
            version: "2.1.0",
            fits: ["mcumgr": ["secondary"]]
        ),
        File(
            path: "../manifests/sensors/sensor-2.7.31.bin",
            version: "2.7.31",
            fits: ["esp": ["secondary"]]
        ),
        File(path: "ImagesTests/Fixtures/signer.der", version: "1.0.0", fits: [:]),
    ]

    private static let vehicles = [
        "comodule": ("00a0000000000001", ", secret: file:key"),
        "lrdevice": ("c0ffee000001", ""),
        "mcumgr": ("ym-0001", ""),
        "nordic": ("tag-0001", ""),
        "esp": ("esp-0001", ""),
        "nordic/legacy": ("tag-0002", ", profile: legacy"),
    ]

    private static let depot = """
        name: pairs
        modules:
          - {serial: "00a0000000000001", key: "11", type: 17, version: "0.1.0"}
          - {serial: c0ffee000001, family: lrdevice}
          - {serial: ym-0001, family: mcumgr, version: "0.1.0"}
          - {serial: esp-0001, family: esp, version: "0.1.0"}
          - {serial: tag-0001, family: nordic, version: "0.1.0"}
          - {serial: tag-0002, family: nordic, bootloader: legacy-dfu, version: "0.1.0"}

        """

    /// Runs one vehicle with an update of each of these parts from the same file.
    private func run(
        _ program: Program,
        _ path: String,
        _ version: String,
        _ family: String,
        _ parts: [String]
    ) throws -> Program.Result {
        let bytes = try Data(
            contentsOf: Program.repository.appending(path: "Tests/\(path)")
        )
        try program.write("image", bytes)
        try program.write("key", "11")
        try program.write("depot.yaml", Self.depot)
        let digest = SHA256.digest(of: [UInt8](bytes))
        let (serial, secret) = try #require(Self.vehicles[family])
        let family = family.split(separator: "/").first.map(String.init) ?? family
        let updates = parts.map { "  - update: {to: new, part: \($0), downgrade: allow}\n" }
        try program.write(
            "rollout.yaml",
            """
            name: pairs-\(UUID().uuidString.lowercased())
            vehicles:
              - {id: one, serial: "\(serial)", family: \(family)\(secret)}
            images:
              new:
                url: file:image
                sha256: "\(digest)"
                version: "\(version)"
                fits: {family: \(family)}
            steps:
            \(updates.joined())
            rollout: {retry: {transient: 0, device: 0}}
            connect: {attempts: 1}

            """
        )
        return try program.run([
            "run", "rollout.yaml", "--simulate", "depot.yaml", "--state", program.state,
            "--events", "events",
        ])
    }

    private func events(_ program: Program) -> String {
        (try? String(contentsOfFile: program.folder.path + "/events", encoding: .utf8)) ?? ""
    }

    @Test(arguments: ["comodule", "lrdevice", "mcumgr", "nordic", "nordic/legacy", "esp"])
    func `a file for another part, protocol or family is refused before any packet`(
        family: String
    ) throws {
        for file in Self.files {
            let right = file.fits[family, default: []]
            for part in right {
                let program = try Program()
                let result = try run(program, file.path, file.version, family, [part])
                let pair = "\(file.path) \(family) \(part): \(result.errors.suffix(600))"
                #expect(result.status != 77, "\(pair)")
                #expect(events(program).contains("attempt-started"), "\(pair)")
            }
            let program = try Program()
            let wrong = Self.parts.filter { !right.contains($0) }
            let result = try run(program, file.path, file.version, family, wrong)
            let pair = "\(file.path) \(family) \(wrong): \(result.errors.suffix(600))"
            #expect(result.status == 77, "\(result.status) \(pair)")
            #expect(!events(program).contains("attempt-started"), "\(pair)")
            // Every part is named, not only the first, unless the file fits no part at all.
            if result.errors.contains("cannot be used") { continue }
            if result.errors.contains("take no firmware") { continue }
            for part in wrong {
                #expect(result.errors.contains("`\(part)`"), "\(part) of \(pair)")
            }
        }
    }

    /// A refusal that names all parts is not enough: each part is also refused alone.
    @Test(arguments: ["comodule", "nordic/legacy"])
    func `a wrong part is refused by itself`(family: String) throws {
        let file = Self.files[0]
        for part in Self.parts where !file.fits[family, default: []].contains(part) {
            let program = try Program()
            let result = try run(program, file.path, file.version, family, [part])
            #expect(result.status == 77, "\(result.status) \(part) \(result.errors.suffix(600))")
            #expect(!events(program).contains("attempt-started"), "\(part)")
        }
    }

    @Test(arguments: [
        ("ImagesTests/Fixtures/app.zip", "comodule", "secondary"),
        ("ImagesTests/Fixtures/bl.zip", "comodule", "bootloader"),
        ("SMPTests/Fixtures/large.img", "mcumgr", "secondary"),
        ("SMPTests/Fixtures/dfu_application.zip", "mcumgr", "secondary"),
    ])
    func `a file of another version than promised is refused before any packet`(
        path: String,
        family: String,
        part: String
    ) throws {
        let program = try Program()
        let result = try run(program, path, "7.7.7", family, [part])
        #expect(result.status == 77, "\(result.errors.suffix(600))")
        #expect(result.errors.contains("the manifest says 7.7.7"), "\(result.errors.suffix(600))")
        #expect(!events(program).contains("attempt-started"))
    }
}

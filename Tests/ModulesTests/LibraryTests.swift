import Foundation
import Testing
import VehicleModules

/// The library as another program uses it.
@Suite struct LibraryTests {
    private static let depot = """
        name: library
        modules:
          - {serial: "00a0000000000001", count: 2, key: "11", type: 17, version: "4.11.3",
             state-of-charge: 64}
          - {serial: "00a0000000000003", key: "22", faults: [{refuses-bond: true}]}

        """

    private static func withDepot<R: Sendable>(
        _ text: String = depot,
        _ body: @escaping @Sendable (ModuleRadio) async throws -> R
    ) async throws -> R {
        let path = FileManager.default.temporaryDirectory
            .appending(path: "depot-\(UUID().uuidString).yaml").path
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try await ModuleRadio.on(.simulated(depot: path), body)
    }

    @Test func `modules are found, connected to, read, written and followed`() async throws {
        try await Self.withDepot { radio in
            let found = try await radio.scan(for: .seconds(5))
            #expect(found.map(\.serial.last) == ["1", "2", "3"])
            #expect(found.allSatisfy { $0.family == "comodule" && $0.signal == -60 })
            let serial = found[0].serial.uppercased()
            try await radio.withModule(serial, secret: ModuleSecret("11")) { module in
                #expect(
                    module.state == .connected(name: "COMODULE", serial: found[0].serial)
                )
                #expect(module.firmware?.secondary == "4.11.3")
                #expect(module.firmware?.type == 17)
                #expect(module.firmware?.externalComponents["external-1"] == "1.2.3")
                let properties = await module.properties
                #expect(properties.count == 14)
                #expect(properties.first?.name == "state_of_charge")
                #expect(properties.first?.value == .number(64))
                #expect(properties.last?.isReadable == false)
                let values = await module.values(of: "lights")
                let taken = try await module.write(.state("enabled"), to: "lights")
                #expect(taken.description == "enabled")
                for await value in values where value == .state("enabled") { break }
            }
            #expect(radio.logs.contains { $0.contains("connected to 00a0000000000001") })
            radio.clearLogs()
            #expect(radio.logs.isEmpty)
        }
    }

    @Test(arguments: [
        ("00a0000000000001", "33", ModuleFailure.Code.invalidPrivateKey),
        ("00a0000000000001", "zz", .invalidPrivateKey), ("00a0000000000003", "22", .bondingError),
        ("00a0000000000009", "11", .timedOut), ("", "11", .invalidSerial),
    ])
    func `what fails has a code, a sentence and a remedy`(
        serial: String,
        secret: String,
        code: ModuleFailure.Code
    ) async throws {
        try await Self.withDepot { radio in
            do {
                try await radio.withModule(serial, secret: ModuleSecret(secret)) { _ in }
                Issue.record("it was connected")
            } catch let failure as ModuleFailure {
                #expect(failure.code == code)
                #expect(!failure.sentence.isEmpty && !failure.remedy.isEmpty)
                #expect(!"\(failure)".contains(secret) || secret.count < 3)
            }
        }
    }

    @Test func `a depot that is none is told with its place`() async throws {
        do {
            try await Self.withDepot("name: x\nmoduls: []\n") { _ in }
            Issue.record("it was taken")
        } catch let failure as ModuleFailure {
            #expect(failure.code == .invalidFile)
            #expect(failure.sentence.contains(".yaml:2:1"))
            #expect(failure.remedy == "did you mean `modules`?")
        }
    }

    @Test func `a secret is never printed`() {
        let secret = ModuleSecret("0badcafe")
        #expect("\(secret)" == "<secret>")
        #expect(String(reflecting: secret) == "<secret>")
        var text = ""
        dump(secret, to: &text)
        #expect(!text.contains("badcafe") && !text.contains("11"))
    }
}

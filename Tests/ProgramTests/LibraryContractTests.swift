import Foundation
import Testing
import VehicleModules

/// The guarantees of the library, in simulated air and over a served bus.
@Suite(.serialized, .timeLimit(.minutes(3))) struct LibraryContractTests {
    typealias Air = LibraryBench.Air

    private static let depot = """
        name: contract
        seed: 3
        modules:
          - {serial: "00a0000000000001", count: 2, key: "11", type: 17, version: "4.11.3",
             state-of-charge: 64}
          - {serial: "0a0b0c0d0e0f", family: lrdevice, networks: [depot, yard],
             guest-code: "123456", guest-id: "7"}

        """

    private let bench: LibraryBench

    private var program: Program { bench.program }

    init() throws { bench = try LibraryBench(Self.depot) }

    private func on<R: Sendable>(
        _ air: Air,
        _ body: @escaping @Sendable (ModuleRadio) async throws -> R
    ) async throws -> R { try await bench.on(air, body) }

    @Test(arguments: Air.allCases)
    func `modules are found, connected to, read, written and followed`(air: Air) async throws {
        try await on(air) { radio in
            let found = try await radio.scan(for: .seconds(20), until: "00A0000000000002")
            #expect(found.contains { $0.serial == "00a0000000000002" && $0.family == "comodule" })
            let secret = ModuleSecret("11")
            try await radio.withModule("00A0000000000001", secret: secret) { module in
                #expect(module.state == .connected(name: "COMODULE", serial: "00a0000000000001"))
                #expect(module.firmware?.secondary == "4.11.3" && module.firmware?.type == 17)
                let properties = await module.properties
                #expect(properties.count == 14)
                #expect(properties.first?.name == "state_of_charge")
                let assist = try #require(properties.first { $0.name == "assist" })
                #expect(assist.limits == 0...4 && assist.initial == 0 && assist.variant == nil)
                #expect(assist.kind == .range(writable: 0...4, step: 1))
                #expect(try await module.read("state_of_charge") == .number(64))
                let values = await module.values(of: "lights")
                #expect(
                    try await module.write(.state("enabled"), to: "lights") == .state("enabled")
                )
                for await value in values where value == .state("enabled") { break }
                await #expect(throws: ModuleFailure.self) {
                    try await module.write(.state("purple"), to: "lights")
                }
                do {
                    _ = try await module.read("sped")
                } catch let failure as ModuleFailure { #expect(failure.code == .propertyNotFound) }
            }
            // The link has ended with the body: the next call can connect to the module.
            try await radio.withModule("00a0000000000001", secret: secret) { module in
                let lights = try await module.read("lights")
                #expect(lights == .state("enabled"))
            }
            #expect(radio.logs.contains { $0.contains("connected to 00a0000000000001") })
        }
    }

    @Test(arguments: Air.allCases)
    func `a scan is followed while it lasts, and ends with its body or its time`(
        air: Air
    ) async throws {
        try await on(air) { radio in
            let count = try await radio.withDiscovery(profiles: ["comodule/generic"]) { discovery in
                #expect(discovery.isScanning)
                for await isScanning in discovery.scanning {
                    #expect(isScanning)
                    break
                }
                var count = 0
                for try await list in discovery.lists {
                    count = list.count
                    if count == 2 { break }
                }
                return count
            }
            #expect(count == 2)
            let nobody = try await radio.withDiscovery(for: .seconds(2), profiles: ["esp/generic"])
            {
                discovery in
                for try await list in discovery.lists { #expect(list.isEmpty) }
                #expect(!discovery.isScanning && discovery.failure == nil)
                for await isScanning in discovery.scanning { #expect(!isScanning) }
                for await failure in discovery.failures { Issue.record("\(failure)") }
                return discovery.modules
            }
            #expect(nobody.isEmpty)
            // Neither end is an error.
            #expect(!radio.logEntries.contains { $0.level == .error })
            // The radio is free again.
            try await radio.withModule("00a0000000000001", secret: ModuleSecret("11")) { _ in }
        }
    }

    @Test(arguments: Air.allCases)
    func `a module is connected to as it was discovered, by any profile that recognises it`(
        air: Air
    ) async throws {
        try await on(air) { radio in
            let wanted: Set = ["comodule/ebike-display"]
            let found = try await radio.withDiscovery(profiles: wanted) { discovery in
                for try await list in discovery.lists where list.count == 2 { return list }
                return []
            }
            #expect(found.map(\.profiles) == [["ebike-display"], ["ebike-display"]])
            let first = try #require(found.first)
            try await radio.withModule(first, secret: ModuleSecret("11")) { module in
                let names = await module.properties.map(\.name)
                #expect(names.contains("odometer") && !names.contains("state_of_charge"))
            }
            let all = try await radio.scan(for: .seconds(10), until: first.serial)
            let same = try #require(all.first { $0.serial == first.serial })
            #expect(same.profiles == ["generic", "ebike-display"])
            let codes = [
                await LibraryBench.code {
                    try await radio.withDiscovery(profiles: ["tram/x"]) { _ in }
                },
                await LibraryBench.code {
                    try await radio.withDiscovery(profiles: ["esp/x"]) { _ in }
                },
                await LibraryBench.code {
                    try await radio.withDiscovery(profiles: ["esp"]) { _ in }
                },
            ]
            #expect(codes == [.invalidValue, .invalidFile, .invalidFile])
        }
    }

    @Test(arguments: Air.allCases)
    func `a lock is named, agreed with, locked, unlocked and opened for a guest`(
        air: Air
    ) async throws {
        try await on(air) { radio in
            let serial = "0a0b0c0d0e0f"
            let secret = try await radio.withModule("0A0B0C0D0E0F", family: "lrdevice") { lock in
                try await lock.perform("name", "bay 3")
                #expect(try await lock.read("name") == .state("bay 3"))
                try await lock.perform("auto-lock", "30")
                #expect(try await lock.read("auto-lock") == .number(30))
                #expect(try await lock.read("networks") == .state("depot, yard"))
                // A command that the program itself defines, by its number.
                let answer = try await lock.send(ModuleCommand(2, in: 1))
                #expect(answer == Array("bay 3".utf8))
                let secret = try await lock.agreeOnSecret(password: "hidden") { secret in
                    #expect("\(secret)" == "<secret>")
                    #expect(secret.withText { $0.hasSuffix(":hidden") && $0.utf8.count == 71 })
                }
                // The connection has used the new secret since.
                try await lock.perform("lock", "unlocked")
                #expect(try await lock.read("lock") == .state("unlocked"))
                try await lock.perform("lock", "locked")
                return secret
            }
            try await radio.withModule(serial, family: "lrdevice", secret: secret) { lock in
                #expect(try await lock.read("lock") == .state("locked"))
                try await lock.perform("lock", "unlocked")
                #expect(try await lock.read("lock") == .state("unlocked"))
                try await lock.perform("lock", "locked")
                let code = await LibraryBench.code {
                    try await lock.unlockForGuest(code: "654321", id: "7")
                }
                #expect(code == .refused)
                try await lock.unlockForGuest(code: "123456", id: "7")
                #expect(try await lock.read("lock") == .state("unlocked"))
            }
            let other = ModuleSecret(String(repeating: "42", count: 32) + ":other")
            try await radio.withModule(serial, family: "lrdevice", secret: other) { lock in
                let code = await LibraryBench.code { try await lock.perform("lock", "locked") }
                #expect(code == .refused)
                // A password that cannot be kept is refused before the lock has another key.
                let unfit = await LibraryBench.code {
                    try await lock.agreeOnSecret(password: "two words") { _ in }
                }
                #expect(unfit == .invalidPrivateKey)
            }
            let code = await LibraryBench.code {
                let unfit = ModuleSecret("no colon")
                try await radio.withModule(serial, family: "lrdevice", secret: unfit) { _ in }
            }
            #expect(code == .invalidPrivateKey)
            // Its owner's secret opens it still.
            try await radio.withModule(serial, family: "lrdevice", secret: secret) { lock in
                try await lock.perform("lock", "locked")
            }
        }
    }

    @Test(arguments: Air.allCases)
    func `what fails has the same code`(air: Air) async throws {
        try await on(air) { radio in
            let cases: [(String, String, ModuleFailure.Code)] = [
                ("00a0000000000001", "33", .invalidPrivateKey),
                ("00a0000000000001", "zz", .invalidPrivateKey),
                ("00a0000000000009", "11", .timedOut), ("", "11", .invalidSerial),
            ]
            for (serial, secret, code) in cases {
                do {
                    try await radio.withModule(
                        serial,
                        secret: ModuleSecret(secret),
                        timeout: code == .timedOut ? .seconds(2) : .seconds(30)
                    ) { _ in
                        _ = Issue.record("\(serial) was connected to")
                    }
                } catch let failure as ModuleFailure {
                    #expect(failure.code == code, "\(failure)")
                }
            }
        }
    }

    @Test(arguments: Air.allCases)
    func `another secret is proven on a new link, and the old one is no good then`(
        air: Air
    ) async throws {
        try await on(air) { radio in
            let (old, new) = (ModuleSecret("11"), ModuleSecret("22"))
            try await radio.withModule("00a0000000000001", secret: old) { module in
                let hasNew = try await module.changeSecret(to: new)
                let charge = try await module.read("state_of_charge")
                #expect(hasNew && charge == .number(64))
            }
            try await radio.withModule("00a0000000000001", secret: new) { _ in }
            await #expect(throws: ModuleFailure.self) {
                try await radio.withModule("00a0000000000001", secret: old) { _ in }
            }
        }
    }

    @Test(arguments: Air.allCases)
    func `who is cancelled gives the link back`(air: Air) async throws {
        try await on(air) { radio in
            let secret = ModuleSecret("11")
            await withTaskGroup(of: Void.self) { group in
                let (connected, told) = AsyncStream<Void>.makeStream()
                group.addTask {
                    try? await radio.withModule("00a0000000000001", secret: secret) { module in
                        told.yield()
                        for await _ in await module.values(of: "speed") {}
                    }
                    told.finish()
                }
                for await _ in connected { break }
                group.cancelAll()
            }
            try await radio.withModule("00a0000000000001", secret: secret) { module in
                let speed = try await module.read("speed")
                #expect(speed == .number(0))
            }
        }
    }

    @Test func `on BlueZ any task of the program may use the radio`() async throws {
        try await on(.served) { radio in
            let tasks = ["00a0000000000001", "00a0000000000002"].map { serial in
                Task {
                    try await radio.withModule(serial, secret: ModuleSecret("11")) { module in
                        try await module.read("state_of_charge")
                    }
                }
            }
            for task in tasks {
                let charge = try await task.value
                #expect(charge == .number(64))
            }
        }
    }

    @Test func `a bus without BlueZ, and an adapter that is not there, are said`() async throws {
        let hosts: [(String?, String?)] = [(nil, "unix:path=/nonexistent"), ("hci7", nil)]
        for (adapter, bus) in hosts {
            do {
                if bus == nil {
                    let served = try ServedDepot("depot.yaml", of: program)
                    try await ModuleRadio.on(.bluez(adapter: adapter, bus: served.address)) { _ in }
                } else {
                    try await ModuleRadio.on(.bluez(adapter: adapter, bus: bus)) { _ in }
                }
                Issue.record("it was opened")
            } catch let failure as ModuleFailure {
                #expect(failure.code == (bus == nil ? .bluetoothNotSupported : .bluetoothDisabled))
                #expect(!failure.remedy.isEmpty)
            }
        }
    }
}

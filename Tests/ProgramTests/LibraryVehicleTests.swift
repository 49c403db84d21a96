import Base
import Families
import Foundation
import PrivateBus
import Testing
import VehicleModules

/// Commands to GO devices by the library, in simulated air and over a served bus.
@Suite(.serialized, .timeLimit(.minutes(3))) struct LibraryVehicleTests {
    typealias Air = LibraryBench.Air

    private static let service = "0574583B-0D8D-2962-4D79-0F43EEB96C98"

    private static func depot(_ more: String = "") -> String {
        """
        name: cars
        seed: 3
        tenant-keys: ["00\(SampleTokens.tenant)"]
        modules:
          - {serial: G9-0001, family: geotab-go, hardware-id: 553845661,
             reaction-time: 50ms, operation-time: 300ms\(more)}

        """
    }

    private static func token() throws -> VehicleToken { try VehicleToken(SampleTokens.good) }

    @Test(arguments: Air.allCases)
    func `a vehicle comes, is told, and says that it has done it`(air: Air) async throws {
        let bench = try LibraryBench(Self.depot())
        try await bench.on(air) { radio in
            let token = try Self.token()
            #expect(token.serial == "G9-0001" && token.hardwareID == 553_845_661)
            #expect(token.permissions.contains("unlock-driver"))
            #expect(token.seconds == 1_577_836_800...4_102_445_700)
            #expect(token.warnings.isEmpty && "\(token)" == "<token>")
            let states = try await radio.withVehicle(
                token,
                serial: "G9-0001",
                hardwareID: 553_845_661
            ) { vehicle in
                try await withThrowingTaskGroup(of: [VehicleState].self) { group in
                    group.addTask {
                        var seen: [VehicleState] = []
                        for await state in vehicle.states { seen.append(state) }
                        return seen
                    }
                    let none = try await vehicle.send(.unlockDriver)
                    #expect(none.isEmpty && vehicle.state == .connected)
                    // Two commands in one request, on the same link.
                    try await vehicle.send(.lock, .secureConditionsCheck)
                    let code = await LibraryBench.code { try await vehicle.send() }
                    #expect(code == .invalidValue)
                    vehicle.disconnect()
                    return try await group.next() ?? []
                }
            }
            #expect(states.contains(.connected))
            #expect(states.contains(.commanding(.awaitingResult)))
            #expect(states.last == .disconnected(nil))
        }
        guard air == .served else { return }
        // The judge is the vehicle's own record.
        let deeds = try String(
            contentsOfFile: bench.program.folder.path + "/served/simulation/cars.memory.deeds",
            encoding: .utf8
        )
        #expect(deeds.contains("unlock-driver") && deeds.contains("lock"), "\(deeds)")
    }

    @Test(arguments: Air.allCases)
    func `a device that ends at the acknowledgement is believed by its profile`(
        air: Air
    ) async throws {
        // It never sends a result.
        let bench = try LibraryBench(Self.depot(", faults: [{no-result: true, times: 100}]"))
        let folder = bench.program.folder.path + "/profiles"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try bench.program.write(
            "profiles/go9.yaml",
            """
            profile: go9
            family: geotab-go
            title: An older GO device
            known-from: this test
            gatt:
              socket:
                notify: 430f2ea3-c765-4051-9134-a341254cfd00
                write: 906ee7e0-d8db-44f3-af54-6b0dfcecdf1c
            authentication: token
            success: acknowledgement
            limits: {result: 2s}

            """
        )
        try await bench.on(air, profiles: folder) { radio in
            try await radio.withVehicle(Self.token(), profile: "go9") { vehicle in
                try await vehicle.send(.unlockDriver)
                // The device is busy until it has carried that out.
                await radio.pause(for: .seconds(1))
                try await vehicle.send(.lock)
                await radio.pause(for: .seconds(1))
            }
        }
        guard air == .served else { return }
        let deeds = try String(
            contentsOfFile: bench.program.folder.path + "/served/simulation/cars.memory.deeds",
            encoding: .utf8
        )
        #expect(deeds.contains("unlock-driver") && deeds.contains("lock"), "\(deeds)")
    }

    /// A token that the key of the good one has signed, for one command to one vehicle.
    private static func token(
        for command: CarShareCommand,
        hardwareID: UInt32 = 553_845_661
    ) throws -> (token: VehicleToken, tenant: String) {
        let good = try CarShareToken(text: Secret(Array(SampleTokens.good.utf8)))
        let key = try #require(good.privateKey).withBytes { $0 }
        let issuer = try #require(GOTokenIssuer(tenant: key, reservation: key))
        var reservation = issuer.reservation(
            hardwareID: hardwareID,
            from: WallTime(milliseconds: 1_577_836_800_000),
            until: WallTime(milliseconds: 4_102_444_800_000)
        )
        reservation.permissions = command.bit
        let text = try #require(issuer.token(reservation))
        return (
            try VehicleToken(text.withBytes { String(decoding: $0, as: UTF8.self) }),
            Hex.text(issuer.modulus)
        )
    }

    @Test(arguments: Air.allCases)
    func `several commands on one link are signed by a token each`(air: Air) async throws {
        let (other, tenant) = try Self.token(for: .unlockAll)
        let (foreign, _) = try Self.token(for: .unlockAll, hardwareID: 553_845_662)
        let keys = "tenant-keys: [\"00\(SampleTokens.tenant)\", \"\(tenant)\"]"
        let lines = Self.depot().split(separator: "\n", omittingEmptySubsequences: false)
        let depot = lines.map { $0.hasPrefix("tenant-keys") ? keys : String($0) }
        let bench = try LibraryBench(depot.joined(separator: "\n"))
        try await bench.on(air) { radio in
            try await radio.withVehicle(Self.token()) { vehicle in
                try await vehicle.send(.lock)
                try await vehicle.send(.unlockAll, with: other)
                // The other token does not permit this, and the link goes on.
                do {
                    try await vehicle.send(.lock, with: other)
                    Issue.record("it was done with a token that does not permit it")
                } catch let failure as ModuleFailure {
                    #expect(failure.code == .refused, "\(failure)")
                    #expect(failure.statuses.map(\.id) == [3_344])
                }
                let code = await LibraryBench.code {
                    try await vehicle.send(.unlockAll, with: foreign)
                }
                #expect(code == .otherVehicle)
                try await vehicle.send(.locate)
                #expect(vehicle.state == .connected)
            }
        }
        guard air == .served else { return }
        let deeds = try String(
            contentsOfFile: bench.program.folder.path + "/served/simulation/cars.memory.deeds",
            encoding: .utf8
        )
        #expect(deeds.contains("unlock-all") && deeds.contains("locate"), "\(deeds)")
    }

    @Test(arguments: Air.allCases)
    func `the end of a socket's link is noticed when it happens`(air: Air) async throws {
        let bench = try LibraryBench(Self.depot(", faults: [{disconnect-in: handshake}]"))
        try await bench.on(air) { radio in
            let configuration = try SocketConfiguration(service: Self.service)
            try await radio.withSocket(configuration) { socket in
                try await socket.opened()
                // The device leaves when it gets this; nobody sends or receives any more.
                try await socket.send([0x55])
                var last: SocketState?
                for await state in socket.states { last = state }
                guard case .closed(let failure?) = last else {
                    Issue.record("\(String(describing: last))")
                    return
                }
                #expect(failure.code == .moduleNotConnected)
                let codes = [
                    await LibraryBench.code { try await socket.send([1]) },
                    await LibraryBench.code { try await socket.receive(within: .seconds(1)) },
                ]
                #expect(codes == [.moduleNotConnected, .moduleNotConnected])
            }
        }
    }

    @Test(arguments: Air.allCases)
    func `what became of a command that failed is in its code`(air: Air) async throws {
        let cases: [(String, ModuleFailure.Code)] = [
            // Without a bond nobody knows who refuses.
            ("{status: 3344, value: 1}", .inDoubt), ("{disconnect-in: result}", .inDoubt),
            ("{disconnect-in: request}", .moduleNotConnected), ("{nack: 4}", .inDoubt),
            ("{rejects-in: request}", .refused),
        ]
        for (fault, code) in cases {
            let bench = try LibraryBench(Self.depot(", faults: [\(fault)]"))
            try await bench.on(air) { radio in
                try await radio.withVehicle(Self.token()) { vehicle in
                    do {
                        try await vehicle.send(.unlockDriver)
                        Issue.record("\(fault): it was done")
                    } catch let failure as ModuleFailure {
                        #expect(failure.code == code, "\(fault): \(failure)")
                        #expect(!failure.remedy.isEmpty)
                        #expect(failure.statuses.map(\.id) == (fault.contains("33") ? [3_344] : []))
                    }
                }
            }
        }
    }

    @Test(arguments: Air.allCases)
    func `a token of another vehicle is refused before any radio work`(air: Air) async throws {
        let bench = try LibraryBench(Self.depot())
        try await bench.on(air) { radio in
            let token = try Self.token()
            let codes = [
                await LibraryBench.code { try VehicleToken(SampleTokens.bad) },
                await LibraryBench.code { try VehicleToken("nothing") },
                await LibraryBench.code {
                    try await radio.withVehicle(token, serial: "G9-0002") { _ in }
                },
                await LibraryBench.code {
                    try await radio.withVehicle(token, hardwareID: 1) { _ in }
                },
            ]
            #expect(codes == [.invalidToken, .invalidToken, .otherVehicle, .otherVehicle])
        }
    }

    @Test(arguments: Air.allCases)
    func `nobody comes, and the radio is free again`(air: Air) async throws {
        let bench = try LibraryBench(Self.depot(", out-of-reach: true"))
        try await bench.on(air) { radio in
            let token = try Self.token()
            for _ in 0..<2 {
                let code = await LibraryBench.code {
                    try await radio.withVehicle(token, timeout: .seconds(1)) { vehicle in
                        try await vehicle.connected()
                    }
                }
                #expect(code == .timedOut)
            }
            // When a program stops waiting, the service is no longer advertised.
            try await radio.withVehicle(token) { vehicle in
                for await state in vehicle.states where state == .advertising { break }
            }
            let scanned = try await radio.scan(for: .milliseconds(100))
            #expect(scanned.isEmpty)
        }
    }

    @Test func `a vehicle is waited for while the host's Bluetooth is off`() async throws {
        let bench = try LibraryBench(Self.depot())
        let served = try ServedDepot("depot.yaml", of: bench.program)
        let address = served.address
        try PrivateBus.cause("power-off", on: address)
        let code = await LibraryBench.code {
            try await ModuleRadio.on(.bluez(bus: address)) { _ in }
        }
        #expect(code == .bluetoothDisabled)
        let opening = RadioOpening.wait(upTo: .seconds(60))
        try await ModuleRadio.on(.bluez(bus: address), opening: opening) { radio in
            try await radio.withVehicle(Self.token()) { vehicle in
                #expect(vehicle.state == .initializing)
                try PrivateBus.cause("power-on", on: address)
                try await vehicle.send(.unlockDriver)
            }
        }
        withExtendedLifetime(served) {}
    }

    @Test(arguments: Air.allCases)
    func `a socket carries bytes both ways`(air: Air) async throws {
        let bench = try LibraryBench(Self.depot())
        try await bench.on(air) { radio in
            let configuration = try SocketConfiguration(service: Self.service)
            try await radio.withSocket(configuration) { socket in
                try await socket.opened()
                #expect(try #require(socket.maximumLength) >= 20)
                // A sync byte shows the GO device that a host is there: it requests a handshake.
                try await socket.send([0x55])
                let request = try #require(try await socket.receive(within: .seconds(60)))
                #expect(request.starts(with: [0x02, 0x01, 0x00]))
                let more = try await socket.receive(within: .milliseconds(10))
                #expect(more == nil)
                socket.close()
                for await state in socket.states where state == .closed(nil) { break }
                let code = await LibraryBench.code { try await socket.send([1]) }
                #expect(code == .moduleNotConnected)
            }
            let code = await LibraryBench.code { try SocketConfiguration(service: "here") }
            #expect(code == .invalidValue)
        }
    }
}

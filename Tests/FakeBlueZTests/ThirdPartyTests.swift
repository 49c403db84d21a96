import Base
import BlueZ
import Families
import Foundation
import Lab
import PrivateBus
import Simulation
import Testing
import Workbench

/// Programs by other authors for BlueZ, unchanged, with a served depot.
///
/// `YARDMASTER_BLE_PYTHON` names a Python that has bleak, smpclient, bluez-peripheral and bless;
/// scripts/ble-clients makes one.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ThirdPartyTests {
    private static let python = ProcessInfo.processInfo.environment["YARDMASTER_BLE_PYTHON"]
    private static func isInstalled(_ tool: String) -> Bool {
        FileManager.default.isExecutableFile(atPath: "/usr/bin/" + tool)
    }

    private static let depot = """
        name: others
        link: {interval: 8ms}
        modules:
          - {serial: smp-1, family: mcumgr, version: 1.0.0}
          - {family: lrdevice, serial: "0a0b0c0d0e0f", name: SmartLock}
          - {serial: "00a0000000000001", key: "d0c5", type: 17}
          - {family: geotab-go, serial: G9-0001, hardware-id: 553845661}
        """

    /// The service of the GO device above.
    private static let socket = "0574583b-0d8d-2962-4d79-0f43eeb96c98"

    private func serving(_ body: (FakeBlueZ, _ bus: String) async throws -> Void) async throws {
        FairTime.begin()
        let daemon = try PrivateBus()
        let address = try #require(BusAddress(daemon.address))
        let diagnostics = Diagnostics()
        let tree = SourceNode.parse(Array(Self.depot.utf8), file: "depot.yaml", diagnostics)
        let file = try #require(
            tree.flatMap { DepotFile.read($0, families: FamilyRegistry.simulated, diagnostics) }
        )
        let fake = try FakeBlueZ(address)
        try await fake.arrange { world in
            Result { try SimulatedDepot.populate(world, file, nil) }
        }.get()
        try await fake.start()
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(fake, daemon.address))
        } catch { result = .failure(error) }
        await fake.close()
        try result.get()
    }

    private struct Output {
        let status: Int32
        let text: String

        func has(_ part: String) -> Bool { text.contains(part) }
    }

    /// Runs a program on the bus; a separate thread waits for its end.
    private func run(
        _ tool: String,
        _ arguments: [String],
        on bus: String
    ) async throws -> Output {
        let process = Process()
        process.executableURL = URL(filePath: tool)
        process.arguments = arguments
        var environment = ProcessInfo.processInfo.environment
        environment["DBUS_SYSTEM_BUS_ADDRESS"] = bus
        process.environment = environment
        let output = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        try process.run()
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let bytes = output.fileHandleForReading.readDataToEndOfFile()
                process.waitUntilExit()
                let text = String(decoding: bytes, as: UTF8.self)
                continuation.resume(
                    returning: Output(status: process.terminationStatus, text: text)
                )
            }
        }
    }

    private func clients(_ arguments: String..., on bus: String) async throws -> Output {
        let script = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Clients/clients.py").path
        return try await run(try #require(Self.python), [script] + arguments, on: bus)
    }

    // MARK: Programs of PyPI

    @Test(.enabled(if: python != nil, "needs YARDMASTER_BLE_PYTHON"))
    func `bleak hears every module with what it advertises`() async throws {
        try await serving { fake, bus in
            let heard = try await clients("scan", "3", on: bus)
            #expect(heard.status == 0, "\(heard.text)")
            #expect(heard.text.contains(/found C0:\S+ COMODULE -\d+ 020f:00a0000000000001/))
            #expect(heard.has("ffff:0a0b0c0d0e0f"))
            #expect(heard.text.contains(/smp-1 -\d+ - 8d53dc1d-1db7-4cd3-868b-8a527460aa84/))
            #expect(await fake.figures.scans == 0, "a scan ends with the program")
        }
    }

    @Test(.enabled(if: python != nil, "needs YARDMASTER_BLE_PYTHON"))
    func `bleak connects, writes and gets notifications`() async throws {
        try await serving { fake, bus in
            let echo = try await clients("echo", "smp-1", "200", on: bus)
            #expect(echo.status == 0, "\(echo.text)")
            #expect(echo.has("echoes 200 in ") && echo.has("disconnected"), "\(echo.text)")
            #expect(await fake.figures.links == 0)
        }
    }

    @Test(.enabled(if: python != nil, "needs YARDMASTER_BLE_PYTHON"))
    func `bleak is told of a lost link`() async throws {
        try await serving { fake, bus in
            async let told = clients("gone", "smp-1", on: bus)
            // The program writes after it has connected, read the services and subscribed.
            try await wait(for: "its first write") { await fake.count("WriteValue") > 0 }
            #expect(await fake.cause(.linkLost(module: "smp-1")))
            let output = try await told
            #expect(output.status == 0 && output.has("connected\nlost"), "\(output.text)")
        }
    }

    @Test(.enabled(if: python != nil, "needs YARDMASTER_BLE_PYTHON"))
    func `smpclient brings a module to another image over bleak`() async throws {
        let image = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "SMPTests/Fixtures/large.img").path
        try await serving { _, bus in
            let update = try await clients("update", "smp-1", image, on: bus)
            #expect(update.status == 0, "\(update.text)")
            #expect(update.text.contains(/uploaded \d+ bytes/) && update.has("runs "))
        }
    }

    @Test(
        .enabled(if: python != nil, "needs YARDMASTER_BLE_PYTHON"),
        arguments: ["serve", "bless"]
    )
    func `a GO device comes to servers that others made`(verb: String) async throws {
        try await serving { fake, bus in
            let served = try await clients(verb, Self.socket, on: bus)
            #expect(served.status == 0, "\(served.text)")
            // The handshake request of the vehicle.
            #expect(served.has("written 020100030803"), "\(served.text)")
            try await wait(for: "the GO device to leave") { await fake.figures.centrals == 0 }
            #expect(await fake.figures.applications == 0, "they go with the program")
        }
    }

    // MARK: Programs of Debian

    @Test(.enabled(if: isInstalled("bluetoothctl"), "bluetoothctl is not installed"))
    func `bluetoothctl scans, connects, writes and gets notifications`() async throws {
        try await serving { fake, bus in
            let device = try await address(of: "smp-1", fake)
            let path = "/org/bluez/hci0/dev_" + device.replacing(":", with: "_")
            let lines: [(String, pause: String)] = [
                ("scan on", "1.5"), ("scan off", "0.3"), ("connect \(device)", "1.5"),
                ("menu gatt", "0.1"),
                ("select-attribute \(path)/service0001/char0002", "0.2"), ("notify on", "0.5"),
                // An echo request of SMP with the text "hi".
                (
                    #"write "0x0a 0 0 6 0 0 7 0 0xa1 0x61 0x64 0x62 0x68 0x69" 0 command"#, "0.8"
                ),
                ("notify off", "0.3"), ("back", "0.1"), ("disconnect \(device)", "0.8"),
                ("quit", "0.2"),
            ]
            let script = lines.map { "echo '\($0.0)'; sleep \($0.pause)" }.joined(separator: "\n")
            let output = try await run(
                "/bin/sh",
                ["-c", "{ \(script)\n } | bluetoothctl"],
                on: bus
            )
            for part in [
                "Agent registered", "Discovery started", "smp-1", "Connection successful",
                "Notify started", "0b 00 00 07 00 00 07 00 bf 61 72 62 68 69 ff",
                "Notify stopped", "Successful disconnected",
            ] {
                #expect(output.has(part), "\(part) in \(output.text)")
            }
        }
    }

    @Test(.enabled(if: isInstalled("busctl"), "busctl is not installed"))
    func `busctl shows the tree, connects, reads properties and writes`() async throws {
        try await serving { fake, bus in
            let device = try await address(of: "smp-1", fake)
            let path = "/org/bluez/hci0/dev_" + device.replacing(":", with: "_")
            func busctl(_ arguments: String...) async throws -> Output {
                try await run("/usr/bin/busctl", ["--address=\(bus)"] + arguments, on: bus)
            }
            // A scan ends when its program leaves the bus, so the short calls of busctl cannot keep
            // one.
            let scanner = try await BusClient(
                connection: Connection.open(fake.address, on: fake.loop)
            )
            try await scanner.call("StartDiscovery", "Adapter1", at: BusClient.adapter)
            try await scanner.wait { try await scanner.tree().contains(BusClient.path(path)) }
            let tree = try await busctl("tree", "org.bluez")
            #expect(tree.has(path), "\(tree.text)")
            let object = ["org.bluez", path]
            let connected = try await run(
                "/usr/bin/busctl",
                ["--address=\(bus)", "call"] + object + ["org.bluez.Device1", "Connect"],
                on: bus
            )
            #expect(connected.status == 0, "\(connected.text)")
            func resolved() async throws -> Bool {
                try await busctl(
                    "get-property",
                    "org.bluez",
                    path,
                    "org.bluez.Device1",
                    "ServicesResolved"
                ).has("b true")
            }
            try await wait(for: "the services to be found") { try await resolved() }
            let characteristic = path + "/service0001/char0002"
            let written = try await busctl(
                "call",
                "org.bluez",
                characteristic,
                "org.bluez.GattCharacteristic1",
                "WriteValue",
                "aya{sv}",
                "2",
                "1",
                "2",
                "1",
                "type",
                "s",
                "command"
            )
            #expect(written.status == 0, "\(written.text)")
            let refused = try await busctl(
                "call",
                "org.bluez",
                characteristic,
                "org.bluez.GattCharacteristic1",
                "StopNotify"
            )
            #expect(refused.has("No notify session started"), "\(refused.text)")
            let described = try await busctl("introspect", "org.bluez", "/org/bluez/hci0")
            for part in ["org.bluez.Adapter1", ".StartDiscovery", "org.bluez.GattManager1"] {
                #expect(described.has(part))
            }
            await scanner.connection.close()
        }
    }

    private func address(of label: String, _ fake: FakeBlueZ) async throws -> String {
        try #require(await fake.arrange { $0.address(of: label) })
    }
}

import BlueZ
import Foundation
import PrivateBus

/// A private bus and an event loop, closed in the right order.
func withBus<R: Sendable>(
    _ body: (PrivateBus, EventLoop, BusAddress) async throws -> R
) async throws -> R {
    FairTime.begin()
    let bus = try PrivateBus()
    let loop = try EventLoop.start(name: "test-bus")
    guard let address = BusAddress(bus.address) else { throw BusError.disconnected }
    do {
        let result = try await body(bus, loop, address)
        loop.stop()
        return result
    } catch {
        loop.stop()
        throw error
    }
}

/// Two connections to a private bus, in the roles of a service and a client.
func withPair<R: Sendable>(
    _ body: (_ service: Connection, _ client: Connection) async throws -> R
) async throws -> R {
    try await withBus { _, loop, address in
        let service = try await Connection.open(address, on: loop)
        let client = try await Connection.open(address, on: loop)
        do {
            let result = try await body(service, client)
            await service.close()
            await client.close()
            return result
        } catch {
            await service.close()
            await client.close()
            throw error
        }
    }
}

enum Sample {
    static let path = ObjectPath("/ee/example/thing") ?? .root
    static let interface = "ee.example.Thing"
    static let name = "ee.example.Service"

    static func signature(_ text: String) -> Signature { Signature(text) ?? .variant }

    static func description(_ takes: String = "", gives: String = "") -> InterfaceDescription {
        func arguments(_ text: String) -> [InterfaceDescription.Argument] {
            (Signature.list(text) ?? []).enumerated().map { .init("arg\($0.offset)", $0.element) }
        }
        return InterfaceDescription(
            interface,
            methods: [.init("Do", takes: arguments(takes), gives: arguments(gives))],
            properties: [.init("Mood", .string, isWritable: true), .init("Age", .uint32)],
            signals: [.init("Moved", carries: arguments("s"))]
        )
    }

    static func call(
        _ service: Connection,
        _ arguments: [DBusValue] = [],
        patience: Duration = .seconds(60)
    ) async -> MethodCall {
        MethodCall(
            "Do",
            of: interface,
            at: path,
            on: await service.uniqueName,
            arguments,
            patience: patience
        )
    }
}

/// Runs a program of the machine and returns its output; nil when it is not installed.
func output(of program: String, _ arguments: [String], bus: String) async throws -> String? {
    guard
        let path = ["/usr/bin/", "/bin/"].map({ $0 + program })
            .first(where: FileManager.default.isExecutableFile(atPath:))
    else { return nil }
    let process = Process()
    process.executableURL = URL(filePath: path)
    process.arguments = arguments
    var environment = ProcessInfo.processInfo.environment
    environment["DBUS_SYSTEM_BUS_ADDRESS"] = bus
    environment["DBUS_SESSION_BUS_ADDRESS"] = bus
    process.environment = environment
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    process.standardInput = FileHandle.nullDevice
    return try await withCheckedThrowingContinuation { continuation in
        process.terminationHandler = { _ in
            let text = String(
                decoding: pipe.fileHandleForReading.readDataToEndOfFile(),
                as: UTF8.self
            )
            continuation.resume(returning: text)
        }
        do { try process.run() } catch { continuation.resume(throwing: error) }
    }
}

// Waits for the vehicle of a car-share token, unlocks it for its driver, and prints each step.
//
//     swift run UnlockVehicle manifests/commands/depot.yaml manifests/commands/keys/car-01.token
//     swift run UnlockVehicle bluez TOKEN-FILE          the host's own Bluetooth
//     swift run UnlockVehicle bluez@ADDRESS TOKEN-FILE  BlueZ on the bus at this address
//
// It uses only the library VehicleModules.

import Glibc
import VehicleModules

@main
struct UnlockVehicle {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let text = text(of: arguments[2]) else {
            print("usage: UnlockVehicle DEPOT.yaml|bluez|bluez@ADDRESS TOKEN-FILE")
            exit(64)
        }
        do {
            let token = try VehicleToken(text)
            try await ModuleRadio.on(air(arguments[1])) { radio in try await work(radio, token) }
        } catch {
            print("\(error)")
            // A command in doubt has an exit code of its own: it may have been carried out.
            exit((error as? ModuleFailure)?.code == .inDoubt ? 2 : 1)
        }
    }

    static func work(_ radio: ModuleRadio, _ token: VehicleToken) async throws {
        print("a token for \(token.serial ?? "a vehicle") that permits:")
        print("  " + token.permissions.joined(separator: " "))
        try await radio.withVehicle(token) { vehicle in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for await state in vehicle.states { print(words(for: state)) }
                }
                let statuses = try await vehicle.send(.unlockDriver)
                for status in statuses { print("the vehicle reports: \(status)") }
                vehicle.disconnect()
                try await group.waitForAll()
            }
        }
        print("unlocked")
    }

    static func words(for state: VehicleState) -> String {
        switch state {
        case .commanding(let step): "unlock-driver: \(step.rawValue)"
        case .disconnected(let why?): "disconnected: \(why.sentence)"
        case .disconnected(nil): "disconnected"
        case .initializing, .advertising, .handshaking, .connected: "\(state)"
        }
    }

    static func air(_ word: String) -> ModuleAir {
        let parts = word.split(separator: "@", maxSplits: 1).map(String.init)
        guard parts.first == "bluez" else { return .simulated(depot: word) }
        return .bluez(bus: parts.count > 1 ? parts[1] : nil)
    }

    /// The content of a small file.
    static func text(of path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}

// Follows the modules in reach for some seconds, then connects to the one with the strongest signal
// and prints its properties.
//
//     swift run ScanAndRead manifests/demo/depot.yaml manifests/demo/keys/demo.key
//     swift run ScanAndRead bluez KEY-FILE          the host's own Bluetooth
//     swift run ScanAndRead bluez@ADDRESS KEY-FILE  BlueZ on the bus at this address
//
// A further argument, a file with six digits, is the passkey for bonding. With `cache=FILE`, the
// values of an earlier run are shown before the module is connected to.
// It uses only the library VehicleModules.

import Glibc
import VehicleModules

@main
struct ScanAndRead {
    static func main() async {
        let all = CommandLine.arguments
        let arguments = all.filter { !$0.hasPrefix("cache=") }
        let cache = all.first { $0.hasPrefix("cache=") }.map { String($0.dropFirst(6)) }
        guard (3...4).contains(arguments.count), let key = text(of: arguments[2]) else {
            print(
                "usage: ScanAndRead DEPOT.yaml|bluez|bluez@ADDRESS KEY-FILE [PASSKEY-FILE]"
                    + " [cache=FILE]"
            )
            exit(64)
        }
        do {
            let digits = arguments.count > 3 ? text(of: arguments[3]) ?? "" : nil
            let bond = try digits.map { try ModuleBond.passkey($0) }
            try await ModuleRadio.on(air(arguments[1]), cache: cache) { radio in
                try await work(radio, ModuleSecret(key), bond)
            }
        } catch {
            print("\(error)")
            exit(1)
        }
    }

    static func work(
        _ radio: ModuleRadio,
        _ secret: ModuleSecret,
        _ bond: ModuleBond?
    ) async throws {
        let found = try await radio.withDiscovery(for: .seconds(4)) { discovery in
            var last: [DiscoveredVehicleModule] = []
            for try await list in discovery.lists { last = list.isEmpty ? last : list }
            return last
        }
        let near = found.filter { $0.family == "comodule" }
        print("\(near.count) modules are in reach")
        guard let best = near.max(by: { ($0.signal, $1.serial) < ($1.signal, $0.serial) }) else {
            return print("none of them can be read with a key")
        }
        for property in radio.cachedProperties(of: best.serial) {
            let value = property.value.map { "\($0)" } ?? "-"
            print("  \(property.name) was \(value)")
        }
        try await radio.withConnection(best.serial, secret: secret, bond: bond) { connection in
            for await state in connection.states {
                switch state {
                case .disconnected(nil): continue
                case .disconnected(let why?): throw why
                case .connecting(_, _, let step): print("\(best.serial): \(step)")
                case .connected(let name, _): print("\(best.serial): connected to \(name)")
                }
                if case .connected = state { break }
            }
            let module = try await connection.connected()
            if let firmware = module.firmware { print("firmware \(firmware.secondary)") }
            for property in await module.properties {
                let value = property.value.map { "\($0)" } ?? "-"
                let unit = property.unit.map { " \($0)" } ?? ""
                print("  \(property.name) = \(value)\(unit)\(limits(of: property))")
            }
        }
    }

    /// The values that may be written.
    static func limits(of property: ModuleProperty) -> String {
        guard property.isWritable else { return "" }
        switch property.kind {
        case .range(let limits?, _): return "  (\(limits.lowerBound) to \(limits.upperBound))"
        case .states(let names): return "  (\(names.joined(separator: ", ")))"
        case .range, .raw, .text: return "  (can be written)"
        }
    }

    static func air(_ word: String) -> ModuleAir {
        let parts = word.split(separator: "@", maxSplits: 1).map(String.init)
        guard parts.first == "bluez" else { return .simulated(depot: word) }
        return .bluez(bus: parts.count > 1 ? parts[1] : nil)
    }

    /// The first line of a small file.
    static func text(of path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count].prefix { $0 != 0x0A }, as: UTF8.self)
    }
}

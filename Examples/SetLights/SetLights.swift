// Finds modules, connects to one, prints its properties, and switches its lights on.
//
//     swift run SetLights manifests/demo/depot.yaml manifests/demo/keys/demo.key
//     swift run SetLights bluez KEY-FILE          the host's own Bluetooth
//     swift run SetLights bluez@ADDRESS KEY-FILE  BlueZ on the bus at this address
//
// It uses only the library VehicleModules.

import Glibc
import VehicleModules

@main
struct SetLights {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let key = text(of: arguments[2]) else {
            print("usage: SetLights DEPOT.yaml|bluez|bluez@ADDRESS KEY-FILE")
            exit(64)
        }
        do {
            try await ModuleRadio.on(air(arguments[1])) { radio in
                try await work(radio, ModuleSecret(key))
            }
        } catch {
            // Every error of the library contains what to do about it.
            print("\(error)")
            exit(1)
        }
    }

    static func air(_ word: String) -> ModuleAir {
        let parts = word.split(separator: "@", maxSplits: 1).map(String.init)
        guard parts.first == "bluez" else { return .simulated(depot: word) }
        return .bluez(bus: parts.count > 1 ? parts[1] : nil)
    }

    static func work(_ radio: ModuleRadio, _ secret: ModuleSecret) async throws {
        let found = try await radio.scan(for: .seconds(5))
        for module in found { print("\(module.serial)  \(module.signal) dBm  \(module.name)") }
        guard let first = found.first else { return print("no module is in reach") }

        try await radio.withModule(first.serial, secret: secret) { module in
            if let firmware = module.firmware { print("firmware \(firmware.secondary)") }
            for property in await module.properties {
                let value = property.value.map { "\($0)" } ?? "(can only be written)"
                print("  \(property.name) = \(value) \(property.unit ?? "")")
            }
            let lights = try await module.write(.state("enabled"), to: "lights")
            print("lights are \(lights) now")
        }
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

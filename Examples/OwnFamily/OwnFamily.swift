// Adds lockers, a kind of module that the library does not know: finds one, reads it, writes to it,
// and updates it over SMP.
//
//     swift run OwnFamily DEPOT.yaml IMAGE VERSION
//     swift run OwnFamily bluez IMAGE VERSION          the host's own Bluetooth
//     swift run OwnFamily bluez@ADDRESS IMAGE VERSION  BlueZ on the bus at this address
//
// What lockers are is a profile, which is written to the folder `own.profiles` of the current one.
// It uses only the library VehicleModules.

import Glibc
import VehicleModules

/// A kind of module: what it advertises, its values and where they are, and how it is updated.
enum Locker {
    static let profile = """
        profile: locker
        family: mcumgr
        title: Locker
        known-from: its own documents
        advertisement:
          name: "LCK-*"
          service: 8d53dc1d-1db7-4cd3-868b-8a527460aa84
          serial: {in: name}
        gatt:
          management:
            service: 8d53dc1d-1db7-4cd3-868b-8a527460aa84
            smp: da2e7828-fbce-4e01-ae9e-261174997c48
        authentication: none
        properties:
          - {name: openings, type: range, access: read-only,
             read: {statistic: locker, entry: openings}}
          - name: close-after
            type: range
            unit: second
            access: read-write
            read: {setting: locker/close-after, bytes: 2}
            write: {setting: locker/close-after, bytes: 2, limits: [1, 600]}
          - name: light
            type: states
            access: read-write
            states: {disabled: 0, enabled: 1}
            read: {setting: locker/light, bytes: 1}
            write: {setting: locker/light, bytes: 1}
          - {name: battery, type: range, access: read-only, unit: percent,
             read: {characteristic: "2a19", service: "180f", bytes: 1}}
        firmware:
          - {part: image, protocol: smp}

        """

    /// Writes the profile to a folder, from which the library reads it.
    static func keep(in folder: String) throws {
        struct NotKept: Error {}
        _ = mkdir(folder, 0o755)
        guard let file = fopen(folder + "/locker.yaml", "w") else { throw NotKept() }
        let isWritten = fputs(profile, file) >= 0
        guard fclose(file) == 0, isWritten else { throw NotKept() }
    }
}

@main
struct OwnFamily {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 4 else {
            print("usage: OwnFamily DEPOT.yaml|bluez|bluez@ADDRESS IMAGE VERSION")
            exit(64)
        }
        do {
            try Locker.keep(in: "own.profiles")
            let image = try FirmwareImage(path: arguments[2], version: arguments[3])
            try await ModuleRadio.on(air(arguments[1]), profiles: "own.profiles") { radio in
                try await work(radio, image)
            }
        } catch {
            print("\(error)")
            exit(1)
        }
    }

    static func work(_ radio: ModuleRadio, _ image: FirmwareImage) async throws {
        let lockers = try await radio.withDiscovery(profiles: ["mcumgr/locker"]) { discovery in
            for try await list in discovery.lists where !list.isEmpty { return list }
            return []
        }
        guard let locker = lockers.first else { return print("no locker is in reach") }
        try await radio.withModule(locker) { module in
            print("\(locker.serial) runs \(module.firmware?.secondary ?? "nothing known")")
            for property in await module.properties {
                let value = property.value.map { "\($0)" } ?? "-"
                print("  \(property.name) = \(value) \(property.unit ?? "")")
            }
            let time = try await module.write(.number(300), to: "close-after")
            let light = try await module.write(.state("enabled"), to: "light")
            print("it closes after \(time) seconds, and its light is \(light)")
            let result = try await module.withUpdate(to: image) { try await $0.result() }
            switch result {
            case .updated(let version): print("\(locker.serial) runs \(version) now")
            case .alreadyCurrent: print("\(locker.serial) runs it already")
            case .stopped: print("\(locker.serial) was left at a safe point")
            }
            print("its light is \(try await module.read("light")) still")
        }
    }

    static func air(_ word: String) -> ModuleAir {
        let parts = word.split(separator: "@", maxSplits: 1).map(String.init)
        guard parts.first == "bluez" else { return .simulated(depot: word) }
        return .bluez(bus: parts.count > 1 ? parts[1] : nil)
    }
}

// Follows every property of a module for some hours, and prints the number of changes and the
// memory in use.
//
//     swift run FollowModule manifests/demo/depot.yaml KEY-FILE SERIAL HOURS [PROFILE-FOLDER PROFILE]
//     swift run FollowModule bluez KEY-FILE SERIAL HOURS          the host's own Bluetooth
//     swift run FollowModule bluez@ADDRESS KEY-FILE SERIAL HOURS  BlueZ on the bus at this address
//
// On simulated air, an hour takes only as long as its simulation.
// It uses only the library VehicleModules.

import Glibc
import VehicleModules

/// A counter that several tasks use.
actor Count {
    private(set) var number = 0

    func add(_ more: Int) { number += more }
}

@main
struct FollowModule {
    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 5 || arguments.count == 7, let key = text(of: arguments[2]),
            let hours = Int(arguments[4]), (1...1_000).contains(hours)
        else {
            print(
                "usage: FollowModule DEPOT.yaml|bluez|bluez@ADDRESS KEY-FILE SERIAL HOURS"
                    + " [PROFILE-FOLDER PROFILE]"
            )
            exit(64)
        }
        let profiles = arguments.count == 7 ? arguments[5] : nil
        let profile = arguments.count == 7 ? arguments[6] : "generic"
        do {
            try await ModuleRadio.on(air(arguments[1]), profiles: profiles) { radio in
                let secret = ModuleSecret(key)
                try await radio.withModule(arguments[3], profile: profile, secret: secret) {
                    try await follow($0, radio, hours)
                }
            }
        } catch {
            print("\(error)")
            exit(1)
        }
    }

    static func follow(_ module: ConnectedModule, _ radio: ModuleRadio, _ hours: Int) async throws {
        let names = await module.properties.filter(\.isReadable).map(\.name)
        let (values, changes, missed) = (Count(), Count(), Count())
        await withTaskGroup(of: Void.self) { group in
            for name in names {
                group.addTask {
                    for await _ in await module.values(of: name) { await values.add(1) }
                }
            }
            group.addTask {
                for await change in module.changes() {
                    await changes.add(1)
                    await missed.add(change.missed)
                }
            }
            print("\(names.count) properties are followed; resident: \(resident) KiB")
            for hour in 1...hours {
                await radio.pause(for: .seconds(3_600))
                guard hour == 1 || hour == hours else { continue }
                print(
                    "after \(hour) h: \(await values.number) values, \(await changes.number) changes and "
                        + "\(await missed.number) missed; resident: \(resident) KiB"
                )
            }
            group.cancelAll()
        }
    }

    /// The resident memory of this process, in KiB.
    static var resident: Int {
        let words = (text(of: "/proc/self/statm") ?? "").split(separator: " ")
        guard words.count > 1, let pages = Int(words[1]) else { return 0 }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE))) / 1_024
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

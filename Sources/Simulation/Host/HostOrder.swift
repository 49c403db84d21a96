package import Base

/// A fault or an incident as text names it: in a program's call, or on a command line.
package struct HostOrder: Sendable, Equatable {
    package let name: String
    package var module: String?
    package var adapter = "hci0"
    /// The name of an adapter that is plugged in again.
    package var newName: String?
    package var times: Int?
    package var lacking: GATTUUID?
    package var after = Duration.seconds(1)
    package var links = 0

    package init(_ name: String) { self.name = name }

    /// Parses one line: the name, and options as in `times=3 module=00a0000000000001 after=2s`.
    ///
    /// Nil for an unknown option, or one with an impossible value.
    package init?(line: String) {
        let words = line.split(separator: " ")
        guard let first = words.first else { return nil }
        name = String(first)
        for word in words.dropFirst() {
            let parts = word.split(separator: "=", maxSplits: 1).map { String($0) }
            guard parts.count == 2 else { return nil }
            switch parts[0] {
            case "module": module = parts[1]
            case "adapter": adapter = parts[1]
            case "as": newName = parts[1]
            case "times":
                guard let number = Int(parts[1]), number > 0 else { return nil }
                times = number
            case "links":
                guard let number = Int(parts[1]), (0...20).contains(number) else { return nil }
                links = number
            case "after":
                guard let time = Duration(text: parts[1]), time >= .zero else { return nil }
                after = time
            case "lacks":
                guard let uuid = GATTUUID(parts[1]) else { return nil }
                lacking = uuid
            default: return nil
            }
        }
    }

    /// Names of all incidents, sorted.
    package static let incidents = kinds.map(\.key).sorted()

    /// Names of all faults, sorted.
    package static let faults = HostFault.Kind.allCases.map(\.rawValue).sorted()

    package var fault: HostFault? {
        HostFault.Kind(rawValue: name).map {
            HostFault($0, times: times, module: module, lacking: lacking)
        }
    }

    /// Nil when there is no incident of this name, or it needs a module and has none.
    package var incident: HostIncident? { Self.kinds.first { $0.key == name }?.value(self) }

    private static let kinds: KeyValuePairs<String, @Sendable (HostOrder) -> HostIncident?> = [
        "power-off": { .power(adapter: $0.adapter, on: false) },
        "power-on": { .power(adapter: $0.adapter, on: true) },
        "block": { .block(adapter: $0.adapter, true) },
        "unblock": { .block(adapter: $0.adapter, false) },
        "unplug": { .unplug(adapter: $0.adapter) },
        "plug-in": { .plugIn(adapter: $0.adapter, as: $0.newName ?? $0.adapter) },
        "restart": { .restart(after: $0.after) },
        "link-limit": { .linkLimit(adapter: $0.adapter, $0.links) },
        "release-advertisements": { .releaseAdvertisements(adapter: $0.adapter) },
        "central-leaves": { .centralLeaves(adapter: $0.adapter) },
        "connect-elsewhere": { $0.module.map { .connectElsewhere(module: $0) } },
        "link-lost": { $0.module.map { .linkLost(module: $0) } },
        "bonds-lost": { $0.module.map { .bondsLost(module: $0) } },
        "drop-device": { $0.module.map { .dropDevice(module: $0) } },
        "new-address": { $0.module.map { .newAddress(module: $0) } },
    ]
}

import Base
package import BlueZ
package import Commands
package import Operations
package import Radio

/// The findings about a host's Bluetooth, from its service, its tools and its adapters.
package enum BluetoothHealth {
    package static func finding(on error: RadioError) -> Finding {
        switch error {
        case .unauthorized:
            Finding(
                .bad,
                "permission",
                "this user may not talk to the Bluetooth service",
                "run as root, or add the user to the group bluetooth and log in again"
            )
        case .adapterOff, .adapterMissing, .serviceUnavailable, .noFreeLink, .heldByAnother, .bond,
            .connectFailed, .servicesRefused, .linkLost, .timedOut, .missingService,
            .missingCharacteristic, .att, .tooLong, .cancelled:
            Finding(
                .bad,
                "service",
                "the Bluetooth service does not answer on the bus",
                "install bluez, then: systemctl enable --now bluetooth; in a container, "
                    + "give it the host's /run/dbus"
            )
        }
    }

    /// `named` are the adapters that must work, where others could do.
    package static func findings(
        on adapters: [AdapterReport],
        named: [String] = [],
        blocked: RadioSwitch.Block
    ) -> [Finding] {
        guard !adapters.isEmpty else {
            return [
                Finding(
                    .bad,
                    "adapter",
                    "there is no Bluetooth adapter",
                    "plug one in; dmesg shows when its firmware is missing"
                )
            ]
        }
        let isUsable = adapters.contains(where: \.isPowered)
        return adapters.flatMap {
            findings(
                on: $0,
                without: isUsable && !named.contains($0.name) ? .warning : .bad,
                blocked
            )
        }
    }

    private static func findings(
        on adapter: AdapterReport,
        without grade: Finding.Grade,
        _ blocked: RadioSwitch.Block
    ) -> [Finding] {
        let name = adapter.name
        var findings: [Finding] = []
        if adapter.isPowered {
            findings.append(Finding(.good, name, "\(adapter.address) is switched on"))
        } else if blocked == .hard {
            findings.append(
                Finding(grade, name, "a hardware switch blocks it", "turn the switch on")
            )
        } else if adapter.isBlocked || blocked == .soft {
            findings.append(
                Finding(grade, name, "it is blocked", "rfkill unblock bluetooth")
            )
        } else {
            let hint =
                grade == .bad
                ? "bluetoothctl power on"
                : "bluetoothctl, and there: select \(adapter.address), then power on"
            findings.append(Finding(grade, name, "it is switched off", hint))
        }
        if adapter.isDiscovering {
            findings.append(
                Finding(
                    .warning,
                    name,
                    "another program is searching with it",
                    "end that program while vehicles are worked on: searching slows every link"
                )
            )
        }
        for address in adapter.connected {
            findings.append(
                Finding(
                    .warning,
                    name,
                    "\(address) is connected to it",
                    "bluetoothctl disconnect \(address), unless a run of yardmaster uses it"
                )
            )
        }
        if !adapter.canServe, adapter.isPowered {
            findings.append(
                Finding(
                    .warning,
                    name,
                    "it cannot advertise, so that GO devices cannot be reached through it",
                    "use another adapter for them"
                )
            )
        }
        return findings
    }

    package static func findings(onVersion version: [Int]?) -> [Finding] {
        guard let version, version.count == 2 else { return [] }
        let text = "\(version[0]).\(version[1])"
        if version.lexicographicallyPrecedes([5, 50]) {
            return [
                Finding(
                    .bad,
                    "version",
                    "BlueZ \(text) cannot hand out sockets for links",
                    "install 5.66 or newer"
                )
            ]
        }
        return [Finding(.good, "version", "BlueZ \(text)")]
    }

    /// The version of the tools that come with the service; the service does not report its own.
    ///
    /// The tools ask the bus for some things, and hang when the bus does.
    package static func version(asking words: [String], within limit: Duration) -> (
        version: [Int]?, findings: [Finding]
    ) {
        switch BriefProgram(words).output(within: limit) {
        case .text(let text):
            let version = version(in: text)
            return (version, findings(onVersion: version))
        case .absent: return (nil, [])
        case .late:
            let sentence = "\(words[0]) does not end within \(limit.brief)"
            let hint = "systemctl restart bluetooth; the version is unknown and was not checked"
            return (nil, [Finding(.warning, "version", sentence, hint)])
        }
    }

    package static func version(in text: String) -> [Int]? {
        for word in text.split(whereSeparator: \.isWhitespace) {
            let numbers = word.split(separator: ".").map { Int($0) }
            if numbers.count == 2, let major = numbers[0], let minor = numbers[1] {
                return [major, minor]
            }
        }
        return nil
    }

    /// Missing Bluetooth is worse than bad settings of it.
    package static func exitCode(_ findings: [Finding]) -> ExitCode {
        let bad = findings.filter { $0.grade == .bad }
        if bad.contains(where: { $0.subject != Finding.settings }) { return .unavailable }
        return bad.isEmpty ? .done : .configuration
    }
}

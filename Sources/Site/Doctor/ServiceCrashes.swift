import Base
package import Operations

/// The crashes of the Bluetooth service, as far as systemd knows of them.
///
/// Each of them ended all links of the host, and a run under way shows only that.
package enum ServiceCrashes {
    /// The newest ends of the service's process that were no orderly ones; the number is systemd's for
    /// messages about that.
    private static let most = 20
    package static let journal = [
        "journalctl", "--quiet", "--no-pager", "--unit=bluetooth.service", "--since=-7d",
        "--output=short-iso", "--reverse", "--lines=\(most)",
        "MESSAGE_ID=98e322203f7a4ed290d09fe03c09fe15",
    ]
    /// The state of the service, for users who may not read the journal.
    package static let unit = [
        "systemctl", "show", "bluetooth.service", "--property=Result", "--property=NRestarts",
    ]

    /// Asks the programs of systemd; nothing where there are none.
    package static func findings(within limit: Duration) -> [Finding] {
        func text(_ words: [String]) -> String {
            if case .text(let text) = BriefProgram(words).output(within: limit) { text } else { "" }
        }
        return findings(journal: text(journal), unit: text(unit))
    }

    /// One finding at most: the journal knows more than the state of the service.
    package static func findings(journal: String, unit: String) -> [Finding] {
        let ends = journal.split(separator: "\n").compactMap { end(in: $0) }
        if let last = ends.first {
            let times = ends.count < most ? counted(ends.count, "time") : "\(most) or more times"
            return [
                finding(
                    "has crashed \(times) in 7 days, "
                        + "the last time at \(last.time) (\(last.signal))"
                )
            ]
        }
        let values = unit.split(separator: "\n")
        if values.contains("Result=core-dump") || values.contains("Result=signal") {
            return [finding("has crashed and was not started again")]
        }
        guard let line = values.first(where: { $0.hasPrefix("NRestarts=") }),
            let restarts = Int(line.dropFirst("NRestarts=".utf8.count)), restarts > 0
        else { return [] }
        let times = counted(restarts, "time")
        return [finding("was started again by systemd \(times) after a failure")]
    }

    private static func finding(_ what: String) -> Finding {
        Finding(
            .warning,
            "service",
            "bluetoothd \(what); that ends every link of this host",
            "install a newer bluez; coredumpctl info bluetoothd shows where it crashed"
        )
    }

    /// The time and the signal of a line about the end of a process by a signal.
    private static func end(in line: Substring) -> (time: Substring, signal: Substring)? {
        guard line.contains("code=killed") || line.contains("code=dumped"),
            let time = line.split(separator: " ", maxSplits: 1).first,
            let mark = line.lastIndex(of: "/")
        else { return nil }
        return (time, line[line.index(after: mark)...])
    }
}

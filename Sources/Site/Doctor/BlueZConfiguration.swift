package import Operations
import Radio

/// The settings in BlueZ's main.conf that bulk transfer depends on.
package struct BlueZConfiguration {
    private var values: [String: String] = [:]

    package static func read(_ path: String) -> BlueZConfiguration {
        BlueZConfiguration(SmallFile.text(path) ?? "")
    }

    package init(_ text: String) {
        var section = ""
        for line in text.split(whereSeparator: \.isNewline) {
            let line = Self.trimmed(line)
            if line.hasPrefix("#") { continue }
            if line.hasPrefix("["), let end = line.firstIndex(of: "]") {
                section = String(line[line.index(after: line.startIndex)..<end])
            } else if let mark = line.firstIndex(of: "=") {
                let key = Self.trimmed(line[..<mark])
                values[section + "." + key] = String(
                    Self.trimmed(line[line.index(after: mark)...])
                )
            }
        }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let end = text.lastIndex { !$0.isWhitespace }.map { text.index(after: $0) }
        return text[..<(end ?? text.startIndex)].drop(while: \.isWhitespace)
    }

    /// The number of channels of a link.
    ///
    /// When BlueZ cannot read the value it uses its default, which depends on its version: nil when
    /// the version is not known.
    private func channels(of version: [Int]?) -> Int? {
        if let set = values["GATT.Channels"].flatMap({ Int($0) }), (1...6) ~= set { return set }
        return version.map { $0.lexicographicallyPrecedes([5, 67]) ? 3 : 1 }
    }

    private func isOff(_ key: String) -> Bool { ["false", "0"].contains(values[key]) }

    package func findings(of version: [Int]?) -> [Finding] {
        var findings: [Finding] = []
        func bad(_ sentence: String, _ hint: String) {
            findings.append(
                Finding(
                    .bad,
                    Finding.settings,
                    sentence,
                    hint + " in /etc/bluetooth/main.conf, then: systemctl restart bluetooth"
                )
            )
        }
        if let channels = channels(of: version), channels > 1 {
            bad(
                "\(channels) channels for each link let packets overtake others",
                "set Channels = 1 under [GATT]"
            )
        }
        if isOff("GATT.Client") || isOff("GATT.ReverseServiceDiscovery") {
            bad(
                "the services of modules are not discovered",
                "remove Client and ReverseServiceDiscovery under [GATT]"
            )
        }
        if values["General.ControllerMode"] == "bredr" {
            bad("low energy is switched off", "set [General] ControllerMode = le")
        }
        if let time = values["General.TemporaryTimeout"].flatMap({ Int($0) }), (1..<10) ~= time {
            bad(
                "devices are forgotten before they can be connected to",
                "set TemporaryTimeout = 60"
            )
        }
        return findings
    }

    /// Whether links survive a module that is silent while it erases its flash.
    ///
    /// `inForce` is the value that an adapter's kernel uses, when it can be read.
    package func linkFinding(on adapter: String, inForce: Int?) -> Finding? {
        let set = values["LE.ConnectionSupervisionTimeout"].flatMap { Int($0) }
            .flatMap { SupervisionTimeout.allowed.contains($0) ? $0 : nil }
        let units = inForce ?? set ?? SupervisionTimeout.usual
        guard units < SupervisionTimeout.enough else { return nil }
        let isSetAndUnused = inForce != nil && (set ?? 0) >= SupervisionTimeout.enough
        return Finding(
            .warning,
            adapter,
            "links end after \(units * 10) ms of silence, and many modules are silent for seconds while "
                + "they erase their flash: their updates lose the link each time",
            isSetAndUnused
                ? "main.conf has a longer time, but the kernel does not use it: "
                    + "systemctl restart bluetooth, then look again"
                : SupervisionTimeout.remedy
        )
    }

    /// The value that the kernel uses for new links of an adapter; nil where it shows none.
    package static func silenceInForce(on adapter: String) -> Int? {
        SmallFile.text("/sys/kernel/debug/bluetooth/\(adapter)/supervision_timeout")
            .flatMap { Int(trimmed($0[...])) }
    }
}

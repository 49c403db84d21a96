import BlueZ
import Commands
import DBus
import Domain
import Glibc
import Radio
import Wire

/// `doctor`: what is wrong with this host's Bluetooth, and what to do about it.
struct DoctorCommand {
    private let bus: String?
    private let common: CommonOptions

    init(_ invocation: Invocation) {
        bus = invocation.value("bus")
        common = CommonOptions(invocation)
    }

    func run(_ context: Context) async throws(CommandError) -> ExitCode {
        var findings: [Finding] = []
        let site = try HostBluetooth.open(bus: bus, state: nil, context)
        do throws(RadioError) {
            let adapters = try await site.radio.survey()
            findings.append(Finding(.good, "service", "the Bluetooth service answers"))
            findings += Self.findings(on: adapters, blocked: RadioSwitch.all())
        } catch {
            findings.append(Self.finding(on: error))
        }
        await site.close()
        let tool = Self.version(asking: ["bluetoothctl", "--version"], within: .seconds(3))
        findings += tool.findings
        let settings = BlueZConfiguration.read("/etc/bluetooth/main.conf")
        findings += settings.findings(of: tool.version)
        let code = Self.exitCode(findings)
        let text = Finding.text(findings, quietly: common.isQuiet)
        context.console.result(common.wantsJSON ? Self.document(findings, code) : text)
        return code
    }

    // MARK: What is found

    static func finding(on error: RadioError) -> Finding {
        switch error {
        case .unauthorized:
            Finding(
                .bad,
                "permission",
                "this user may not talk to the Bluetooth service",
                "run as root, or add the user to the group bluetooth and log in again"
            )
        default:
            Finding(
                .bad,
                "service",
                "the Bluetooth service does not answer on the bus",
                "install bluez, then: systemctl enable --now bluetooth; in a container, "
                    + "give it the host's /run/dbus"
            )
        }
    }

    static func findings(on adapters: [AdapterReport], blocked: RadioSwitch.Block) -> [Finding] {
        guard !adapters.isEmpty else {
            return [
                Finding(
                    .bad,
                    "adapter",
                    "there is no Bluetooth adapter",
                    "plug one in; dmesg tells when its firmware is missing"
                )
            ]
        }
        return adapters.flatMap { findings(on: $0, blocked: blocked) }
    }

    private static func findings(
        on adapter: AdapterReport,
        blocked: RadioSwitch.Block
    ) -> [Finding] {
        let name = adapter.name
        var findings: [Finding] = []
        if adapter.isPowered {
            findings.append(Finding(.good, name, "\(adapter.address) is switched on"))
        } else if blocked == .hard {
            findings.append(
                Finding(.bad, name, "a hardware switch blocks it", "turn the switch on")
            )
        } else if adapter.isBlocked || blocked == .soft {
            findings.append(
                Finding(.bad, name, "it is blocked", "rfkill unblock bluetooth")
            )
        } else {
            findings.append(
                Finding(.bad, name, "it is switched off", "bluetoothctl power on")
            )
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
                    "bluetoothctl disconnect \(address), unless a run of ours is under way"
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

    static func findings(onVersion version: [Int]?) -> [Finding] {
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

    /// The version of the tools that come with the service, which tells its own to nobody.
    ///
    /// The tools ask the bus for some things, and hang with it.
    static func version(asking words: [String], within limit: Duration) -> (
        version: [Int]?, findings: [Finding]
    ) {
        switch BriefProgram(words).output(within: limit) {
        case .text(let text):
            let version = version(in: text)
            return (version, findings(onVersion: version))
        case .absent: return (nil, [])
        case .late:
            let sentence = "\(words[0]) does not end within \(limit.brief)"
            let hint = "systemctl restart bluetooth; the version is not known, so it is not judged"
            return (nil, [Finding(.warning, "version", sentence, hint)])
        }
    }

    static func version(in text: String) -> [Int]? {
        for word in text.split(whereSeparator: \.isWhitespace) {
            let numbers = word.split(separator: ".").map { Int($0) }
            if numbers.count == 2, let major = numbers[0], let minor = numbers[1] {
                return [major, minor]
            }
        }
        return nil
    }

    /// No Bluetooth is worse than bad settings of it.
    static func exitCode(_ findings: [Finding]) -> ExitCode {
        let bad = findings.filter { $0.grade == .bad }
        if bad.contains(where: { $0.subject != Finding.settings }) { return .unavailable }
        return bad.isEmpty ? .done : .configuration
    }

    // MARK: Telling it

    static func document(_ findings: [Finding], _ code: ExitCode) -> String {
        JSONValue.object([
            "schema": 1,
            "exit": .integer(Int64(code.rawValue)),
            "findings": .array(
                findings.map { finding in
                    .object([
                        "grade": .string(finding.grade.rawValue),
                        "subject": .string(finding.subject),
                        "sentence": .string(finding.sentence),
                        "do": finding.hint.map { .string($0) } ?? .null,
                    ])
                }
            ),
        ]).text + "\n"
    }
}

/// One thing that was looked at.
struct Finding: Equatable, Sendable {
    enum Grade: String, Sendable {
        case good, warning, bad

        var mark: String {
            switch self {
            case .good: "ok      "
            case .warning: "warning "
            case .bad: "BAD     "
            }
        }
    }

    /// The subject of findings about main.conf.
    static let settings = "settings"

    /// Each in a line, with what to do about it below.
    static func text(_ findings: [Finding], quietly: Bool) -> String {
        let told = quietly ? findings.filter { $0.grade != .good } : findings
        return told.map { finding in
            let hint = finding.hint.map { "\n         do: \($0)" } ?? ""
            return "\(finding.grade.mark) \(finding.subject): \(finding.sentence)\(hint)\n"
        }.joined()
    }

    let grade: Grade
    let subject: String
    let sentence: String
    let hint: String?

    init(_ grade: Grade, _ subject: String, _ sentence: String, _ hint: String? = nil) {
        self.grade = grade
        self.subject = subject
        self.sentence = sentence
        self.hint = hint
    }
}

/// The kernel's switches for radio.
enum RadioSwitch {
    enum Block: Sendable { case none, soft, hard }

    /// The worst that any Bluetooth switch says.
    static func all(_ folder: String = "/sys/class/rfkill") -> Block {
        var worst = Block.none
        for number in 0..<32 {
            let path = "\(folder)/rfkill\(number)"
            guard SmallFile.text(path + "/type")?.hasPrefix("bluetooth") == true else { continue }
            if SmallFile.text(path + "/hard")?.hasPrefix("1") == true { return .hard }
            if SmallFile.text(path + "/soft")?.hasPrefix("1") == true { worst = .soft }
        }
        return worst
    }
}

/// What stands in BlueZ's main.conf, as far as bulk transfer depends on it.
struct BlueZConfiguration {
    private var values: [String: String] = [:]

    static func read(_ path: String) -> BlueZConfiguration {
        BlueZConfiguration(SmallFile.text(path) ?? "")
    }

    init(_ text: String) {
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

    /// Channels of a link; a value that BlueZ cannot read leaves its default, which depends on its
    /// version: nil where that is not known.
    private func channels(of version: [Int]?) -> Int? {
        if let set = values["GATT.Channels"].flatMap({ Int($0) }), (1...6) ~= set { return set }
        return version.map { $0.lexicographicallyPrecedes([5, 67]) ? 3 : 1 }
    }

    private func isOff(_ key: String) -> Bool { ["false", "0"].contains(values[key]) }

    func findings(of version: [Int]?) -> [Finding] {
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
                "\(channels) channels a link let packets overtake others",
                "set Channels = 1 under [GATT]"
            )
        }
        if isOff("GATT.Client") || isOff("GATT.ReverseServiceDiscovery") {
            bad(
                "services of modules are not looked for",
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
}

private enum SmallFile {
    /// The first 64 KiB of a file, nil when it cannot be read.
    static func text(_ path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = read(file, &buffer, buffer.count)
        guard count >= 0 else { return nil }
        return String(decoding: buffer[..<count], as: UTF8.self)
    }
}

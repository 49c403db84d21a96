import BlueZ
import Commands
import Foundation
import Operations
import Radio
import Site
import Testing

/// The findings of `doctor` on a host, with its advice.
@Suite struct DoctorTests {
    private static let address = "00:11:22:33:44:55"

    /// The findings that report a problem.
    private func faults(_ adapters: [AdapterReport], _ blocked: RadioSwitch.Block = .none)
        -> [Finding]
    {
        BluetoothHealth.findings(on: adapters, blocked: blocked).filter { $0.grade != .good }
    }

    @Test func `an adapter that is well is said to be so, and nothing else`() {
        let well = AdapterReport(name: "hci0", address: Self.address, isPowered: true)
        let findings = BluetoothHealth.findings(on: [well], blocked: .none)
        #expect(findings == [Finding(.good, "hci0", "00:11:22:33:44:55 is switched on")])
    }

    @Test func `a host without an adapter is told to plug one in`() {
        let findings = faults([])
        #expect(findings.map(\.subject) == ["adapter"])
        #expect(findings[0].hint?.hasPrefix("plug one in") == true)
        #expect(BluetoothHealth.exitCode(findings) == .unavailable)
    }

    @Test func `an adapter that is off says whether it is a switch, a block or just off`() {
        func sentence(_ isBlocked: Bool, _ blocked: RadioSwitch.Block) -> [String?] {
            let off = AdapterReport(
                name: "hci0",
                address: Self.address,
                isPowered: false,
                isBlocked: isBlocked
            )
            return faults([off], blocked).flatMap { [$0.sentence, $0.hint] }
        }
        #expect(sentence(false, .none) == ["it is switched off", "bluetoothctl power on"])
        #expect(sentence(true, .none) == ["it is blocked", "rfkill unblock bluetooth"])
        #expect(sentence(false, .soft) == ["it is blocked", "rfkill unblock bluetooth"])
        #expect(sentence(true, .hard) == ["a hardware switch blocks it", "turn the switch on"])
    }

    @Test func `an adapter that is off is no fault beside one that works, unless it is named`() {
        func report(_ name: String, isPowered: Bool) -> AdapterReport {
            AdapterReport(name: name, address: Self.address, isPowered: isPowered)
        }
        let both = [report("hci0", isPowered: true), report("hci1", isPowered: false)]
        func code(named: [String]) -> ExitCode {
            BluetoothHealth.exitCode(
                BluetoothHealth.findings(on: both, named: named, blocked: .none)
            )
        }
        #expect(code(named: []) == .done && code(named: ["hci0"]) == .done)
        #expect(code(named: ["hci1"]) == .unavailable)
        let hints = BluetoothHealth.findings(on: both, blocked: .none).compactMap(\.hint)
        #expect(hints == ["bluetoothctl, and there: select \(Self.address), then power on"])
    }

    @Test func `an adapter that others use, or that cannot advertise, is a warning`() {
        let used = AdapterReport(
            name: "hci0",
            address: Self.address,
            isPowered: true,
            isDiscovering: true,
            canServe: false,
            connected: ["C0:00:00:00:00:01"]
        )
        let findings = faults([used])
        #expect(findings.map(\.grade) == [.warning, .warning, .warning])
        #expect(findings[0].sentence == "another program is searching with it")
        #expect(findings[1].sentence == "C0:00:00:00:00:01 is connected to it")
        #expect(findings[2].sentence.contains("cannot advertise"))
        #expect(BluetoothHealth.exitCode(findings) == .done)
    }

    @Test func `no service and no permission are distinguished`() {
        let (absent, refused) = (
            BluetoothHealth.finding(on: .serviceUnavailable),
            BluetoothHealth.finding(on: .unauthorized)
        )
        #expect(absent.subject == "service" && absent.hint?.contains("enable --now") == true)
        #expect(refused.subject == "permission")
        #expect(refused.hint?.contains("group bluetooth") == true)
        #expect(BluetoothHealth.exitCode([absent]) == .unavailable)
        #expect(BluetoothHealth.exitCode([refused]) == .unavailable)
    }

    @Test(
        arguments: [
            ("bluetoothctl: 5.48", .bad), ("bluetoothctl: 5.50", .good),
            ("bluetoothctl: 5.66", .good), ("bluetoothctl: 5.67", .good),
            ("5.82", .good),
        ] as [(String, Finding.Grade)]
    ) func `a version with known faults is named`(words: String, grade: Finding.Grade) {
        let version = BluetoothHealth.version(in: words)
        #expect(BluetoothHealth.findings(onVersion: version).map(\.grade) == [grade])
    }

    @Test func `crashes of the service are counted from the journal, newest first`() {
        let journal = """
            2026-11-28T03:12:44+0000 yard systemd[1]: bluetooth.service: Main process exited, code=dumped, status=11/SEGV
            2026-11-26T22:01:09+0000 yard systemd[1]: bluetooth.service: Main process exited, code=exited, status=1/FAILURE
            2026-11-25T04:40:00+0000 yard systemd[1]: bluetooth.service: Main process exited, code=killed, status=6/ABRT

            """
        let unit = "Result=success\nNRestarts=7\n"
        let findings = ServiceCrashes.findings(journal: journal, unit: unit)
        #expect(findings.map(\.grade) == [.warning])
        #expect(
            findings[0].sentence
                == "bluetoothd has crashed 2 times in 7 days, the last time at "
                + "2026-11-28T03:12:44+0000 (SEGV); that ends every link of this host"
        )
        #expect(findings[0].hint?.contains("coredumpctl info bluetoothd") == true)
        #expect(BluetoothHealth.exitCode(findings) == .done)
        let line = "2026-11-28T03:12:44+0000 yard systemd[1]: b: code=killed, status=11/SEGV\n"
        let many = ServiceCrashes.findings(journal: String(repeating: line, count: 20), unit: "")
        #expect(many[0].sentence.contains("20 or more times"))
        #expect(ServiceCrashes.journal.contains("--lines=20"))
    }

    @Test(arguments: [
        ("Result=core-dump\nNRestarts=0\n", "has crashed and was not started again"),
        ("Result=signal\nNRestarts=0\n", "has crashed and was not started again"),
        ("Result=success\nNRestarts=1\n", "was started again by systemd 1 time after"),
        ("NRestarts=3\nResult=success\n", "was started again by systemd 3 times after"),
        ("Result=success\nNRestarts=0\n", nil), ("Result=exit-code\n", nil), ("", nil),
        ("NRestarts=many\n", nil),
    ])
    func `without the journal the state of the service tells of crashes`(
        unit: String,
        words: String?
    ) {
        let findings = ServiceCrashes.findings(journal: "-- No entries --\n", unit: unit)
        #expect(findings.count == (words == nil ? 0 : 1))
        if let words { #expect(findings.first?.sentence.contains(words) == true) }
    }

    @Test func `what tells no version finds no fault`() {
        #expect(BluetoothHealth.version(in: "command not found") == nil)
        #expect(BluetoothHealth.findings(onVersion: nil).isEmpty)
    }

    @Test(
        arguments: [
            ("[GATT]\nChannels = 3\n", "Channels = 1"),
            ("[GATT]\n\tChannels\t=\t3\t\n", "Channels = 1"),
            ("[GATT]\r\nChannels=2\r\n", "Channels = 1"),
            ("[GATT]\nClient=false\n", "remove Client"), ("[GATT]\nClient=0\n", "remove Client"),
            ("[GATT]\n  ReverseServiceDiscovery = false", "ReverseServiceDiscovery"),
            ("[General]\nControllerMode = bredr\n", "ControllerMode = le"),
            ("[General]\nTemporaryTimeout = 5\n", "TemporaryTimeout = 60"),
        ]
    ) func `settings that harm transfers are named with their remedy`(text: String, hint: String) {
        let findings = BlueZConfiguration(text).findings(of: [5, 82])
        #expect(findings.count == 1)
        #expect(findings.first?.hint?.contains(hint) == true)
        #expect(BluetoothHealth.exitCode(findings) == .configuration)
    }

    @Test(
        arguments: [
            "", "# [GATT]\n# Channels = 3\n", "[GATT]\n#Channels = 3\nChannels = 1\n",
            "[LE]\nChannels = 3\n", "[General]\nTemporaryTimeout = 0\n", "[broken\n=\n",
            "[GATT]\nChannels = 3 # three\n", "[GATT]\nChannels = 9\n",
        ]
    ) func `settings that are well are left alone`(text: String) {
        #expect(BlueZConfiguration(text).findings(of: [5, 82]).isEmpty)
        #expect(BlueZConfiguration(text).findings(of: nil).isEmpty)
    }

    @Test(
        arguments: [
            ("", true), ("[GATT]\nChannels = 1\n", false), ("[GATT]\nChannels = one\n", true),
            ("[GATT]\nChannels = 1 # only\n", true), ("[GATT]\nChannels = 0\n", true),
            ("[GATT]\nChannels = 3\nChannels = 1\n", false),
        ]
    ) func `an old version has several channels a link unless it is told one that it can read`(
        text: String,
        isHarmful: Bool
    ) {
        let findings = BlueZConfiguration(text).findings(of: [5, 66])
        #expect(findings.map(\.sentence.isEmpty) == (isHarmful ? [false] : []))
        #expect(BluetoothHealth.exitCode(findings) == (isHarmful ? .configuration : .done))
    }

    @Test(
        arguments: [
            ("", nil, "420 ms"), ("[LE]\nConnectionSupervisionTimeout=100\n", nil, "1000 ms"),
            ("[LE]\nConnectionSupervisionTimeout=9000\n", nil, "420 ms"),
            ("[GATT]\nConnectionSupervisionTimeout=1000\n", nil, "420 ms"),
            ("[LE]\nConnectionSupervisionTimeout=1000\n", 42, "420 ms"),
            ("[LE]\nConnectionSupervisionTimeout=1000\n", nil, nil), ("", 600, nil),
        ]
    ) func `links that do not survive an erase are named`(
        text: String,
        inForce: Int?,
        silence: String?
    ) {
        let finding = BlueZConfiguration(text).linkFinding(on: "hci0", inForce: inForce)
        #expect((finding == nil) == (silence == nil))
        guard let finding, let silence else { return }
        #expect(finding.grade == .warning && finding.subject == "hci0")
        #expect(finding.sentence.contains(silence))
        let remedy =
            inForce == nil ? "ConnectionSupervisionTimeout = 1000 under [LE]" : "restart bluetooth"
        #expect(finding.hint?.contains(remedy) == true)
    }

    @Test func `a tool that hangs is ended, and its version not judged`() {
        let clock = ContinuousClock()
        let began = clock.now
        let late = BluetoothHealth.version(
            asking: ["sh", "-c", "sleep 60 & sleep 60"],
            within: .milliseconds(200)
        )
        #expect(began.duration(to: clock.now) < .seconds(30))
        #expect(late.version == nil)
        #expect(late.findings.map(\.grade) == [.warning])
        let told = BluetoothHealth.version(
            asking: ["echo", "bluetoothctl: 5.66"],
            within: .seconds(20)
        )
        #expect(told.version == [5, 66])
        let absent = BluetoothHealth.version(asking: ["no-such-program"], within: .seconds(20))
        #expect(absent.version == nil && absent.findings.isEmpty)
    }

    @Test func `the kernel's switches are read, the worst of Bluetooth's counts`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        func write(_ number: Int, _ type: String, soft: String, hard: String) throws {
            let one = folder.appending(path: "rfkill\(number)")
            try FileManager.default.createDirectory(at: one, withIntermediateDirectories: true)
            for (name, text) in [("type", type), ("soft", soft), ("hard", hard)] {
                try Data((text + "\n").utf8).write(to: one.appending(path: name))
            }
        }
        #expect(RadioSwitch.all(folder.path) == .none)
        try write(0, "wlan", soft: "1", hard: "1")
        try write(1, "bluetooth", soft: "0", hard: "0")
        #expect(RadioSwitch.all(folder.path) == .none)
        try write(2, "bluetooth", soft: "1", hard: "0")
        #expect(RadioSwitch.all(folder.path) == .soft)
        try write(3, "bluetooth", soft: "0", hard: "1")
        #expect(RadioSwitch.all(folder.path) == .hard)
    }

    @Test func `the document for programs has the code, and null where nothing is to be done`() {
        let text = Finding.document(
            [Finding(.good, "service", "the Bluetooth service answers")],
            .done
        )
        #expect(text.contains("\"exit\""))
        #expect(text.contains("null"))
        #expect(text.hasSuffix("}\n"))
    }
}

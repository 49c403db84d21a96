import BlueZ
import Commands
import Operations
import Radio

/// `doctor`: the faults of this host's Bluetooth, and how to fix them.
struct DoctorCommand {
    private let bus: String?
    private let common: CommonOptions

    init(_ invocation: Invocation) {
        bus = invocation.value("bus")
        common = CommonOptions(invocation)
    }

    func run(_ context: Context) async throws(CommandError) -> ExitCode {
        var findings: [Finding] = []
        let settings = BlueZConfiguration.read("/etc/bluetooth/main.conf")
        let site = try HostBluetooth.open(bus: bus, state: nil, context)
        do throws(RadioError) {
            let adapters = try await site.radio.survey()
            findings.append(Finding(.good, "service", "the Bluetooth service answers"))
            findings += BluetoothHealth.findings(on: adapters, blocked: RadioSwitch.all())
            findings += adapters.compactMap { adapter in
                settings.linkFinding(
                    on: adapter.name,
                    inForce: BlueZConfiguration.silenceInForce(on: adapter.name)
                )
            }
        } catch {
            findings.append(BluetoothHealth.finding(on: error))
        }
        await site.close()
        let tool = BluetoothHealth.version(
            asking: ["bluetoothctl", "--version"],
            within: .seconds(3)
        )
        findings += tool.findings
        findings += settings.findings(of: tool.version)
        let code = BluetoothHealth.exitCode(findings)
        let text = Finding.text(findings, quietly: common.isQuiet)
        context.console.result(common.wantsJSON ? Finding.document(findings, code) : text)
        return code
    }
}

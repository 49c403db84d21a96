import BlueZ
import Commands
import Manifest
import Operations
import Radio
import Site

/// `doctor`: the faults of this host's Bluetooth, and how to fix them; and doubts about a manifest.
struct DoctorCommand {
    private let manifest: String?
    private let bus: String?
    private let common: CommonOptions

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        manifest = invocation.arguments.first
        bus = invocation[Command.bus]
        common = try CommonOptions(invocation, context)
    }

    func run(_ context: Context) async throws(CommandError) -> ExitCode {
        // Read first, so that a manifest with errors ends the command at once.
        let (doubts, named) = try self.doubts(context)
        var findings: [Finding] = []
        let settings = BlueZConfiguration.read("/etc/bluetooth/main.conf")
        let site = try HostBluetooth.open(bus: bus, state: nil, context)
        do throws(RadioError) {
            let adapters = try await site.radio.survey()
            findings.append(Finding(.good, "service", "the Bluetooth service answers"))
            findings += BluetoothHealth.findings(
                on: adapters,
                named: named,
                blocked: RadioSwitch.all()
            )
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
        // systemd knows the host's own service, and none on another bus.
        if bus == nil, context.variable("DBUS_SYSTEM_BUS_ADDRESS") == nil {
            findings += ServiceCrashes.findings(within: .seconds(3))
        }
        let tool = BluetoothHealth.version(
            asking: ["bluetoothctl", "--version"],
            within: .seconds(3)
        )
        findings += tool.findings
        findings += settings.findings(of: tool.version)
        findings += doubts
        let code = BluetoothHealth.exitCode(findings)
        let text = Finding.text(findings, quietly: common.isQuiet)
        if common.wantsJSON {
            context.console.result(Finding.document(findings, code))
        } else {
            context.show(text)
        }
        return code
    }

    /// The warnings of `validate` about a manifest itself, and the adapters that it names.
    private func doubts(
        _ context: Context
    ) throws(CommandError) -> (doubts: [Finding], adapters: [String]) {
        guard let path = manifest else { return ([], []) }
        let read = try Inputs.read(path, common)
        guard let plan = read.plan else {
            Inputs.tell(read.diagnostics, context)
            throw Inputs.invalid(path, read.diagnostics)
        }
        return (Finding.warnings(read.diagnostics + plan.remarks), plan.radio.adapters)
    }
}

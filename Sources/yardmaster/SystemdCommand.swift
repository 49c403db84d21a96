import Base
import Commands
import Operations
import Site

/// `systemd print`: the units of a nightly run.
struct SystemdCommand {
    private let invocation: Invocation
    private let context: Context
    private let common: CommonOptions

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        self.invocation = invocation
        self.context = context
        common = try CommonOptions(invocation, context)
    }

    func run() throws(CommandError) -> ExitCode {
        let chosen = try UnitChoice(invocation, common, context).units()
        if common.wantsJSON {
            let document = JSONValue.object([
                "schema": 1,
                "units": .array(
                    chosen.map { unit in
                        .object([
                            "name": .string(unit.name), "path": .string(Self.path(unit)),
                            "text": .string(unit.text),
                        ])
                    }
                ),
            ])
            context.console.result(document.text + "\n")
        } else if let only = chosen.first, chosen.count == 1 {
            context.console.result(only.text)
        } else {
            let texts = chosen.map { "# \(Self.path($0))\n\($0.text)" }
            context.console.result(texts.joined(separator: "\n"))
        }
        return .done
    }

    private static func path(_ unit: ServiceUnits.Unit) -> String {
        "/etc/systemd/system/\(unit.name)"
    }
}

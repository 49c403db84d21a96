import Base
import Commands
import Operations

/// `version`: the version of this program.
struct VersionCommand {
    let wantsJSON: Bool

    init(_ invocation: Invocation) { wantsJSON = invocation[Command.json] }

    func run(_ context: Context) -> ExitCode {
        let document = JSONValue.object([
            "schema": 1, "name": "yardmaster", "version": .string(Version.current),
        ])
        let text = wantsJSON ? document.text : "yardmaster \(Version.current)"
        context.console.result(text + "\n")
        return .done
    }
}

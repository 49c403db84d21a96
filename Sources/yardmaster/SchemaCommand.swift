import Commands
import Manifest
import Operations
import Site

/// `schema`: the manifest's JSON Schema, or the description of the interface of `serve` for
/// programs.
struct SchemaCommand {
    let describesInterface: Bool

    init(_ invocation: Invocation) { describesInterface = invocation[Command.api] }

    func run(_ context: Context) -> ExitCode {
        context.console.result(
            describesInterface ? OpenAPIDocument.text : manifestJSONSchema() + "\n"
        )
        return .done
    }
}

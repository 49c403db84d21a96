import Commands
import Manifest
import Operations

/// `schema`: the manifest's JSON Schema.
struct SchemaCommand {
    func run(_ context: Context) -> ExitCode {
        context.console.result(manifestJSONSchema() + "\n")
        return .done
    }
}

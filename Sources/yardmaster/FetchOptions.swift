import Commands
import Operations

/// The options of `fetch`.
struct FetchOptions: Sendable {
    let manifest: String
    let state: String
    let common: CommonOptions

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        manifest = invocation.arguments[0]
        state = try CommonOptions.stateDirectory(invocation, context)
        common = try CommonOptions(invocation, context)
    }
}

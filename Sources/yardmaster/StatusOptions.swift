import Commands
import Operations

/// What `status` was asked for.
struct StatusOptions: Sendable {
    let state: String
    /// Nil for the one that ran last.
    let rollout: String?
    let common: CommonOptions
    /// Whether it is shown until a signal comes.
    let watches: Bool
    /// Follows the command's name in lines for the shell, where the directory is not the usual one.
    let stateFlag: String

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        state = try CommonOptions.stateDirectory(invocation, context)
        rollout = invocation.value("rollout")
        common = CommonOptions(invocation)
        watches = invocation.has("watch")
        stateFlag = CommonOptions.stateFlag(invocation)
    }
}

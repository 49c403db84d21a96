import Commands
import Operations

/// The options of `status`.
struct StatusOptions: Sendable {
    let state: String
    /// Nil for the rollout that ran last.
    let rollout: String?
    let common: CommonOptions
    /// Whether it is updated until a signal arrives.
    let watches: Bool
    /// The flag that must follow the command's name in lines for the shell, when the directory is
    /// not the default.
    let stateFlag: String

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        state = try CommonOptions.stateDirectory(invocation, context)
        rollout = invocation.value("rollout")
        common = CommonOptions(invocation)
        watches = invocation.has("watch")
        stateFlag = CommonOptions.stateFlag(invocation)
    }
}

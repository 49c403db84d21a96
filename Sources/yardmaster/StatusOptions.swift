import Commands

/// What `status` was asked for.
struct StatusOptions: Sendable {
    let state: String
    let common: CommonOptions

    init(_ invocation: Invocation, _ context: Context) throws(CommandError) {
        state = try CommonOptions.stateDirectory(invocation, context)
        common = CommonOptions(invocation)
    }
}

import Commands

/// What `validate` was asked for.
struct ValidateOptions: Sendable {
    let manifest: String
    let common: CommonOptions

    init(_ invocation: Invocation) {
        manifest = invocation.arguments[0]
        common = CommonOptions(invocation)
    }
}

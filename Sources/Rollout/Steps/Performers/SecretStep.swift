import Base
import Store

/// Gives the module another secret.
struct SecretStep: StepPerformer {
    func perform(on execution: Execution) async throws(Halt) -> [Fact] {
        guard let secret = execution.job.secret else {
            throw .verdict(.rejected, .rejected, "its secret is not kept where it can be changed")
        }
        try await execution.change(secret, isNew: true)
        return [Fact("secret", "changed")]
    }
}

import Base
import Store

/// Waits, with the adapter free for others.
struct WaitStep: StepPerformer {
    let duration: Duration

    func perform(on execution: Execution) async throws(Halt) -> [Fact] {
        // No link stays open while it is not needed.
        await execution.hangUp()
        try await execution.enter(
            .acting,
            detail: "wait",
            deadline: ("end of the wait", duration)
        )
        try await execution.rest(
            until: execution.time.now.advanced(by: duration),
            .next,
            for: "the end of a `wait` step"
        )
        return []
    }
}

import Store

/// Performs one kind of step, on the link of the vehicle's execution.
///
/// It contains the step's parameters and nothing else. Whether the step may be done, and what the
/// journal records of it, is decided before and after.
protocol StepPerformer {
    /// Returns the facts for the report.
    func perform(on execution: Execution) async throws(Halt) -> [Fact]
}

import Reports

/// Does what one kind of step is for, on the link of the vehicle's execution.
///
/// It holds what is asked of it and nothing else. Whether it may be done, and what the journal keeps
/// of it, is decided before and after.
protocol StepPerformer {
    /// What it gave, for the report.
    func perform(on execution: Execution) async throws(Halt) -> [Fact]
}

import Base
import Radio
import Store

/// Waits until properties have the expected values.
struct ExpectStep {
    let tests: [PropertyTest]
    let within: Duration
    let action: String

    /// The properties without the expected value when the time was over.
    func failing(on execution: Execution) async throws(Halt) -> [PropertyReading] {
        let holder = try await execution.holder()
        try await execution.enter(
            .acting,
            detail: action,
            deadline: ("expected values", within)
        )
        do throws(PropertyReadError) {
            return try await holder.wait(
                for: tests,
                before: execution.time.now.advanced(by: within),
                by: execution.time
            )
        } catch { throw Halt(error, "while waiting for \(tests[0].property)") }
    }

    /// Ends the vehicle as failed when a property did not have the expected value.
    func judge(_ failing: [PropertyReading], on execution: Execution) throws(Halt) {
        guard let first = failing.first,
            let test = tests.first(where: { $0.property == first.name })
        else { return }
        let problem = Problem(
            check: first.name,
            measured: first.value.text,
            required: test.description
        )
        execution.depot.events.emit(.problem(execution.vehicle, problem))
        throw .verdict(.failed, .device, "\(problem.sentence) within \(within.brief)")
    }
}

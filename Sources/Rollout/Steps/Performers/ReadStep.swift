import Base
import Radio
import Store

/// Reads properties.
struct ReadStep: StepPerformer {
    let names: [String]
    let action: String

    func perform(on execution: Execution) async throws(Halt) -> [Fact] {
        let holder = try await execution.holder()
        try await execution.enter(.acting, detail: action)
        var facts: [Fact] = []
        for name in names {
            do throws(PropertyReadError) {
                facts.append(Fact(name, try await holder.read(name).text))
            } catch { throw Halt(error, "while reading \(name)") }
        }
        return facts
    }
}

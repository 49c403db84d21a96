import Base
import Radio
import Store

/// Writes properties.
struct SetStep: StepPerformer {
    let orders: [PropertyOrder]

    func perform(on execution: Execution) async throws(Halt) -> [Fact] {
        let holder = try await execution.holder()
        var facts: [Fact] = []
        for order in orders {
            do throws(PropertyWriteError) {
                let taken = try await holder.write(order.value, to: order.name)
                facts.append(Fact(order.name, taken.text))
            } catch { throw Halt(error, "while setting \(order.name)") }
        }
        return facts
    }
}

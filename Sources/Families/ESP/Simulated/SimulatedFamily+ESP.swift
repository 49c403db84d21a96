import Base
import Radio
package import Simulation

extension SimulatedFamily {
    package static let esp = SimulatedFamily(
        .esp,
        as: "a simulated device",
        invent: { InventedItem(runs: $0.version, faults: ["rolls-back: true"]) },
        read: { $0.espDevices() }
    )
}

extension PlanReader {
    fileprivate mutating func espDevices() -> [ESPPlan] {
        var plan: ESPPlan = begin(
            hint: "it is the name or the address that the device advertises, such as esp-0001"
        )
        reader.read("server", into: &plan.server)
        plan.name = name(default: plan.name)
        version(into: &plan.version)
        reader.read("chip", in: 0...65_535, into: &plan.chip)
        reader.read("restart-time", into: &plan.restartTime)
        reader.read("erase-time", into: &plan.eraseTime)
        return end(plan)
    }
}

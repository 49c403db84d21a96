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
        plan.server = reader.choice("server", default: plan.server)
        plan.name = name(default: plan.name)
        plan.version = version(default: plan.version)
        plan.chip = UInt16(reader.integer("chip", in: 0...65_535, default: Int(plan.chip)))
        duration("restart-time", &plan.restartTime)
        duration("erase-time", &plan.eraseTime)
        return end(plan)
    }
}

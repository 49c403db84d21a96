import Base
import Radio
package import Simulation

extension SimulatedFamily {
    package static let nordic = SimulatedFamily(
        .nordic,
        as: "a simulated device",
        invent: { InventedItem(runs: $0.version, faults: ["never-returns: true"]) },
        read: { $0.nordicDevices() }
    )
}

extension PlanReader {
    fileprivate mutating func nordicDevices() -> [NordicPlan] {
        var plan: NordicPlan = begin(
            hint: "it is the name or the address that the device advertises, such as tag-0001"
        )
        reader.read("bootloader", into: &plan.bootloader)
        if let profile = plan.profile {
            if NordicBootloader.isLegacy(profile) { plan.bootloader = .legacy }
            // The shipped profiles are the generic ones of the two bootloaders.
            if profile.source == nil { plan.profile = nil }
        }
        plan.name = name(default: plan.name)
        version(into: &plan.version)
        plan.model = reader.text("model", .optional)
        reader.read("restart-time", into: &plan.restartTime)
        reader.read("activation-time", into: &plan.activationTime)
        reader.read("erase-time", into: &plan.eraseTime)
        reader.read("keeps-address", into: &plan.keepsAddress)
        return end(plan)
    }
}

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
        plan.bootloader = reader.choice("bootloader", default: plan.bootloader)
        if let profile = plan.profile {
            if NordicBootloader.isLegacy(profile) { plan.bootloader = .legacy }
            // The shipped profiles are the generic ones of the two bootloaders.
            if profile.source == nil { plan.profile = nil }
        }
        plan.name = name(default: plan.name)
        plan.version = version(default: plan.version)
        plan.model = reader.text("model", .optional)
        duration("restart-time", &plan.restartTime)
        duration("activation-time", &plan.activationTime)
        duration("erase-time", &plan.eraseTime)
        plan.keepsAddress = reader.boolean("keeps-address", default: false)
        return end(plan)
    }
}

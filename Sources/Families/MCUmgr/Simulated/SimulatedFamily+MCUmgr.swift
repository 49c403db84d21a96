import Domain
package import Simulation

extension SimulatedFamily {
    package static let mcumgr = SimulatedFamily(.mcumgr) { item in
        var reader = SMPModuleReader(item)
        return reader.read()
    }
}

extension SMPModulePlan: PlannedModule {
    package func join(_ world: World, slot: DepotSlot?, imageCapacity: Int) {
        world.add(SMPModule(plan: self, world: world, slot: slot, imageCapacity: imageCapacity))
    }
}

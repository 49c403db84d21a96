import Domain
package import Simulation

extension SimulatedFamily {
    package static let esp = SimulatedFamily(.esp) { item in
        var reader = ESPModuleReader(item)
        return reader.read()
    }
}

extension ESPPlan: PlannedModule {
    package func join(_ world: World, slot: DepotSlot?, imageCapacity: Int) {
        world.add(ESPModule(plan: self, world: world, slot: slot))
    }
}

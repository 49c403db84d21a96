import Domain
package import Simulation

extension SimulatedFamily {
    package static let comodule = SimulatedFamily(.comodule) { item in
        var reader = ModuleReader(item)
        return reader.read()
    }
}

extension ModulePlan: PlannedModule {
    package func join(_ world: World, slot: DepotSlot?, imageCapacity: Int) {
        world.add(
            ComoduleModule(plan: self, world: world, slot: slot, imageCapacity: imageCapacity)
        )
    }
}

import Domain
package import Simulation

extension SimulatedFamily {
    package static let nordic = SimulatedFamily(.nordic) { item in
        var reader = NordicReader(item)
        return reader.read()
    }
}

extension NordicPlan: PlannedModule {
    package func join(_ world: World, slot: DepotSlot?, imageCapacity: Int) {
        world.add(
            NordicModule(plan: self, world: world, slot: slot, imageCapacity: imageCapacity)
        )
    }
}

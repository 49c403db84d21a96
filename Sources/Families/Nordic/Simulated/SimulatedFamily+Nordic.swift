import Domain
package import Simulation

extension SimulatedFamily {
    package static let nordic = SimulatedFamily(
        .nordic,
        invent: { module in
            InventedItem(
                [("version", module.version.map { "\"\($0)\"" })],
                faults: [
                    "link-lost-at: 3000", "silent-at: 2000", "restart-at: 3000",
                    "connect-fails: true", "never-returns: true",
                ]
            )
        }
    ) { item in
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

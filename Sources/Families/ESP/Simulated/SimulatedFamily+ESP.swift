import Domain
package import Simulation

extension SimulatedFamily {
    package static let esp = SimulatedFamily(
        .esp,
        invent: { module in
            InventedItem(
                [("version", module.version.map { "\"\($0)\"" })],
                faults: [
                    "link-lost-at: 3000", "silent-at: 2000", "restart-at: 3000",
                    "connect-fails: true", "rolls-back: true",
                ]
            )
        }
    ) { item in
        var reader = ESPModuleReader(item)
        return reader.read()
    }
}

extension ESPPlan: PlannedModule {
    package func join(_ world: World, slot: DepotSlot?, imageCapacity: Int) {
        world.add(ESPModule(plan: self, world: world, slot: slot))
    }
}

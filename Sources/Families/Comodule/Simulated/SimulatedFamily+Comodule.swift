import Domain
package import Simulation
import Wire

extension SimulatedFamily {
    package static let comodule = SimulatedFamily(
        .comodule,
        invent: { module in
            let key = Hex.text(module.chance.prefix(20))
            return InventedItem(
                [
                    ("key", "\"\(key)\""), ("type", module.type.map(String.init)),
                    ("variant", module.variant.map(String.init)),
                    ("version", module.version.map { "\"\($0)\"" }),
                ],
                secret: key,
                faults: [
                    "link-lost-at: 3000", "silent-at: 2000", "restart-at: 3000",
                    "connect-fails: true",
                    "refuses-boot: true", "never-returns: true", "link-lost-at: 2000, times: 3",
                ]
            )
        }
    ) { item in
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

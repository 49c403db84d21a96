import Base
package import Simulation

extension SimulatedFamily {
    package static let comodule = SimulatedFamily(
        .comodule,
        as: "a simulated module",
        invent: { module in
            let key = Hex.text(module.chance.prefix(20))
            return InventedItem(
                [
                    ("key", "\"\(key)\""), ("type", module.type.map(String.init)),
                    ("variant", module.variant.map(String.init)),
                    ("version", module.version.map { "\"\($0)\"" }),
                ],
                secret: key,
                faults: InventedItem.cuts + [
                    "refuses-boot: true", "never-returns: true", "link-lost-at: 2000, times: 3",
                ]
            )
        },
        read: { $0.comoduleModules() }
    )
}

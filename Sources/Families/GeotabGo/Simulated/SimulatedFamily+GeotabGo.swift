import Domain
package import Simulation
import Wire

extension SimulatedFamily {
    package static let geotabGo = SimulatedFamily(
        .geotabGo,
        invent: { module in
            let number = InventedTokens.hardwareID(of: module)
            return InventedItem(
                [
                    ("hardware-id", "\(number)"),
                    ("vehicle", module.isBooked ? "{reservation: \"true\"}" : nil),
                    ("tenant-keys", InventedTokens.tenant.map { "[\"\(Hex.text($0))\"]" }),
                ],
                secret: InventedTokens.token(for: number),
                faults: [
                    "no-result: true", "nack: 4", "no-challenge: true", "late-result: 30s",
                    "no-handshake: true",
                ]
            )
        }
    ) { depot, diagnostics in
        let tenants = GOReader.tenants(&depot, diagnostics)
        return { item in
            var reader = GOReader(item.node, item.link, tenants: tenants, item.diagnostics)
            return reader.read()
        }
    }
}

extension GOPlan: PlannedModule {
    package func join(_ world: World, slot: DepotSlot?, imageCapacity: Int) {
        world.add(self, slot: slot)
    }
}

import Base
package import Simulation

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
        let tenants = PlanReader.tenantKeys(&depot, diagnostics)
        return { item in
            var reader = PlanReader(item, as: "a simulated GO device")
            return reader.goDevices(tenants: tenants)
        }
    }
}

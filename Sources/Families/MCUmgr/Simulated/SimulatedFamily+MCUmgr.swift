import Domain
package import Simulation

extension SimulatedFamily {
    package static let mcumgr = SimulatedFamily(
        .mcumgr,
        as: "a simulated module",
        invent: { module in
            InventedItem(
                [("version", module.version.map { "\"\($0)\"" })],
                faults: InventedItem.cuts + ["crashes: true", "never-returns: true"]
            )
        },
        read: { $0.smpModules() }
    )
}

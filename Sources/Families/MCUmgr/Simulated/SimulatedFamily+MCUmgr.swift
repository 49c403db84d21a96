import Base
package import Simulation

extension SimulatedFamily {
    package static let mcumgr = SimulatedFamily(
        .mcumgr,
        as: "a simulated module",
        invent: {
            InventedItem(runs: $0.version, faults: ["crashes: true", "never-returns: true"])
        },
        read: { $0.smpModules() }
    )
}

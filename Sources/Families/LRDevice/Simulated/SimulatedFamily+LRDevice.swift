import Domain
package import Simulation
import Wire

extension SimulatedFamily {
    package static let lrdevice = SimulatedFamily(
        .lrdevice,
        invent: { module in
            let key = Hex.text(module.chance)
            let digits = Array(key.uppercased().prefix(32))
            let password = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
                .map { String(digits[$0]) }.joined(separator: "-")
            return InventedItem(
                [("key", "\"\(key)\""), ("password", "\"\(password)\"")],
                secret: "\(key):\(password)",
                faults: ["slow: 5s", "silent: true", "link-lost: true", "connect-fails: true"]
            )
        }
    ) { item in
        var reader = LRDeviceReader(item)
        return reader.read().map { [$0] } ?? []
    }
}

extension LRDevicePlan: PlannedModule {
    package func join(_ world: World, slot: DepotSlot?, imageCapacity: Int) {
        world.addLRDevice(self, slot: slot)
    }
}

import Domain
package import Simulation

extension SimulatedFamily {
    package static let lrdevice = SimulatedFamily(.lrdevice) { item in
        var reader = LRDeviceReader(item)
        return reader.read().map { [$0] } ?? []
    }
}

extension LRDevicePlan: PlannedModule {
    package func join(_ world: World, slot: DepotSlot?, imageCapacity: Int) {
        world.addLRDevice(self, slot: slot)
    }
}

import Domain
package import Simulation

extension SimulatedFamily {
    package static let geotabGo = SimulatedFamily(.geotabGo) { depot, diagnostics in
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

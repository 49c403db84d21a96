import Domain
import Radio
import RadioContract
import Simulation
import Synchronization
import Testing

/// The contract's world on simulated air.
private final class SimulatedBench: ContractBench {
    let simulation: Simulation

    init(seed: UInt64) { simulation = Simulation(seed: seed) }

    private var radio: SimulatedRadio { SimulatedRadio(adapter: "hci0", air: simulation.air) }
    var central: any Central { radio }
    var peripheral: any Peripheral { radio }
    var time: any Timekeeper { simulation.time }

    func setUp() async {
        await simulation.air.addAdapter("hci0")
        await simulation.air.arrange { world in
            world.add(ContractPeer(world: world))
            world.add(ContractVisitor())
        }
    }

    func cause(_ incident: ContractIncident) async {
        switch incident {
        case .adapterOff: await simulation.air.setPower("hci0", on: false)
        case .adapterOn: await simulation.air.setPower("hci0", on: true)
        case .stackRestart: await simulation.air.restartStack()
        case .peerLeaves: await arrangePeer { $0.inReach = false }
        case .peerReturns: await arrangePeer { $0.inReach = true }
        case .peerChangesAddress: await arrangePeer { $0.address = "C0:00:00:00:00:02" }
        case .peerRefusesLinks(let count): await arrangePeer { $0.refusals = count }
        case .visitorLeaves: await arrangeVisitor { $0.leave() }
        case .visitorStopsLooking: await arrangeVisitor { $0.isLooking = false }
        }
    }

    private func arrangePeer(_ change: @escaping @Sendable (ContractPeer) -> Void) async {
        await simulation.air.arrange { world in
            for case let peer as ContractPeer in world.devices { change(peer) }
        }
    }

    private func arrangeVisitor(_ change: @escaping @Sendable (ContractVisitor) -> Void) async {
        await simulation.air.arrange { world in
            for case let visitor as ContractVisitor in world.visitors { change(visitor) }
        }
    }
}

@Suite struct ContractTests {
    @Test(arguments: RadioContract.clauses, [1, 2, 3] as [UInt64])
    func `simulated air keeps the radio contract`(clause: ContractClause, seed: UInt64) throws {
        let bench = SimulatedBench(seed: seed)
        let violation = try bench.simulation.run { () async -> (any Error)? in
            await bench.setUp()
            do {
                try await clause.hold(on: bench)
                return nil
            } catch {
                return error
            }
        }
        #expect(violation == nil, "seed \(seed)")
    }
}

import Base
import Radio
import RadioContract
import Simulation
import Synchronization
import Testing

/// The world of the contract in simulated air.
private final class SimulatedBench: BondBench {
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

    func atPeer<R: Sendable>(_ body: @escaping @Sendable (ContractPeer) -> R) async -> R {
        await simulation.air.arrange { world in
            let peers = world.devices.compactMap { $0 as? ContractPeer }
            guard let peer = peers.first else { preconditionFailure("the bench has a peer") }
            return body(peer)
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

    private func hold(
        _ body: @escaping @Sendable (SimulatedBench) async throws -> Void
    ) throws -> (any Error)? {
        let bench = SimulatedBench(seed: 1)
        return try bench.simulation.run { () async -> (any Error)? in
            await bench.setUp()
            do {
                try await body(bench)
                return nil
            } catch { return error }
        }
    }

    @Test(arguments: BondScenario.all)
    func `bonds come out as with any radio`(scenario: BondScenario) throws {
        #expect(try hold { try await scenario.hold(on: $0) } == nil)
    }

    @Test(arguments: [true, false])
    func `a bond that the module has lost is renewed only where that is allowed`(
        mayRenew: Bool
    ) throws {
        #expect(try hold { try await $0.loseBonds(mayRenew: mayRenew) } == nil)
    }
}

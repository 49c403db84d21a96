import Base
import BlueZ
import Lab
import PrivateBus
import Radio
import RadioContract
import Simulation
import Testing

/// The real clock, for tests that use a real bus.
struct LoopTime: Timekeeper {
    let loop: EventLoop

    var now: Moment { EventLoop.now }
    var wallTime: WallTime { WallTime(milliseconds: 0) }

    func sleep(until deadline: Moment, for purpose: @autoclosure () -> String) async {
        let time = now.duration(to: deadline)
        let stream = AsyncStream<Void> { continuation in
            loop.perform { [loop] in
                _ = loop.schedule(after: max(.zero, time)) { continuation.finish() }
            }
        }
        for await _ in stream {}
    }
}

/// A private bus with a simulated world served on it, and our radio connected to that bus.
struct FakeBench: BondBench {
    let daemon: PrivateBus
    let fake: FakeBlueZ
    let host: BlueZ

    var central: any Central { BlueZCentral("hci0", of: host) }
    var peripheral: any Peripheral { BlueZPeripheral("hci0", of: host) }
    var time: any Timekeeper { LoopTime(loop: fake.loop) }

    func cause(_ incident: ContractIncident) async {
        switch incident {
        case .adapterOff: await fake.cause(.power(adapter: "hci0", on: false))
        case .adapterOn: await fake.cause(.power(adapter: "hci0", on: true))
        case .stackRestart: await fake.cause(.restart(after: .milliseconds(200)))
        case .peerLeaves: await withPeer { $0.inReach = false }
        case .peerReturns: await withPeer { $0.inReach = true }
        case .peerChangesAddress: await withPeer { $0.address = "C0:00:00:00:00:02" }
        case .peerRefusesLinks(let count): await withPeer { $0.refusals = count }
        case .visitorLeaves: await fake.cause(.centralLeaves(adapter: "hci0"))
        case .visitorStopsLooking:
            await fake.arrange { world in
                for case let visitor as ContractVisitor in world.visitors {
                    visitor.isLooking = false
                }
            }
        }
    }

    func atPeer<R: Sendable>(_ body: @escaping @Sendable (ContractPeer) -> R) async -> R {
        await fake.arrange { world in
            let peers = world.devices.compactMap { $0 as? ContractPeer }
            guard let peer = peers.first else { preconditionFailure("the bench has a peer") }
            return body(peer)
        }
    }

    private func withPeer(_ body: @Sendable (ContractPeer) -> Void) async {
        await fake.arrange { world in
            for case let peer as ContractPeer in world.devices { body(peer) }
        }
    }

    static func with<R>(
        _ settings: FakeBlueZ.Settings = FakeBlueZ.Settings(),
        ours: BlueZSettings = BlueZSettings(),
        daemon: PrivateBus? = nil,
        _ body: (FakeBench) async throws -> R
    ) async throws -> R {
        FairTime.begin()
        let daemon = if let daemon { daemon } else { try PrivateBus() }
        let address = try #require(BusAddress(daemon.address))
        let fake = try FakeBlueZ(address, settings)
        await fake.arrange { world in
            world.add(ContractPeer(world: world))
            world.add(ContractVisitor())
        }
        try await fake.start()
        let host = try BlueZ(address, settings: ours)
        let bench = FakeBench(daemon: daemon, fake: fake, host: host)
        let result: Result<R, any Error>
        do { result = .success(try await body(bench)) } catch { result = .failure(error) }
        await host.close()
        await fake.close()
        return try result.get()
    }
}

@Suite(.timeLimit(.minutes(5))) struct FakeBlueZContractTests {
    @Test(arguments: RadioContract.clauses)
    func `the served world keeps the contract of every radio`(
        clause: ContractClause
    ) async throws {
        try await FakeBench.with { try await clause.hold(on: $0) }
    }

    /// A request may be made between the end of the link and the report of that end.
    @Test(arguments: 0..<40)
    func `no request waits forever on a link that ends in that moment`(turn: Int) async throws {
        let clause = try #require(
            RadioContract.clauses.first {
                "\($0)" == "an adapter that is switched off ends its links and works again later"
            }
        )
        try await FakeBench.with { try await clause.hold(on: $0) }
    }

    @Test(arguments: BondScenario.all)
    func `bonds come out as with any radio`(scenario: BondScenario) async throws {
        try await FakeBench.with { try await scenario.hold(on: $0) }
    }

    @Test(arguments: [true, false])
    func `a bond that the module has lost is renewed only where that is allowed`(
        mayRenew: Bool
    ) async throws {
        try await FakeBench.with { try await $0.loseBonds(mayRenew: mayRenew) }
    }
}

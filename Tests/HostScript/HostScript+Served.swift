import Base
import BlueZ
import Lab
import PrivateBus
import RadioContract
import Simulation

extension HostScript {
    /// Plays the script to the served world, on a private bus.
    package static func playServed() async throws -> [String] {
        FairTime.begin()
        let daemon = try PrivateBus()
        guard let address = BusAddress(daemon.address) else { throw BusError.disconnected }
        var served = FakeBlueZ.Settings()
        served.pace = 10
        let fake = try FakeBlueZ(address, served)
        await fake.arrange { world in
            let peer = ContractPeer(world: world)
            // The MTU that two real hosts agree on.
            peer.linkParameters.mtu = 517
            world.add(peer)
            let visitor = ContractVisitor()
            visitor.linkParameters.mtu = 517
            world.add(visitor)
        }
        try await fake.start()
        let lines = try await play(to: fake, pace: served.pace)
        await fake.close()
        return lines
    }

    private static func play(to fake: FakeBlueZ, pace: Double) async throws -> [String] {
        let bus = try await Connection.open(fake.address, on: fake.loop)
        var settings = Settings(peer: "C0:00:00:00:00:01")
        settings.pace = pace
        settings.quiet = .milliseconds(120)
        let lines = try await play(on: bus, settings) { cause in
            switch cause {
            case .peerLeaves, .peerReturns:
                await fake.arrange { world in
                    for case let peer as ContractPeer in world.devices {
                        peer.inReach = cause == .peerReturns
                    }
                }
            case .centralLeaves:
                await fake.arrange { world in
                    for case let visitor as ContractVisitor in world.visitors {
                        visitor.isLooking = false
                    }
                }
                await fake.cause(.centralLeaves(adapter: "hci0"))
            }
        }
        await bus.close()
        return lines
    }
}

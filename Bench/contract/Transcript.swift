import Base
import BlueZ
import Glibc
import HostScript
import RadioContract
import Simulation

/// Plays the script of a client's calls, and prints the transcript.
enum TranscriptOfHost {
    /// Plays it to the world that FakeBlueZ serves.
    static func served() async throws {
        for line in try await HostScript.playServed() { say(line) }
    }

    /// Plays it to the host's real BlueZ: the peer is on hci1, the central on hci2.
    static func real(_ address: BusAddress, _ air: Air) async throws {
        let loop = try EventLoop.start(name: "script")
        let bus = try await Connection.open(address, on: loop)
        guard let adapter = ObjectPath("/org/bluez/hci1") else { return }
        let values = try await bus.call(
            MethodCall(
                "Get",
                of: "org.freedesktop.DBus.Properties",
                at: adapter,
                on: "org.bluez",
                [.string("org.bluez.Adapter1"), .string("Address")]
            )
        )
        guard let peer = values.first?.unwrapped.asString else { return }
        let settings = HostScript.Settings(peer: peer)
        _ = try await HostScript.play(on: bus, settings, told: { say($0) }) { cause in
            await air.arrange { world in
                for case let peer as ContractPeer in world.devices {
                    if cause == .peerLeaves { peer.inReach = false }
                    if cause == .peerReturns { peer.inReach = true }
                }
                for case let visitor as ContractVisitor in world.visitors {
                    guard cause == .centralLeaves else { continue }
                    visitor.isLooking = false
                    visitor.leave()
                }
            }
        }
        await bus.close()
    }
}

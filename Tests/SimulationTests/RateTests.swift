import Base
import Radio
import RadioContract
import Simulation
import Testing

/// The speed of a transfer in simulated air, which PHY, data length and interval limit.
@Suite struct RateTests {
    private struct Case: CustomTestStringConvertible, Sendable {
        let phy: PHY
        let dataLength: Int
        let mtu: Int
        let milliseconds: Double
        /// The published limit of one link, in bytes per second.
        let published: Double

        var testDescription: String {
            "\(phy.rawValue) \(dataLength) mtu \(mtu) \(milliseconds) ms"
        }
    }

    private static let cases = [
        Case(phy: .oneMegabit, dataLength: 27, mtu: 23, milliseconds: 30, published: 29_600),
        Case(phy: .twoMegabit, dataLength: 27, mtu: 23, milliseconds: 15, published: 40_300),
        Case(phy: .oneMegabit, dataLength: 251, mtu: 247, milliseconds: 50, published: 98_900),
        Case(phy: .twoMegabit, dataLength: 251, mtu: 247, milliseconds: 30, published: 175_000),
        Case(phy: .twoMegabit, dataLength: 251, mtu: 498, milliseconds: 15, published: 175_000),
        Case(phy: .twoMegabit, dataLength: 251, mtu: 247, milliseconds: 7.5, published: 175_000),
    ]

    @Test(arguments: cases)
    private func `commands fill the interval and never go beyond the air`(_ link: Case) throws {
        var parameters = LinkParameters()
        parameters.phy = link.phy
        parameters.dataLength = link.dataLength
        parameters.mtu = link.mtu
        parameters.interval = .microseconds(Int(link.milliseconds * 1_000))
        parameters.packetsPerInterval = 100
        let payload = link.mtu - 3
        let rate = try measure(parameters, payload: payload, packets: 1_200)
        #expect(rate <= link.published)
        #expect(rate <= parameters.ceiling(payload: payload) * 1.001)
        #expect(rate >= parameters.ceiling(payload: payload) * 0.9, "\(rate)")
    }

    @Test func `a central's packet limit holds whatever the air would carry`() throws {
        var parameters = LinkParameters()
        parameters.packetsPerInterval = 2
        let rate = try measure(parameters, payload: 244, packets: 600)
        #expect(rate <= 2 * 244 / 0.03 * 1.001)
        #expect(rate >= 2 * 244 / 0.03 * 0.9)
    }

    /// Bytes per second from the first queued packet to the last delivered one.
    private func measure(
        _ parameters: LinkParameters,
        payload: Int,
        packets: Int
    ) throws -> Double {
        let simulation = Simulation(seed: 1)
        let result = try simulation.run { () async -> Result<Double, any Error> in
            await simulation.air.addAdapter("hci0")
            await simulation.air.arrange { world in
                let peer = ContractPeer(world: world)
                peer.linkParameters = parameters
                world.add(peer)
            }
            let radio = SimulatedRadio(adapter: "hci0", air: simulation.air)
            let time = simulation.time
            func soon() -> Moment { time.now.advanced(by: .seconds(600)) }
            do {
                let heard = try await radio.withScan(ScanFilter()) { scan throws(RadioError) in
                    try await scan.next(before: soon())
                }
                let link = try await radio.connect(to: heard.peer, before: soon())
                let began = time.now
                let bytes = [UInt8](repeating: 7, count: payload)
                for _ in 0..<packets { try await link.send(bytes, to: ContractPeer.echo) }
                // A request is sent after all earlier commands, so its answer comes after all of
                // them.
                _ = try await link.read(ContractPeer.store, before: soon())
                let seconds = Double(began.duration(to: time.now).nanoseconds) / 1e9
                return .success(Double(packets * payload) / seconds)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}

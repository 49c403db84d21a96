import Base
import Radio
import RadioContract
import Simulation
import Testing

/// Links of one adapter, which has one radio.
@Suite struct TransceiverTests {
    /// Bytes per second of each of several links of one adapter that send at the same time.
    private func rates(
        _ parameters: LinkParameters,
        links: Int,
        packets: Int,
        steadyLinks: Int? = nil
    ) throws -> [Double?] {
        let simulation = Simulation(seed: 1)
        let (air, time) = (simulation.air, simulation.time)
        let end = time.now.advanced(by: .seconds(600))
        return try simulation.run { () async -> [Double?] in
            await air.addAdapter("hci0", steadyLinks: steadyLinks)
            await air.arrange { world in
                for number in 0..<links {
                    let peer = ContractPeer(world: world)
                    peer.address = "C0:00:00:00:00:0\(number)"
                    peer.linkParameters = parameters
                    world.add(peer)
                }
            }
            let radio = SimulatedRadio(adapter: "hci0", air: air)
            return await withTaskGroup(of: (Int, Double?).self) { group in
                for number in 0..<links {
                    group.addTask {
                        do throws(RadioError) {
                            let peer = Peer(handle: "C0:00:00:00:00:0\(number)")
                            let link = try await radio.connect(to: peer, before: end)
                            let began = time.now
                            let bytes = [UInt8](repeating: 7, count: 244)
                            for _ in 0..<packets {
                                try await link.send(bytes, to: ContractPeer.echo)
                            }
                            _ = try await link.read(ContractPeer.store, before: end)
                            let took = began.duration(to: time.now) / .seconds(1)
                            return (number, Double(packets * 244) / took)
                        } catch { return (number, nil) }
                    }
                }
                var rates = [Double?](repeating: nil, count: links)
                for await (number, rate) in group { rates[number] = rate }
                return rates
            }
        }
    }

    /// A link of these parameters fills all intervals.
    private var greedy: LinkParameters {
        var parameters = LinkParameters()
        parameters.packetsPerInterval = 100
        return parameters
    }

    @Test(arguments: [2, 3, 7])
    func `links that would each fill the air share it`(links: Int) throws {
        let alone = try #require(try rates(greedy, links: 1, packets: 4_000)[0])
        let shared = try rates(greedy, links: links, packets: 4_000).compactMap { $0 }
        #expect(shared.count == links)
        // All have sent the same when the slowest has.
        let slowest = try #require(shared.min())
        let all = slowest * Double(links)
        #expect(all <= alone * 1.05 && all >= alone * 0.8, "\(alone), \(shared)")
        #expect(shared.allSatisfy { $0 <= slowest * 2 }, "\(alone), \(shared)")
    }

    @Test func `links that leave the air idle do not slow each other`() throws {
        var parameters = LinkParameters()
        parameters.packetsPerInterval = 2
        let alone = try #require(try rates(parameters, links: 1, packets: 600)[0])
        let shared = try rates(parameters, links: 4, packets: 600).compactMap { $0 }
        #expect(shared.count == 4)
        for rate in shared { #expect(rate >= alone * 0.95, "\(alone), \(shared)") }
    }

    @Test func `an adapter that keeps up two links loses the third, and only that`() throws {
        let found = try rates(greedy, links: 3, packets: 12_000, steadyLinks: 2)
        #expect(found.count { $0 == nil } == 1, "\(found)")
    }
}

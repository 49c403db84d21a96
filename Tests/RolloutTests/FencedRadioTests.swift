import Base
import Families
import Radio
import Rollout
import Simulation
import Synchronization
import Testing

/// After the end of a right, not one more packet goes to the module, at any point of the work.
@Suite struct FencedRadioTests {
    private struct Seen: Sendable {
        var whole: RadioError?
        var over: [RadioError?] = []
        var exchanges: [Int] = []
    }

    @Test func `nobody touches a module after the end of the right to it`() throws {
        var plan = ESPPlan(serial: try #require(Serial("esp-0001")))
        plan.version = FirmwareVersion(2, 6)
        let device = plan
        let simulation = Simulation(seed: 3)
        let hasEnded = Mutex(false)
        let fence = LeaseFence(
            mustEnd: { false },
            hasEnded: { hasEnded.withLock { $0 } }
        )
        let seen = try simulation.run { () async -> Seen? in
            await simulation.air.addAdapter("hci0")
            await simulation.air.arrange { $0.add(device) }
            let radio = SimulatedRadio(adapter: "hci0", air: simulation.air)
            let central = FencedCentral(central: radio, fence: fence)
            func soon() -> Moment { simulation.time.now.advanced(by: .seconds(30)) }
            func exchanges() async -> Int {
                await simulation.air.arrange {
                    $0.modules(ESPModule.self).map(\.exchanges).reduce(0, +)
                }
            }
            do {
                let peer = try await central.withScan(ScanFilter()) { scan throws(RadioError) in
                    try await scan.next(before: soon()).peer
                }
                let link = try await central.connect(to: peer, .unbonded, before: soon())
                var seen = Seen()
                func fault(_ act: () async throws -> Void) async -> RadioError? {
                    do { try await act() } catch { return error as? RadioError }
                    return nil
                }
                let version = DeviceInformation.firmwareRevision
                seen.whole = await fault { _ = try await link.read(version, before: soon()) }
                seen.exchanges.append(await exchanges())
                hasEnded.withLock { $0 = true }
                let firmware = ESPNumbers.firmware
                seen.over = [
                    await fault { _ = try await link.read(version, before: soon()) },
                    await fault { try await link.write([1], to: firmware, before: soon()) },
                    await fault { try await link.send([1], to: firmware) },
                    await fault { _ = try await link.subscribe(to: firmware, before: soon()) },
                ]
                await link.disconnect()
                seen.over.append(
                    await fault { _ = try await central.connect(to: peer, before: soon()) }
                )
                seen.exchanges.append(await exchanges())
                return seen
            } catch { return nil }
        }
        let found = try #require(seen)
        #expect(found.whole == nil)
        #expect(found.over == Array(repeating: .cancelled, count: 5))
        #expect(found.exchanges.count == 2 && found.exchanges[0] > 0)
        #expect(found.exchanges[1] == found.exchanges[0])
    }
}

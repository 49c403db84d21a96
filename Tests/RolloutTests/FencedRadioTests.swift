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

    @Test func `a listener says nothing after the end of the right to a module`() async throws {
        let hasEnded = Mutex(false)
        let fence = LeaseFence(mustEnd: { false }, hasEnded: { hasEnded.withLock { $0 } })
        let module = Talkative()
        let central = FencedCentral(central: module, fence: fence)
        let moment = Moment(nanoseconds: 0)
        let link = try await central.connect(to: module.peer, .unbonded, before: moment)
        let values = try await link.subscribe(to: ESPNumbers.firmware, before: moment)
        let wasSaid = Mutex<[Bool]>([])
        for isOver in [false, true] {
            hasEnded.withLock { $0 = isOver }
            try await values.next(before: moment) { value, say in
                wasSaid.withLock { $0.append(say(value)) }
                return false
            }
        }
        #expect(wasSaid.withLock { $0 } == [true, false])
        #expect(module.packets.withLock { $0 } == 1)
    }
}

/// A module that notifies whenever somebody listens, over a radio that says answers at once.
private final class Talkative: Central, Link, Subscription {
    let packets = Mutex(0)

    var adapter: String { "hci0" }
    var peer: Peer { Peer(handle: "C0:00:00:00:00:03") }
    var maximumLength: Int { 20 }

    func withScan<R: Sendable>(
        _ filter: ScanFilter,
        _ body: (any Scan) async throws(RadioError) -> R
    ) async throws(RadioError) -> R { throw .timedOut }

    func connect(
        to peer: Peer,
        _ policy: BondPolicy,
        before deadline: Moment
    ) async throws(RadioError) -> any Link { self }

    func forget(_ peer: Peer) async {}

    func flags(of characteristic: Characteristic) -> CharacteristicFlags? { .notify }

    func read(
        _ characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) -> [UInt8] { [] }

    func write(
        _ bytes: [UInt8],
        to characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) {}

    func send(_ bytes: [UInt8], to characteristic: Characteristic) async throws(RadioError) {}

    func subscribe(
        to characteristic: Characteristic,
        before deadline: Moment
    ) async throws(RadioError) -> any Subscription { self }

    func disconnect() async {}

    func next(before deadline: Moment) async throws(RadioError) -> [UInt8] { [1] }

    func next(
        before deadline: Moment,
        _ listener: @escaping Listener
    ) async throws(RadioError) {
        _ = listener([1]) { _ in
            packets.withLock { $0 += 1 }
            return true
        }
    }
}

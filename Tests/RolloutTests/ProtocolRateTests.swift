import Base
import Families
import Foundation
import Radio
import Rollout
import Show
import Simulation
import Store
import Synchronization
import Testing

/// The speed of protocols that acknowledge while they send, compared with each one's bound.
@Suite struct ProtocolRateTests {
    struct Case: Sendable, CustomTestStringConvertible {
        enum Kind: String, CaseIterable, Sendable {
            case esp = "ESP, write commands"
            case espAcknowledged = "ESP, write requests"
            case legacy = "legacy DFU"
        }

        let kind: Kind
        let interval: Duration
        let mtu: Int

        var testDescription: String { "\(kind.rawValue), \(interval.brief), mtu \(mtu)" }

        var parameters: LinkParameters {
            var parameters = LinkParameters()
            parameters.interval = interval
            parameters.mtu = mtu
            return parameters
        }

        var bytes: Int { kind == .legacy ? 40_000 : 200_000 }

        /// The bound in image bytes per second.
        ///
        /// Packets of one connection event are answered in the next, and the following packets go
        /// in the event after it: sectors of 4 KiB and receipts of ten packets wait for their
        /// answer, and so does each write request.
        var bound: Double {
            let link = parameters
            let bytes: Int
            let events: Int
            switch kind {
            case .legacy:
                let perEvent = link.packetsPerEvent(payload: LegacyNumbers.packetLength)
                (bytes, events) = (
                    10 * LegacyNumbers.packetLength, (10 + perEvent - 1) / perEvent + 1
                )
            case .esp, .espAcknowledged:
                let sector = [UInt8](repeating: 0, count: ESPNumbers.sectorLength)
                let packets = ESPPackets.packets(
                    sector: 0,
                    sector[...],
                    maximumLength: min(mtu - 3, 512)
                )
                let perEvent = link.packetsPerEvent(payload: packets[0].count)
                bytes = sector.count
                events =
                    kind == .esp
                    ? (packets.count + perEvent - 1) / perEvent + 1 : 2 * packets.count
            }
            return Double(bytes) / (Double(events) * Double(interval.nanoseconds) / 1e9)
        }
    }

    static let cases =
        [7_500, 15_000, 30_000, 50_000].flatMap { microseconds -> [Case] in
            let interval = Duration.microseconds(microseconds)
            return [23, 185, 247, 498].map { Case(kind: .esp, interval: interval, mtu: $0) }
                + [Case(kind: .espAcknowledged, interval: interval, mtu: 247)]
                + [Case(kind: .legacy, interval: interval, mtu: 247)]
        }

    @Test(arguments: cases)
    func `nineteen twentieths of what the protocol leaves room for are used`(one: Case) throws {
        let rate = try measure(one)
        #expect(rate >= 0.95 * one.bound, "\(Int(rate)) of \(Int(one.bound)) bytes a second")
    }

    /// The table of the benchmarks, written to the file that `YARDMASTER_PROTOCOL_RATES` names.
    @Test(.enabled(if: file != nil, "needs YARDMASTER_PROTOCOL_RATES"))
    func `the rates are written down`() throws {
        var rows = [
            "| protocol | interval | MTU | bytes a second | of the bound |",
            "|---|---|---|---|---|",
        ]
        for one in Self.cases {
            let rate = try measure(one)
            let share = Int((rate / one.bound * 100).rounded())
            let interval = "\(Double(one.interval.nanoseconds) / 1e6) ms"
            let name = one.kind.rawValue
            rows.append("| \(name) | \(interval) | \(one.mtu) | \(Int(rate)) | \(share) % |")
        }
        try Data((rows.joined(separator: "\n") + "\n").utf8)
            .write(to: URL(filePath: try #require(Self.file)))
    }

    private static let file = ProcessInfo.processInfo.environment["YARDMASTER_PROTOCOL_RATES"]

    private static func job(_ one: Case) throws -> UpdateJob {
        var random = SplitMix64(seed: 1)
        let firmware = (0..<one.bytes).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        let packet = LegacyInitPacket(
            deviceType: 0x52,
            version: FirmwareVersion(4, 12).packed,
            proof: .crc(LegacyInitPacket.checksum(of: firmware))
        )
        return UpdateJob(
            name: "new",
            digest: SHA256.digest(of: [1]),
            version: FirmwareVersion(4, 12),
            family: one.kind == .legacy ? .nordic : .esp,
            type: nil,
            variant: nil,
            allowsDowngrade: false,
            parts: [
                one.kind == .legacy
                    ? FirmwarePart(
                        initPacket: packet.bytes,
                        firmware: firmware,
                        image: Int(LegacyImageType.application.rawValue)
                    ) : FirmwarePart(firmware: firmware)
            ]
        )
    }

    /// Image bytes per second on one link, from the first acknowledgement to the last.
    private func measure(_ one: Case) throws -> Double {
        let simulation = Simulation(seed: 1)
        let serial = try #require(Serial("tag-0001"))
        let vehicle = try #require(VehicleID("v1"))
        let rules = RolloutRules(settle: try #require(SettleRules()))
        let job = try Self.job(one)
        let name = one.kind == .legacy ? "legacy" : Profile.generic
        let profile = try #require(ProfileLibrary.shipped.profile(name, of: job.family))
        let marks = Mutex<[(Moment, Int)]>([])
        let result = try simulation.run { () async -> Result<Void, any Error> in
            do {
                await simulation.air.addAdapter("hci0")
                await simulation.air.arrange { world in
                    if one.kind == .legacy {
                        var plan = NordicPlan(serial: serial)
                        plan.bootloader = .legacy
                        plan.link = one.parameters
                        plan.eraseTime = .zero
                        world.add(plan)
                    } else {
                        var plan = ESPPlan(serial: serial)
                        plan.server = one.kind == .esp ? .raw : .nimble
                        plan.link = one.parameters
                        plan.eraseTime = .zero
                        world.add(plan)
                    }
                }
                let journal = try await Journal.inMemory(executor: simulation.worldLane)
                let run = try await journal.beginRun(
                    rollout: "test",
                    plan: SHA256.digest(of: []),
                    at: simulation.time.wallTime
                )
                let time = simulation.time
                let depot = Depot(
                    rollout: "test",
                    run: run,
                    air: SoleAirtime(SimulatedRadio(adapter: "hci0", air: simulation.air)),
                    time: time,
                    journal: journal,
                    events: EventStream(run: run, time: time) { event in
                        guard case .progress(_, let progress) = event.body else { return }
                        marks.withLock { $0.append((time.now, progress.acknowledged.bytes)) }
                    },
                    stop: StopSignal(),
                    rules: rules
                )
                let driver: any UpdateDriver =
                    one.kind == .legacy
                    ? NordicUpdate(profile: profile) : ESPUpdate(profile: profile)
                _ = try await RolloutRun(
                    [
                        VehicleJob(
                            vehicle: vehicle,
                            serial: serial,
                            driver: driver,
                            steps: [.update(job)]
                        )
                    ],
                    in: depot
                ).run()
                return .success(())
            } catch { return .failure(error) }
        }
        try result.get()
        // Only the first transfer of the image is measured.
        let list = marks.withLock { $0 }
        let first = try #require(list.first { $0.1 > 0 })
        let last = try #require(list.first { $0.1 == one.bytes })
        let seconds = Double(first.0.duration(to: last.0).nanoseconds) / 1e9
        return Double(last.1 - first.1) / seconds
    }
}

import Base
import Families
import Foundation
import Rollout
import Show
import Simulation
import Store
import Testing

/// The speed of an image's transfer, compared with the bound of link and protocol.
@Suite struct TransferRateTests {
    struct Link: Sendable, CustomTestStringConvertible {
        let interval: Duration
        let mtu: Int
        var testDescription: String { "\(interval.brief) mtu \(mtu)" }
    }

    static let links = [7_500, 15_000, 30_000, 50_000].flatMap { microseconds in
        [23, 185, 247, 498].map { Link(interval: .microseconds(microseconds), mtu: $0) }
    }

    @Test(arguments: links)
    func `nineteen twentieths of what the protocol leaves room for are used`(link: Link) throws {
        let (reached, module) = try measure(link)
        let bound = Self.bound(module.link)
        #expect(reached >= 0.95 * bound, "\(Int(reached)) of \(Int(bound)) bytes a second")
        let payload = max(4, min(link.mtu - 3, 512) / 4 * 4)
        #expect(reached <= module.link.ceiling(payload: payload), "faster than the air")
    }

    /// The table of the benchmarks, written to the file that `YARDMASTER_DFU_RATES` names.
    @Test(.enabled(if: file != nil, "needs YARDMASTER_DFU_RATES"))
    func `the rates are written down`() throws {
        var rows = [
            "| interval | MTU | bytes a second | of the bound |", "|---|---|---|---|",
        ]
        for link in Self.links {
            let (rate, module) = try measure(link)
            let share = Int((rate / Self.bound(module.link) * 100).rounded())
            let milliseconds = Double(link.interval.nanoseconds) / 1e6
            rows.append("| \(milliseconds) ms | \(link.mtu) | \(Int(rate)) | \(share) % |")
        }
        try Data((rows.joined(separator: "\n") + "\n").utf8)
            .write(to: URL(filePath: try #require(Self.file)))
    }

    private static let file = ProcessInfo.processInfo.environment["YARDMASTER_DFU_RATES"]

    /// Image bytes per second of a whole update, from its last progress.
    private func measure(_ link: Link) throws -> (Double, ModulePlan) {
        let module = DepotBench.module(1) {
            $0.link.interval = link.interval
            $0.link.mtu = link.mtu
            $0.eraseTime = .zero
        }
        let bench = DepotBench(seed: 1, [module])
        let report = try bench.run([.update(DepotBench.image(bytes: 64 << 10))])
        #expect(report.result.counts == [.succeeded: 1])
        var rate: Double?
        for event in bench.events {
            if case .progress(_, let progress) = event.body { rate = progress.rate ?? rate }
        }
        return (try #require(rate), module)
    }

    @Test(arguments: [Duration.milliseconds(85), .seconds(2)])
    func `the first time left of a transfer is right to a fifth`(erase: Duration) throws {
        let module = DepotBench.module(1) { $0.eraseTime = erase }
        let bench = DepotBench(seed: 1, [module])
        #expect(
            try bench.run([.update(DepotBench.image(bytes: 256 << 10))]).result.counts
                == [.succeeded: 1]
        )
        var first: (left: Duration, at: WallTime)?
        var end: WallTime?
        for event in bench.events {
            guard case .progress(_, let progress) = event.body else { continue }
            if first == nil, let left = progress.remaining { first = (left, event.time) }
            end = event.time
        }
        let told = try #require(first)
        let took = told.at.duration(to: try #require(end))
        let ratio = Double(told.left.nanoseconds) / Double(took.nanoseconds)
        #expect((0.8...1.25).contains(ratio), "\(told.left.brief) left, and it took \(took.brief)")
    }

    /// The bound in bytes per second.
    ///
    /// Each page of 4 KiB takes its packets and three requests: create, checksum and execute. A
    /// request goes in one connection event, and its answer arrives in the next.
    static func bound(_ link: LinkParameters) -> Double {
        let payload = max(4, min(link.mtu - 3, 512) / 4 * 4)
        let packets = (4_096 + payload - 1) / payload
        let perEvent = link.packetsPerEvent(payload: payload)
        let events = (packets + perEvent - 1) / perEvent + 2 * 3
        return 4_096 / (Double(events) * Double(link.interval.nanoseconds) / 1e9)
    }
}

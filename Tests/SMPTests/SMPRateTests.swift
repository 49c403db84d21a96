import Base
import Families
import Foundation
import Images
import Radio
import Samples
import Simulation
import Testing

/// The speed of an upload over SMP, compared with the bound by window, message size and interval.
@Suite struct SMPRateTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let milliseconds: Double
        let mtu: Int
        let bufferSize: Int
        let bufferCount: Int

        var testDescription: String {
            "\(milliseconds) ms, mtu \(mtu), \(bufferCount) buffers of \(bufferSize)"
        }

        var parameters: LinkParameters {
            var parameters = LinkParameters()
            parameters.interval = .microseconds(Int(milliseconds * 1_000))
            parameters.mtu = mtu
            parameters.packetsPerInterval = 100
            return parameters
        }

        /// The bound of the link in image bytes per second.
        ///
        /// The number of messages in flight is the number of buffers, less one. A message that is
        /// complete after one connection event is answered in the next; the messages for which the
        /// answer makes room are sent in the one after it. No event carries more than its interval,
        /// which includes the time of the answers.
        var bound: Double {
            let parameters = parameters
            let payload = min(mtu - 3, 512)
            let pieces = stride(from: 0, to: bufferSize, by: payload).map {
                parameters.airTime(attBytes: min(payload, bufferSize - $0) + 3)
            }
            // Eight bytes of header, and a map with an offset of four bytes.
            let answer = parameters.airTime(attBytes: 8 + 11 + 3)
            let events = 4_000
            var free = bufferCount - 1
            var (arrived, whole) = (0, 0)
            var queue: ArraySlice<Duration> = []
            var ends: ArraySlice<Int> = []
            for event in 0..<events {
                var left = parameters.interval - answer * (event == 0 ? 0 : free)
                // Room from the answers of the previous event.
                for _ in 0..<free {
                    queue += pieces
                    ends.append(queue.endIndex)
                }
                free = arrived
                arrived = 0
                while let next = queue.first, next <= left {
                    left -= next
                    queue = queue.dropFirst()
                    guard ends.first == queue.startIndex else { continue }
                    ends = ends.dropFirst()
                    arrived += 1
                    whole += 1
                }
            }
            let data = SMPChunk.room(frameLength: bufferSize, offset: 100_000)
            return Double(data * whole) / (Double(events) * milliseconds / 1_000)
        }
    }

    static let cases = [7.5, 15, 30, 50].flatMap { interval in
        [23, 185, 247, 498].flatMap { mtu in
            [(384, 4), (2_475, 4)].map {
                Case(milliseconds: interval, mtu: mtu, bufferSize: $0.0, bufferCount: $0.1)
            }
        }
    }

    @Test(arguments: cases)
    func `an upload gets nineteen twentieths of what its link allows`(link: Case) throws {
        let rate = try measure(link)
        let share = rate / link.bound
        #expect(share >= 0.95, "\(Int(rate)) of \(Int(link.bound)) bytes a second")
        #expect(share <= 1.02, "the bound is one: \(Int(rate)) of \(Int(link.bound))")
    }

    /// The table of the benchmarks, written to the file that `YARDMASTER_RATES` names.
    @Test(.enabled(if: rates != nil, "needs YARDMASTER_RATES"))
    func `the rates are written down`() throws {
        var rows = [
            "| interval | MTU | message | bytes a second | of the bound |", "|---|---|---|---|---|",
        ]
        for link in Self.cases {
            let rate = try measure(link)
            let share = Int((rate / link.bound * 100).rounded())
            rows.append(
                "| \(link.milliseconds) ms | \(link.mtu) | \(link.bufferSize) | \(Int(rate)) | \(share) % |"
            )
        }
        try Data((rows.joined(separator: "\n") + "\n").utf8)
            .write(to: URL(filePath: try #require(Self.rates)))
    }

    private static let rates = ProcessInfo.processInfo.environment["YARDMASTER_RATES"]

    /// Image bytes per second from the first piece to the last answer.
    private func measure(_ link: Case) throws -> Double {
        let simulation = Simulation(seed: 1)
        let file = try MCUbootFile.sample(size: 400_000)
        let result = try simulation.run { () async -> Result<Double, RadioError> in
            await simulation.air.addAdapter("hci0")
            guard let serial = Serial("ym-0001") else { return .failure(.timedOut) }
            await simulation.air.arrange { world in
                var plan = SMPModulePlan(serial: serial)
                plan.link = link.parameters
                plan.rules.bufferSize = link.bufferSize
                plan.rules.bufferCount = link.bufferCount
                plan.eraseTime = .zero
                world.add(plan)
            }
            let radio = SimulatedRadio(adapter: "hci0", air: simulation.air)
            let time = simulation.time
            func soon() -> Moment { time.now.advanced(by: .seconds(600)) }
            do throws(RadioError) {
                let filter = SMPModuleUpdate().recogniser.filter(for: serial)
                let heard = try await radio.withScan(filter) {
                    scan throws(RadioError) in
                    try await scan.next(before: soon())
                }
                let made = try await radio.connect(to: heard.peer, before: soon())
                let client = SMPClient(link: made, time: time)
                guard case .success(let found) = try await client.survey(),
                    let settings = SMPSettings(
                        parameters: found.parameters,
                        reassembles: found.reassembles,
                        maximumLength: client.maximumLength
                    )
                else { return .failure(.timedOut) }
                let began = time.now
                let (ending, _) = try await client.upload(
                    file.bytes,
                    sha: file.digest.bytes,
                    settings: settings,
                    unless: { false },
                    progress: { _ in }
                )
                guard ending == .finished(matches: true) else { return .failure(.linkLost) }
                let seconds = Double(began.duration(to: time.now).nanoseconds) / 1e9
                return .success(Double(file.bytes.count) / seconds)
            } catch { return .failure(error) }
        }
        return try result.get()
    }
}

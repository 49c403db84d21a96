import Base
import Families
import Foundation
import Testing

/// Random and mutated bytes into every parser and into running sessions.
///
/// `YARDMASTER_INPUTS` sets their number: 1,000,000 takes minutes.
@Suite struct RandomInputTests {
    private static let count =
        ProcessInfo.processInfo.environment["YARDMASTER_INPUTS"].flatMap { Int($0) } ?? 4_000

    /// Random bytes, or the bytes of a seed with a few of them changed, cut off or doubled.
    private func input(_ random: inout SplitMix64, _ seeds: [[UInt8]]) -> [UInt8] {
        var bytes: [UInt8]
        if seeds.isEmpty || random.chance(0.2) {
            bytes = (0..<random.below(80)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        } else {
            bytes = seeds[random.below(seeds.count)]
        }
        for _ in 0..<random.below(4) where !bytes.isEmpty {
            let index = random.below(bytes.count)
            switch random.below(4) {
            case 0: bytes[index] = UInt8(truncatingIfNeeded: random.next())
            case 1: bytes[index] ^= 1 << UInt8(random.below(8))
            case 2: bytes.removeSubrange(index...)
            default: bytes.insert(contentsOf: bytes[index...].prefix(8), at: index)
            }
        }
        return bytes
    }

    /// Resident memory in KiB.
    private func memory() -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4
    }

    @Test func `no parser traps, and what is read is written back`() {
        var random = SplitMix64(seed: 1)
        let seeds = FrameVector.all.map(\.bytes) + FrameVector.all.map(\.body)
        var assembler = AddOnAssembler()
        var read = 0
        for _ in 0..<Self.count {
            let bytes = input(&random, seeds)
            if let frame = try? AddOnFrame(bytes, sums: .strict) {
                #expect(frame.bytes == bytes)
                read += 1
            }
            if let message = try? CarShareDeviceMessage(bytes, signatureLength: 4) {
                #expect(message.bytes == bytes)
            }
            if let report = try? CarShareReport(message: bytes) {
                #expect(report.statuses.allSatisfy { !$0.description.isEmpty })
            }
            _ = try? CarShareChallenge(message: bytes)
            _ = try? CarShareAcknowledgement(message: bytes)
            _ = try? CarShareCommands.bits(of: bytes)
            _ = assembler.take(bytes)
        }
        #expect(read > Self.count / 20)
    }

    @Test func `no token traps, and each is read or refused`() throws {
        var random = SplitMix64(seed: 2)
        let text = try CarShareBench.token().withBytes { $0 }
        let message = try #require(Base64.bytes(text))
        var read = 0
        for _ in 0..<Self.count {
            let isText = random.chance(0.3)
            let bytes = input(&random, [isText ? text : message])
            let secret = Secret(isText ? bytes : Array(Base64.text(bytes).utf8))
            guard let token = try? CarShareToken(text: secret) else { continue }
            read += 1
            for fault in CarShareCredentials.faults(of: token) {
                #expect(!fault.description.isEmpty)
            }
            _ = token.faults(at: CarShareBench.start)
        }
        #expect(read > Self.count / 20)
    }

    @Test func `a session takes anything, ends each command once, and does not grow`() {
        var random = SplitMix64(seed: 3)
        let challenge = [1, 1, 0] + [UInt8](repeating: 0xC7, count: 32)
        let bodies: [[UInt8]] = [challenge, [0x81, 0], [0x81, 7], [0x0A, 2, 8, 1], []]
        let frames =
            bodies.compactMap { try? AddOnFrame(.messageToHost, $0) } + [
                .handshakeRequest, .acknowledgement, .reply(accepted: true),
                .reply(accepted: false),
            ]
        let seeds = frames.map(\.bytes)
        var ends: [String: Int] = [:]
        var settled = 0
        var taken = 0
        while taken < Self.count {
            if taken * 4 > Self.count, settled == 0 { settled = memory() }
            var now = Moment(nanoseconds: 0)
            var session = CarShareSession { commands, _ in CarShareMessage.secure(commands.bytes) }
            var begun = 0
            var finished = 0
            var notifies = 0
            func take(_ actions: [CarShareSession.Action]) {
                for action in actions {
                    switch action {
                    case .notify: notifies += 1
                    case .finished(let result):
                        finished += 1
                        let word =
                            switch result {
                            case .success: "success"
                            case .failure(let failure): failure.fate.rawValue
                            }
                        ends[word, default: 0] += 1
                    case .opened, .note, .closed: break
                    }
                }
            }
            take(session.socketOpened(maximumLength: 20, at: now))
            // The frames of a correct vehicle, with random bytes and delays in between.
            let script = [5, 6, 7, 0, 7, 1, 3]
            var step = 0
            for _ in 0..<40 {
                while notifies > 0 {
                    notifies -= 1
                    take(session.pieceSent(at: now))
                }
                if session.transport.state == .connected, !session.exchange.isUnderWay {
                    begun += 1
                    take(session.begin(CarShareCommands(.lock), at: now))
                    continue
                }
                taken += 1
                if random.chance(0.85), step < script.count {
                    take(session.received(frames[script[step]].bytes, at: now))
                    step += 1
                    if step == script.count { step = 2 }
                } else if random.chance(0.2) {
                    now = now.advanced(by: .milliseconds(random.below(20_000)))
                    take(session.timeout(at: now))
                } else {
                    take(session.received(input(&random, seeds), at: now))
                }
            }
            while let deadline = session.deadline {
                notifies = 0
                now = max(now, deadline)
                take(session.pieceSent(at: now))
                take(session.timeout(at: now))
            }
            #expect(begun == finished)
            #expect(!session.exchange.isUnderWay)
        }
        #expect(
            ends.keys.sorted() == ["in-doubt", "not-sent", "refused", "success"]
                || ends.keys.sorted() == ["failed", "in-doubt", "not-sent", "refused", "success"]
        )
        // Other tests run at the same time and use memory, too: only a long separate run can judge
        // this.
        guard Self.count >= 1_000_000 else { return }
        #expect(memory() - settled < 16_384, "it grew from \(settled) KiB to \(memory()) KiB")
    }
}

import Base
import Families
import Testing

/// Requests and replies, as transcripts.
@Suite struct LRRequestsTests {
    private func at(_ seconds: Int) -> Moment {
        Moment(nanoseconds: Int64(seconds) * 1_000_000_000)
    }

    private func reply(_ command: LRCommand, _ payload: [UInt8] = []) throws -> LRMessage {
        try #require(LRMessage(.reply, command, payload: payload))
    }

    @Test func `a reply completes its request once`() throws {
        var requests = LRRequests()
        let ticket = try requests.begin(.getName, at: at(0))
        let answer = try reply(.getName, [0x61])
        #expect(requests.deadline == at(10))
        #expect(requests.received(answer.bytes) == .completed(ticket, answer))
        #expect(requests.received(answer.bytes) == .ignored(.unasked(.getName)))
        #expect(requests.deadline == nil)
        #expect(requests.timeout(at: at(60)) == [])
    }

    @Test func `replies find their requests by command in any order`() throws {
        var requests = LRRequests()
        let first = try requests.begin(.getName, at: at(0))
        let second = try requests.begin(.getLockState, at: at(0))
        let (name, state) = (try reply(.getName), try reply(.getLockState, [1]))
        #expect(requests.received(state.bytes) == .completed(second, state))
        #expect(requests.received(name.bytes) == .completed(first, name))
    }

    @Test func `a second request of a command waits for the first`() throws {
        var requests = LRRequests()
        _ = try requests.begin(.getName, at: at(0))
        #expect(throws: LRRequestError.busy(.getName)) {
            try requests.begin(.getName, at: at(1))
        }
    }

    @Test func `a late reply is never taken for a newer request's`() throws {
        var requests = LRRequests()
        let ticket = try requests.begin(.setLockState, at: at(0))
        #expect(requests.timeout(at: at(9)) == [])
        #expect(requests.timeout(at: at(10)) == [ticket])
        #expect(throws: LRRequestError.unsettled(.setLockState)) {
            try requests.begin(.setLockState, at: at(11))
        }
        let late = try reply(.setLockState, [1])
        #expect(requests.received(late.bytes) == .ignored(.unasked(.setLockState)))
        // Other commands are not affected.
        _ = try requests.begin(.getLockState, at: at(12))
    }

    @Test func `an answer of another kind fails its request once`() throws {
        var requests = LRRequests()
        let ticket = try requests.begin(.getName, at: at(0))
        let wrong = try #require(LRMessage(.request, .getName))
        #expect(requests.received(wrong.bytes) == .failed(ticket, .wrongKind(.getName)))
        #expect(requests.received(wrong.bytes) == .ignored(.unasked(.getName)))
    }

    @Test func `bytes that are no message touch no request`() throws {
        var requests = LRRequests()
        let ticket = try requests.begin(.getName, at: at(0))
        #expect(
            requests.received([0xFF, 0xFF]) == .ignored(.unreadable(.tooShort(2)))
        )
        let answer = try reply(.getName)
        #expect(requests.received(answer.bytes) == .completed(ticket, answer))
    }

    @Test func `a notification is no answer`() throws {
        var requests = LRRequests()
        _ = try requests.begin(.networkUpdateAsked, at: at(0))
        let told = try #require(LRMessage(.notification, .networkUpdate, payload: [0x61]))
        #expect(requests.received(told.bytes) == .notified(told))
        #expect(requests.deadline != nil)
    }

    @Test func `the end of the link ends every request, and no new one begins`() throws {
        var requests = LRRequests()
        let first = try requests.begin(.getName, at: at(0))
        let second = try requests.begin(.getLockState, at: at(1))
        #expect(requests.linkLost() == [first, second])
        #expect(requests.linkLost() == [])
        #expect(throws: LRRequestError.linkLost) { try requests.begin(.getName, at: at(2)) }
    }

    @Test func `a million random events complete each request at most once`() throws {
        var random = SplitMix64(seed: 11)
        var requests = LRRequests()
        let commands: [LRCommand] = [.getName, .setName, .getLockState, .setLockState, .reset]
        var open: Set<LRRequests.Ticket> = []
        var now = 0
        for _ in 0..<1_000_000 {
            let command = commands[random.below(commands.count)]
            switch random.below(4) {
            case 0:
                if let ticket = try? requests.begin(command, at: at(now)) {
                    #expect(open.insert(ticket).inserted)
                }
            case 1:
                now += random.below(3)
                for ticket in requests.timeout(at: at(now)) {
                    #expect(open.remove(ticket) != nil)
                }
                if random.below(50) == 0 { (requests, open) = (LRRequests(), []) }
            default:
                var bytes = LRMessage(.reply, command)?.bytes ?? []
                if random.below(5) == 0 {
                    bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next())
                }
                switch requests.received(bytes) {
                case .completed(let ticket, _), .failed(let ticket, _):
                    if open.remove(ticket) == nil { Issue.record("answered twice") }
                case .notified, .ignored: break
                }
            }
        }
        #expect(open.count <= commands.count)
    }
}

extension LRCommand {
    fileprivate static let networkUpdateAsked = Self.startNetworkListen
}

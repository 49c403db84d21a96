import Base
import Servers
import Testing

/// Conversations with a server about one controller, step by step.
@Suite struct ControllerTests {
    private static func base(_ links: String = "") -> ServerAnswer {
        .success(#"{"config":{"polling":{"sleep":"00:05:00"}},"_links":{\#(links)}}"#.bytes)
    }

    private static func link(_ name: String, _ id: String = "") -> String {
        #""\#(name)":{"href":"https://updates.example/c/\#(name)\#(id.isEmpty ? "" : "/" + id)"}"#
    }

    private static let action = ActionID("5")
    private static let done = ControllerMachine.Action.finish(.done(next: .seconds(300)))

    private func machine(_ due: [ServerWord] = []) throws -> ControllerMachine {
        var machine = ControllerMachine(at: try WebAuthority("updates.example"), due: due)
        #expect(machine.begin() == .poll)
        return machine
    }

    private func verdict(wasSent: Bool = false) throws -> ServerWord {
        ServerWord(
            Feedback(.closed, .success, "proven"),
            of: try #require(Self.action),
            number: 1,
            isLast: true,
            wasSent: wasSent
        )
    }

    private static let deployment =
        #"{"id":"5","deployment":{"download":"forced","update":"forced","chunks":[]}}"#.bytes

    @Test func `without an action everything here ends`() throws {
        var machine = try machine()
        #expect(machine.polled(Self.base()) == .drop)
        #expect(machine.dropped() == Self.done)
    }

    @Test func `attributes come before new work, and a report after it`() throws {
        var machine = try machine()
        let links = [Self.link("configData"), Self.link("deploymentBase", "5")]
        let id = try #require(Self.action)
        #expect(machine.polled(Self.base(links.joined(separator: ","))) == .describe)
        #expect(machine.described(.success([])) == .read(id))
        let deployment = try Deployment(Self.deployment, of: id)
        #expect(machine.read(.success(Self.deployment)) == .take(id, deployment))
        let report = ServerWord(Feedback(.proceeding, .none, "waits"), of: id, number: 1)
        #expect(machine.taken(report) == .tell(report))
        #expect(machine.told(.success([])) == Self.done)
    }

    @Test func `a controller that the server has just got to know is polled once more`() throws {
        var machine = try machine()
        #expect(machine.polled(Self.base(Self.link("configData"))) == .describe)
        #expect(machine.described(.success([])) == .poll)
        #expect(machine.polled(Self.base(Self.link("configData"))) == .drop)
    }

    @Test func `of actions that the server does not offer it is asked, but not of all`() throws {
        let open = try (1...40).map { try #require(ActionID("\($0)")) }
        var machine = ControllerMachine(
            at: try WebAuthority("updates.example"),
            due: [],
            open: open
        )
        #expect(machine.begin() == .poll)
        var action = machine.polled(Self.base(Self.link("deploymentBase", "5")))
        var asked: [ActionID] = []
        while case .look(let id) = action {
            asked.append(id)
            action = machine.looked(id == open[1] ? .absent : .success([]))
            if case .forget(let gone) = action {
                #expect(gone == open[1])
                action = machine.forgotten()
            }
        }
        #expect(asked == Array(open.filter { $0 != Self.action }.prefix(16)))
        #expect(action == .read(try #require(Self.action)))
        #expect(machine.read(.failure("busy")) == .finish(.failed("busy")))
    }

    @Test func `a verdict is told first, and the action is not taken once more`() throws {
        let word = try verdict()
        var machine = try machine([word])
        #expect(machine.polled(Self.base(Self.link("deploymentBase", "5"))) == .tell(word))
        #expect(machine.told(.success([])) == .settle(word))
        #expect(machine.settled() == Self.done)
    }

    @Test func `a verdict whose answer was lost is not told again when the action is closed`()
        throws
    {
        let word = try verdict(wasSent: true)
        var machine = try machine([word])
        #expect(machine.polled(Self.base()) == .settle(word))
        #expect(machine.settled() == .drop)
    }

    @Test func `a verdict whose answer was lost is told again while the action is open`() throws {
        let word = try verdict(wasSent: true)
        var machine = try machine([word])
        #expect(machine.polled(Self.base(Self.link("deploymentBase", "5"))) == .tell(word))
        #expect(machine.told(.absent) == .settle(word))
    }

    @Test func `a verdict that does not arrive stays due`() throws {
        var machine = try machine([try verdict()])
        _ = machine.polled(Self.base(Self.link("deploymentBase", "5")))
        #expect(machine.told(.failure("too busy")) == .finish(.failed("too busy")))
    }

    @Test func `a wish to cancel is decided, answered, and not asked again`() throws {
        var machine = try machine()
        let id = try #require(Self.action)
        #expect(machine.polled(Self.base(Self.link("cancelAction", "5"))) == .readCancel(id))
        let order = #"{"cancelAction":{"stopId":"5"}}"#.bytes
        #expect(machine.readCancel(.success(order)) == .decide(id))
        let word = ServerWord(
            Feedback(.closed, .success, "nothing was sent"),
            of: id,
            number: 1,
            isAboutCancel: true,
            isLast: true
        )
        #expect(machine.decided(word) == .tell(word))
        #expect(machine.told(.success([])) == .settle(word))
        #expect(machine.settled() == Self.done)
    }

    @Test(arguments: [
        (ServerAnswer.absent, ControllerMachine.Ending.unknown),
        (.failure("no token"), .failed("no token")),
    ])
    func `a poll without an answer ends it`(
        answer: ServerAnswer,
        ending: ControllerMachine.Ending
    ) throws {
        var machine = try machine()
        #expect(machine.polled(answer) == .finish(ending))
    }

    @Test func `an answer about another action ends it`() throws {
        var machine = try machine()
        _ = machine.polled(Self.base(Self.link("deploymentBase", "6")))
        guard case .finish(.failed) = machine.read(.success(Self.deployment)) else {
            Issue.record("it was taken")
            return
        }
    }

    // MARK: The pace

    @Test func `two thousand polls fit into five minutes, without a burst`() {
        var pace = Pace(requestsPerSecond: 10, seed: 7)
        let start = Moment(nanoseconds: 0)
        var times = (0..<2_000).map { _ in pace.next(at: start) }
        #expect(times[1_999] < start.advanced(by: .seconds(221)))
        // The server sees no eleventh one within a second, even if the first of them is late by 90 ms.
        for (one, eleventh) in zip(times, times.dropFirst(10)) {
            #expect(one.duration(to: eleventh) >= .milliseconds(1_090))
        }
        for (one, next) in zip(times, times.dropFirst()) {
            #expect(one.duration(to: next) >= .milliseconds(100))
        }
        pace.rest(.seconds(60), from: times[1_999])
        times.append(pace.next(at: times[1_999]))
        #expect(times[1_999].duration(to: times[2_000]) >= .seconds(60))
    }

    @Test func `gateways that begin together do not ask together`() {
        let first = Set(
            (0..<20).map { seed in
                var pace = Pace(requestsPerSecond: 10, seed: UInt64(seed))
                return pace.next(at: Moment(nanoseconds: 0)).nanoseconds
            }
        )
        #expect(first.count == 20 && first.allSatisfy { $0 < 1_000_000_000 })
    }
}

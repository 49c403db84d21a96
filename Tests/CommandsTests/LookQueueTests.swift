import Foundation
import Operations
import Synchronization
import Testing
import Workbench

@testable import Rollout
@testable import Show
@testable import Site

/// Questions of pages about a fleet.
@Suite struct LookQueueTests {
    private final class Answer: Sendable {
        let value = Mutex<Int?>(nil)
        var found: Int? { value.withLock { $0 } }
    }

    /// Asks from a thread that may block, as the web servers' threads do.
    private func ask(
        _ queue: LookQueue,
        isLong: Bool,
        _ answer: @escaping @Sendable () async -> Int
    ) -> Answer {
        let found = Answer()
        Thread.detachNewThread {
            let value = try? queue.ask(isLong: isLong) { _ in await answer() }
            found.value.withLock { $0 = value }
        }
        return found
    }

    @Test func `a slow page of the morning keeps no other page waiting`() async throws {
        let context = Context(console: Console(try Outlet.open(name: "test"), isJournal: false))
        let journal = StandingJournal(state: "/nonexistent", flags: PlaceFlags())
        let queue = LookQueue(Standings(journal, fleet: nil, context))
        async let work: Void = queue.work()
        let (gate, opening) = AsyncStream<Void>.makeStream()
        let slow = ask(queue, isLong: true) {
            for await _ in gate { break }
            return 1
        }
        let next = ask(queue, isLong: false) { 2 }
        try wait(for: "the other page") { next.found == 2 }
        #expect(slow.found == nil)
        opening.yield()
        try wait(for: "the slow page") { slow.found == 1 }
        queue.finish()
        await work
    }
}

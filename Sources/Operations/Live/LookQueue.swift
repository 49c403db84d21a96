import Commands
import Domain
import Synchronization
import Threads

/// Carries questions about a fleet from the web servers' threads to the one task that asks its database.
///
/// When the database does not answer, the journal is asked instead for a while, so that pages do not wait.
package final class LookQueue: Sendable {
    private typealias Item = @Sendable () async -> Void

    /// How long a database that did not answer is left alone.
    private static let rest = Duration.seconds(15)

    private let items: AsyncStream<Item>
    private let source: AsyncStream<Item>.Continuation
    private let standings: Standings
    private let restsUntil = Mutex<Moment?>(nil)

    package init(_ standings: Standings) {
        self.standings = standings
        (items, source) = AsyncStream.makeStream()
    }

    /// The fleet's address.
    var address: String? { standings.fleet?.name }

    /// Waits for the answer; only for threads that may block, never those of Swift's pool.
    func ask<Value: Sendable>(
        _ look: @escaping @Sendable (Standings) async throws(CommandError) -> Value,
        isWhole: @escaping @Sendable (Value) -> Bool
    ) throws(CommandError) -> Value {
        let answer = Monitor<Result<Value, CommandError>?>(nil)
        let now = RealTime().now
        let isResting = restsUntil.withLock { $0.map { now < $0 } ?? false }
        let standings = isResting ? standings.resting : standings
        let item: Item = {
            let result: Result<Value, CommandError>
            do throws(CommandError) {
                result = .success(try await look(standings))
            } catch { result = .failure(error) }
            answer.change { $0 = result }
        }
        guard case .enqueued = source.yield(item) else {
            throw CommandError(.unavailable, "the pages are about to end")
        }
        let result = answer.wait { $0 }
        let isAway =
            switch result {
            case .success(let value): !isWhole(value)
            case .failure(let error): error.kind == .unavailable
            }
        if isAway, !isResting {
            restsUntil.withLock { $0 = RealTime().now.advanced(by: Self.rest) }
        }
        return try result.get()
    }

    /// Answers until `finish`, and after that what has been asked already.
    package func work() async {
        for await item in items { await item() }
    }

    package func finish() { source.finish() }
}

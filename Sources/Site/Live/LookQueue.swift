import Base
import Commands
import Operations
import Synchronization

/// Carries questions about a fleet from the web servers' threads to the tasks that ask its database.
///
/// When no server answers, the journal is asked instead for a while, so that pages do not wait. Pages
/// that read much, as the morning's, have a lane of their own: they take their turn among themselves
/// and never keep the others waiting.
package final class LookQueue: Sendable {
    private typealias Item = @Sendable () async -> Void

    /// How long a database that did not answer is left alone.
    private static let rest = Duration.seconds(15)

    /// One question after the other.
    private struct Lane: Sendable {
        let items: AsyncStream<Item>
        let source: AsyncStream<Item>.Continuation

        init() { (items, source) = AsyncStream.makeStream() }
    }

    private let (usual, long) = (Lane(), Lane())
    private let standings: Standings
    private let restsUntil = Mutex<Moment?>(nil)

    package init(_ standings: Standings) { self.standings = standings }

    /// The fleet's address.
    var address: String? { standings.fleet?.name }

    /// Waits for the answer; only for threads that may block, never those of Swift's pool.
    func ask<Value: Sendable>(
        isLong: Bool = false,
        _ look: @escaping @Sendable (Standings) async throws(CommandError) -> Value
    ) throws(CommandError) -> Value {
        let answer = Monitor<Result<Value, CommandError>?>(nil)
        let item: Item = { [self] in
            let standings = asked()
            let result: Result<Value, CommandError>
            do throws(CommandError) {
                result = .success(try await look(standings))
            } catch { result = .failure(error) }
            answer.change { $0 = result }
        }
        guard case .enqueued = (isLong ? long : usual).source.yield(item) else {
            throw CommandError(.unavailable, "the pages are about to end")
        }
        return try answer.wait { $0 }.get()
    }

    /// What is asked now: the journal alone while the database is left alone.
    private func asked() -> Standings {
        let now = RealTime().now
        guard !(restsUntil.withLock { $0.map { now < $0 } ?? false }) else {
            return standings.resting
        }
        var standings = standings
        // A statement that took too long is no silence: other pages are answered as before.
        standings.onSilence = { [self] in
            restsUntil.withLock { $0 = RealTime().now.advanced(by: Self.rest) }
        }
        return standings
    }

    /// Answers until `finish`, and after that what has been asked already.
    package func work() async {
        async let others: Void = Self.work(long)
        await Self.work(usual)
        await others
    }

    private static func work(_ lane: Lane) async { for await item in lane.items { await item() } }

    package func finish() { for lane in [usual, long] { lane.source.finish() } }
}

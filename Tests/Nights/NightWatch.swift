import Base
import Simulation
import Synchronization

/// The bounds of the runs of a life: a run that never ends is reported as a broken promise (T1), and
/// does not block the nights.
final class NightWatch: Sendable {
    private struct Turn {
        let name: String
        let began: Moment
        var statements = 0
    }

    private struct State {
        var turns: [Int: Turn] = [:]
        var next = 0
        var statements = 0
    }

    private let state = Mutex(State())

    /// Longer than any window stays closed and the work in it takes.
    static let longest = Duration.seconds(100 * 3_600)
    /// More statements than all gateways together send to the fleet's database while one run goes on: two
    /// in five seconds by each of five gateways, for all the time that it may take.
    static let mostStatements = 600_000
    /// Far more than run in any moment of a night.
    static let mostJobs = 1_000_000

    /// The bounds of the simulation of this life.
    var bounds: Simulation.Bounds {
        var bounds = Simulation.Bounds()
        bounds.jobs = Self.mostJobs
        bounds.passed = { [self] now in passed(at: now) }
        return bounds
    }

    /// A statement was sent to a database.
    func asks() { state.withLock { $0.statements += 1 } }

    func watching<R>(
        _ name: String,
        _ clock: NightClock,
        _ body: () async throws -> R
    ) async rethrows -> R {
        let number = state.withLock { state in
            defer { state.next += 1 }
            state.turns[state.next] = Turn(
                name: name,
                began: clock.now,
                statements: state.statements
            )
            return state.next
        }
        defer { _ = state.withLock { $0.turns.removeValue(forKey: number) } }
        return try await body()
    }

    private func passed(at now: Moment) -> String? {
        state.withLock { state in
            for (_, turn) in state.turns.sorted(by: { $0.key < $1.key }) {
                let (took, asked) = (
                    turn.began.duration(to: now), state.statements - turn.statements
                )
                guard took > Self.longest || asked > Self.mostStatements else { continue }
                return "\(turn.name) has not ended after \(took) and \(asked) statements"
            }
            return nil
        }
    }
}

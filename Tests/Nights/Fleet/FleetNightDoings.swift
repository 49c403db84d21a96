import Base
import Manifest
import Rollout
import Show
import Store
import Synchronization

/// What becomes of a night while several gateways are at work, noted by all of them.
final class FleetNightDoings: Sendable {
    struct State {
        var account = FleetNightAccount(0, .init(starts: []))
        var failure: (any Error)?
        /// By digest, as each gateway keeps them.
        var archive: [SHA256Digest: (plan: FrozenPlan, wish: NightWish)] = [:]
        var words: [String] = []
        var disturbed: [(NightStory.Event, [String: ExecutionState])] = []
        /// Beginnings as they were seen first, over all nights.
        var beginnings: [FleetNightBeginning] = []
    }

    private let state = Mutex(State())

    func with<R>(_ body: (inout sending State) -> sending R) -> R { state.withLock(body) }

    var account: FleetNightAccount {
        state.withLock { state in
            var account = state.account
            account.beginnings = state.beginnings
            return account
        }
    }
    var failure: (any Error)? { state.withLock { $0.failure } }
    var disturbed: [(NightStory.Event, [String: ExecutionState])] {
        state.withLock { $0.disturbed }
    }

    func begin(_ account: FleetNightAccount) { state.withLock { $0.account = account } }
    func fails(_ error: any Error) { state.withLock { $0.failure = $0.failure ?? error } }
    func say(_ text: String) { state.withLock { $0.words.append(text) } }

    func takeWords() -> [String] {
        state.withLock { state in
            defer { state.words = [] }
            return state.words
        }
    }

    func disturbed(_ what: NightStory.Event, _ states: [String: ExecutionState]) {
        state.withLock { $0.disturbed.append((what, states)) }
    }

    func keep(_ plan: FrozenPlan, _ wish: NightWish) {
        state.withLock { $0.archive[plan.digest] = (plan, wish) }
    }

    func kept(_ digest: SHA256Digest) -> (plan: FrozenPlan, wish: NightWish)? {
        state.withLock { $0.archive[digest] }
    }

    var plans: [SHA256Digest: FrozenPlan] { state.withLock { $0.archive.mapValues(\.plan) } }

    func checked(_ rollout: String, _ beginning: Int, _ wave: Int) {
        let check = FleetNightAccount.Check(rollout: rollout, beginning: beginning, wave: wave)
        state.withLock { _ = $0.account.checks.insert(check) }
    }

    func touched(_ touch: FleetNightAccount.Touch) {
        state.withLock { $0.account.touches.append(touch) }
    }

    func entered(
        _ rollout: String,
        _ number: Int,
        _ wish: NightWish,
        _ always: [NightStory.Step],
        _ modules: [NightScene.Vehicle]
    ) {
        state.withLock { state in
            guard
                !state.beginnings.contains(where: { $0.rollout == rollout && $0.number == number })
            else { return }
            state.beginnings.append(
                FleetNightBeginning(
                    rollout: rollout,
                    number: number,
                    wish: wish,
                    always: always,
                    modules: modules
                )
            )
        }
    }

    // MARK: Turns

    func begin(_ turn: FleetNightTurn) -> Int {
        state.withLock { state in
            state.account.turns.append(turn)
            return state.account.turns.count - 1
        }
    }

    func hear(_ number: Int, _ event: Event, _ now: Moment) {
        state.withLock { $0.account.turns[number].events.append((now, event.body)) }
    }

    func end(_ number: Int, _ result: RunResult) {
        state.withLock {
            $0.account.turns[number].counts = result.vehicles
            $0.account.turns[number].ending = result.ending
        }
    }

    func end(_ number: Int, _ now: Moment) {
        state.withLock { $0.account.turns[number].ended = now }
    }
}

/// A beginning of a rollout, as it was when a gateway came to it first.
struct FleetNightBeginning: Sendable {
    let rollout: String
    let number: Int
    let wish: NightWish
    let always: [NightStory.Step]
    let modules: [NightScene.Vehicle]
}

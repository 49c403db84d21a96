import Synchronization

/// Lets one task at a time continue; the others wait in the order in which they arrived.
package final class AccessQueue: Sendable {
    private struct State {
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Waits for the turn, which lasts until `end` is called.
    package func take() async {
        await withCheckedContinuation { task in
            let isFree = state.withLock { state in
                if state.isTaken { state.waiting.append(task) }
                defer { state.isTaken = true }
                return !state.isTaken
            }
            if isFree { task.resume() }
        }
    }

    /// Ends the turn.
    ///
    /// When a task is waiting, the turn passes to it and stays taken.
    package func end() {
        let next = state.withLock { state in
            state.isTaken = !state.waiting.isEmpty
            return state.isTaken ? state.waiting.removeFirst() : nil
        }
        next?.resume()
    }
}

import Synchronization

/// Asks a run, or one execution of it, to end at the next safe point.
///
/// Set from a signal handler's thread, asked at every turn of every loop: nothing is torn down
/// from outside.
package final class StopSignal: Sendable {
    private let requests = Atomic<Int>(0)
    /// Whose request is ours too.
    private let parent: StopSignal?
    /// Of the module that is worked on, where its right can end.
    let fence: LeaseFence?

    package init(under parent: StopSignal? = nil, fence: LeaseFence? = nil) {
        self.parent = parent
        self.fence = fence
    }

    package func request() { requests.wrappingAdd(1, ordering: .relaxed) }

    /// Takes the request back, for anyone who begins again.
    package func reset() { requests.store(0, ordering: .relaxed) }

    /// Asked of this one, and not of the run above it.
    package var isRequestedAlone: Bool {
        requests.load(ordering: .relaxed) > 0 && !(parent?.isRequested ?? false) && !isFenced
    }

    /// Whether the right to the module ends: nothing more than a safe point is reached.
    package var isFenced: Bool { fence?.isClosing ?? false }

    package var isRequested: Bool {
        requests.load(ordering: .relaxed) > 0 || isFenced || parent?.isRequested ?? false
    }
}

import Synchronization

/// Asks a run, or one execution of it, to end at the next safe point.
///
/// It is set from a signal handler's thread and checked at every turn of every loop: nothing is
/// interrupted from outside.
package final class StopSignal: Sendable {
    private let requests = Atomic<Int>(0)
    /// A request to the parent is also a request to this one.
    private let parent: StopSignal?
    /// The fence of the module that is worked on, if the right to it can end.
    let fence: LeaseFence?

    package init(under parent: StopSignal? = nil, fence: LeaseFence? = nil) {
        self.parent = parent
        self.fence = fence
    }

    package func request() { requests.wrappingAdd(1, ordering: .relaxed) }

    /// Takes the request back, for a caller that begins again.
    package func reset() { requests.store(0, ordering: .relaxed) }

    /// Whether this signal was requested, and not the run above it.
    package var isRequestedAlone: Bool {
        requests.load(ordering: .relaxed) > 0 && !(parent?.isRequested ?? false) && !isFenced
    }

    /// Whether the right to the module is ending: work continues only to the next safe point.
    package var isFenced: Bool { fence?.isClosing ?? false }

    package var isRequested: Bool {
        requests.load(ordering: .relaxed) > 0 || isFenced || parent?.isRequested ?? false
    }
}

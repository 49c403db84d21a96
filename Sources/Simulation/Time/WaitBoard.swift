import Synchronization

/// The current waits, so that a run that is stuck can report them.
package final class WaitBoard: Sendable {
    private struct Wait {
        let what: StaticString
        let whom: String
    }

    private let waits = Mutex(Slots<Wait>())

    package init() {}

    /// Records a wait for `what` from or on `whom`.
    package func begin(_ what: StaticString, _ whom: String) -> SlotTicket {
        waits.withLock { $0.put(Wait(what: what, whom: whom)) }
    }

    package func end(_ ticket: SlotTicket) {
        _ = waits.withLock { $0.take(ticket) }
    }

    /// The waits in the order in which they began.
    package var list: [String] {
        waits.withLock { $0.all.map { "\($0.what) \($0.whom)" } }
    }
}

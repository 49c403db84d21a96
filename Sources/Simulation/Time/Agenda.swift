import Base

/// Events to come, taken in the order of time.
///
/// The heap contains plain keys, of a type that does not depend on the entries' type: sorting them
/// moves no closure and counts no reference, which was most of the cost of a simulated event.
struct Agenda<Entry> {
    private var keys = Heap<AgendaKey>()
    private var entries = Slots<Entry>()
    /// The number of keys in the heap whose entries were cancelled.
    private var cancelled = 0

    /// The heap keeps up to this many keys without an entry.
    private static var fewCancelled: Int { 32 }

    /// When the next entry is due; nil when there is none.
    var nextMoment: Moment? { keys.first?.moment }

    @discardableResult
    mutating func add(_ entry: Entry, at moment: Moment) -> SlotTicket {
        let ticket = entries.put(entry)
        keys.insert(AgendaKey(moment: moment, ticket: ticket))
        return ticket
    }

    mutating func takeFirst() -> (moment: Moment, entry: Entry)? {
        guard let first = keys.takeFirst(), let entry = entries.take(first.ticket) else {
            return nil
        }
        dropCancelled()
        return (first.moment, entry)
    }

    /// Takes the first entry if it is due by this moment.
    mutating func takeFirst(upTo moment: Moment) -> Entry? {
        guard let next = nextMoment, next <= moment else { return nil }
        return takeFirst()?.entry
    }

    /// Removes an entry; does nothing when it was removed before.
    mutating func cancel(_ ticket: SlotTicket) {
        guard entries.take(ticket) != nil else { return }
        cancelled += 1
        dropCancelled()
        // Most deadlines are far away and are cancelled before: their keys would make the heap
        // deep.
        guard cancelled > Self.fewCancelled, cancelled > keys.count / 2 else { return }
        let entries = entries
        keys.removeAll { !entries.holds($0.ticket) }
        cancelled = 0
    }

    /// Removes keys of cancelled entries, so that the first key always has an entry.
    private mutating func dropCancelled() {
        while cancelled > 0, let first = keys.first, !entries.holds(first.ticket) {
            _ = keys.takeFirst()
            cancelled -= 1
        }
    }
}

extension Agenda: Sendable where Entry: Sendable {}

/// The place of an entry in the order of time.
private struct AgendaKey: Comparable {
    let moment: Moment
    let ticket: SlotTicket

    /// Of two entries for one moment, the one that was added first comes first.
    static func < (left: AgendaKey, right: AgendaKey) -> Bool {
        left.moment == right.moment
            ? left.ticket.number < right.ticket.number : left.moment < right.moment
    }

    static func == (left: AgendaKey, right: AgendaKey) -> Bool {
        left.ticket.number == right.ticket.number
    }
}

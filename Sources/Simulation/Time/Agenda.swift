import Domain

/// What is to happen when, taken out in the order of time.
///
/// The heap holds plain keys: to sort them moves no closure and counts no reference, which was
/// most of what a simulated event cost.
struct Agenda<Entry> {
    private struct Key: Comparable {
        let moment: Moment
        /// Of two entries for one moment the one added first comes first.
        let order: UInt64
        /// Where the entry lies among `slots`.
        let place: Int

        static func < (left: Key, right: Key) -> Bool {
            left.moment == right.moment ? left.order < right.order : left.moment < right.moment
        }
    }

    private var keys = Heap<Key>()
    /// With the number of their keys: a place is given to another entry later.
    private var slots: [(order: UInt64, entry: Entry)?] = []
    private var free: [Int] = []
    private var nextOrder: UInt64 = 0

    /// When the next entry falls due, nil when there is none.
    var nextMoment: Moment? { keys.first?.moment }

    @discardableResult
    mutating func add(_ entry: Entry, at moment: Moment) -> AgendaTicket {
        let key = Key(moment: moment, order: nextOrder, place: store((nextOrder, entry)))
        nextOrder += 1
        keys.insert(key)
        return AgendaTicket(place: key.place, order: key.order)
    }

    mutating func takeFirst() -> (moment: Moment, entry: Entry)? {
        guard let first = keys.first, let slot = slots[first.place] else { return nil }
        slots[first.place] = nil
        dropFirst()
        dropCancelled()
        return (first.moment, slot.entry)
    }

    /// Takes an entry out; does nothing when it has been taken before.
    mutating func cancel(_ ticket: AgendaTicket) {
        guard slots[ticket.place]?.order == ticket.order else { return }
        slots[ticket.place] = nil
        dropCancelled()
    }

    /// The first key is always one of an entry that is there.
    private mutating func dropCancelled() {
        while let first = keys.first, slots[first.place] == nil { dropFirst() }
    }

    private mutating func dropFirst() {
        guard let first = keys.takeFirst() else { return }
        free.append(first.place)
    }

    private mutating func store(_ entry: (order: UInt64, entry: Entry)) -> Int {
        guard let place = free.popLast() else {
            slots.append(entry)
            return slots.count - 1
        }
        slots[place] = entry
        return place
    }
}

extension Agenda: Sendable where Entry: Sendable {}

/// Names one entry of an agenda.
package struct AgendaTicket: Sendable {
    fileprivate let place: Int
    fileprivate let order: UInt64
}

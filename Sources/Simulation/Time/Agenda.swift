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
    private var slots: [Entry?] = []
    private var free: [Int] = []
    private var nextOrder: UInt64 = 0

    /// When the next entry falls due, nil when there is none.
    var nextMoment: Moment? { keys.first?.moment }

    mutating func add(_ entry: Entry, at moment: Moment) {
        keys.insert(Key(moment: moment, order: nextOrder, place: store(entry)))
        nextOrder += 1
    }

    mutating func takeFirst() -> (moment: Moment, entry: Entry)? {
        guard let first = keys.takeFirst(), let entry = slots[first.place] else { return nil }
        slots[first.place] = nil
        free.append(first.place)
        return (first.moment, entry)
    }

    private mutating func store(_ entry: Entry) -> Int {
        guard let place = free.popLast() else {
            slots.append(entry)
            return slots.count - 1
        }
        slots[place] = entry
        return place
    }
}

extension Agenda: Sendable where Entry: Sendable {}

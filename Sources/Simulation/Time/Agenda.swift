import Domain

/// What is to happen when, taken out in the order of time.
///
/// The heap holds plain keys: to sort them moves no closure and counts no reference, which was
/// most of what a simulated event cost. Over the scheduler's generic heap, shared by both rooms, a
/// simulated run took a quarter more of the processor.
struct Agenda<Entry> {
    private struct Key {
        let moment: Moment
        /// Of two entries for one moment the one added first comes first.
        let order: UInt64
        /// Where the entry lies among `slots`.
        let place: Int

        func comes(before other: Key) -> Bool {
            moment == other.moment ? order < other.order : moment < other.moment
        }
    }

    private var keys: [Key] = []
    private var slots: [Entry?] = []
    private var free: [Int] = []
    private var nextOrder: UInt64 = 0

    /// When the next entry falls due, nil when there is none.
    var nextMoment: Moment? { keys.first?.moment }

    mutating func add(_ entry: Entry, at moment: Moment) {
        let key = Key(moment: moment, order: nextOrder, place: store(entry))
        nextOrder += 1
        var child = keys.count
        keys.append(key)
        while child > 0 {
            let parent = (child - 1) / 2
            guard key.comes(before: keys[parent]) else { break }
            keys[child] = keys[parent]
            child = parent
        }
        keys[child] = key
    }

    mutating func takeFirst() -> (moment: Moment, entry: Entry)? {
        guard let first = keys.first, let entry = slots[first.place] else { return nil }
        slots[first.place] = nil
        free.append(first.place)
        let last = keys.removeLast()
        if !keys.isEmpty { sink(last) }
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

    /// Puts a key in the place of the first, or below those that come before it.
    private mutating func sink(_ key: Key) {
        var parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < keys.count else { break }
            if child + 1 < keys.count, keys[child + 1].comes(before: keys[child]) { child += 1 }
            guard keys[child].comes(before: key) else { break }
            keys[parent] = keys[child]
            parent = child
        }
        keys[parent] = key
    }
}

extension Agenda: Sendable where Entry: Sendable {}

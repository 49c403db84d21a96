import Base

/// Timers sorted by time, and timers with the same time in the order in which they were set.
///
/// A removed timer stays in the heap until it expires. When most of the heap consists of removed
/// timers, the heap is rebuilt, so that setting and removing a timer for each call costs nothing in
/// the long run.
struct TimerQueue {
    private struct Entry {
        let moment: Moment
        let id: UInt64

        func isBefore(_ other: Entry) -> Bool { (moment, id) < (other.moment, other.id) }
    }

    private var heap: [Entry] = []
    private var handlers: [UInt64: @Sendable () -> Void] = [:]
    private var lastID: UInt64 = 0

    var count: Int { handlers.count }

    mutating func add(
        at moment: Moment,
        _ handler: @escaping @Sendable () -> Void
    ) -> EventLoop.TimerID {
        lastID += 1
        handlers[lastID] = handler
        push(Entry(moment: moment, id: lastID))
        return EventLoop.TimerID(number: lastID)
    }

    mutating func remove(_ timer: EventLoop.TimerID) {
        guard handlers.removeValue(forKey: timer.number) != nil else { return }
        guard heap.count > 64, heap.count > handlers.count * 2 else { return }
        heap.removeAll { handlers[$0.id] == nil }
        // A sorted array is a heap.
        heap.sort { $0.isBefore($1) }
    }

    /// Removes the first timer that has expired by `now`, and returns its handler.
    mutating func takeExpired(by now: Moment) -> (@Sendable () -> Void)? {
        while let first = heap.first {
            if let handler = handlers[first.id] {
                guard first.moment <= now else { return nil }
                handlers[first.id] = nil
                pop()
                return handler
            }
            pop()
        }
        return nil
    }

    /// When the first timer expires.
    mutating func nextMoment() -> Moment? {
        while let first = heap.first, handlers[first.id] == nil { pop() }
        return heap.first?.moment
    }

    private mutating func push(_ entry: Entry) {
        heap.append(entry)
        var index = heap.count - 1
        while index > 0 {
            let parent = (index - 1) / 2
            guard heap[index].isBefore(heap[parent]) else { return }
            heap.swapAt(index, parent)
            index = parent
        }
    }

    private mutating func pop() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var index = 0
        while true {
            let left = index * 2 + 1
            guard left < heap.count else { return }
            let right = left + 1
            let child = right < heap.count && heap[right].isBefore(heap[left]) ? right : left
            guard heap[child].isBefore(heap[index]) else { return }
            heap.swapAt(index, child)
            index = child
        }
    }
}

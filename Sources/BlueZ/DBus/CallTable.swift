/// Running calls, and calls that wait for a free place.
///
/// A bus refuses the 129th unanswered call of a connection, so at most half of that number run at
/// the same time.
struct CallTable {
    static let mostInFlight = 64

    typealias Completion = @Sendable (Result<[DBusValue], BusError>) -> Void

    struct Entry {
        let completion: Completion
        let timer: EventLoop.TimerID
        /// Set once the call was sent.
        var serial: UInt32?
        let call: MethodCall
    }

    private var entries: [UInt64: Entry] = [:]
    private var bySerial: [UInt32: UInt64] = [:]
    private var waiting: [UInt64] = []
    private var lastID: UInt64 = 0

    var count: Int { entries.count }

    mutating func newID() -> UInt64 {
        lastID += 1
        return lastID
    }

    mutating func add(_ entry: Entry, id: UInt64) {
        entries[id] = entry
        waiting.append(id)
    }

    /// The next call that may be sent now.
    mutating func takeSendable() -> (id: UInt64, call: MethodCall)? {
        while bySerial.count < Self.mostInFlight, let id = waiting.first {
            waiting.removeFirst()
            if let entry = entries[id] { return (id, entry.call) }
        }
        return nil
    }

    mutating func sent(_ id: UInt64, as serial: UInt32) {
        entries[id]?.serial = serial
        bySerial[serial] = id
    }

    mutating func take(_ id: UInt64) -> Entry? {
        guard let entry = entries.removeValue(forKey: id) else { return nil }
        if let serial = entry.serial { bySerial[serial] = nil }
        return entry
    }

    mutating func take(serial: UInt32) -> Entry? { bySerial[serial].flatMap { take($0) } }

    mutating func takeAll() -> [Entry] {
        defer {
            entries = [:]
            bySerial = [:]
            waiting = []
        }
        return entries.sorted { $0.key < $1.key }.map(\.value)
    }
}

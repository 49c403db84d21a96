package import Base
package import Radio

/// Reads one record of a Comodule module through its selector and its register.
///
/// The register keeps the previously selected record until the new one is loaded, and forever when
/// the module has no such record. The id in the record shows which one was read. When the register
/// already held the same id, only the time can show it: a reading then counts only if it began
/// after the new record was surely loaded.
package struct RegisterReader: Sendable {
    package enum State: Equatable, Sendable {
        /// Next: `selecting`.
        case idle
        /// Next: `reading`, `failed`.
        case selecting
        /// A reading is due or under way. Next: `done`, `absent`, `failed`.
        case reading(Reading)
        case done([UInt8])
        case absent
        case failed(RegisterError)
    }

    /// The readings of one selection.
    package struct Reading: Equatable, Sendable {
        let selected: Moment
        /// When the current reading may begin.
        var due: Moment
        /// The register held another record at some time since the selection, or just before it.
        var heldAnother: Bool
        /// Readings that are left after the current one.
        var left: ArraySlice<Duration>
    }

    package enum Action: Equatable, Sendable {
        /// Write the record's id, the most significant byte first, to the selector.
        case select([UInt8])
        /// Read the register, not before this moment.
        case read(at: Moment)
        case wait
        /// The eight data bytes after the id.
        case record([UInt8])
        /// The module has no such record.
        case absent
        case failed(RegisterError)
    }

    package static let recordLength = 10
    /// When to read, counted from the selection.
    static let polls: [Duration] = [.zero, .milliseconds(10), .milliseconds(25), .milliseconds(75)]
    /// A record is loaded this long after its selection at the latest.
    static let loadTime = Duration.milliseconds(15)

    package let id: UInt16
    package private(set) var state = State.idle
    /// When `timeout` is due; nil before the beginning and after the end.
    package private(set) var deadline: Moment?
    /// The id that the register held when it was last read: the next reader on this link needs it.
    package private(set) var held: UInt16?
    private let limit: Duration

    /// `held` is the id that the previous reader on the same link saw; nil on a new link and after
    /// a write to the register.
    package init(id: UInt16, held: UInt16? = nil, limit: Duration = .seconds(10)) {
        self.id = id
        self.held = held
        self.limit = limit
    }

    package mutating func begin(at now: Moment) -> Action {
        switch state {
        case .idle:
            state = .selecting
            deadline = now.advanced(by: limit)
            return .select([UInt8(id >> 8), UInt8(id & 0xFF)])
        case .selecting, .reading:
            return .wait
        case .done, .absent, .failed:
            return result
        }
    }

    package mutating func selected(at now: Moment) -> Action {
        switch state {
        case .selecting:
            let heldAnother = held.map { $0 != id } ?? false
            let polls = heldAnother ? Self.polls : Self.polls.filter { $0 >= Self.loadTime }
            let reading = Reading(
                selected: now,
                due: now,
                heldAnother: heldAnother,
                left: polls[...]
            )
            return readNext(reading, at: now)
        case .idle, .reading:
            return .wait
        case .done, .absent, .failed:
            return result
        }
    }

    package mutating func read(_ value: [UInt8], at now: Moment) -> Action {
        switch state {
        case .reading(var reading):
            guard value.count == Self.recordLength else { return fail(.length(value.count)) }
            let found = UInt16(value[0]) << 8 | UInt16(value[1])
            held = found
            if found != id {
                reading.heldAnother = true
                return readNext(reading, at: now)
            }
            guard reading.heldAnother || reading.due >= reading.selected.advanced(by: Self.loadTime)
            else { return readNext(reading, at: now) }
            deadline = nil
            state = .done(Array(value[2...]))
            return result
        case .idle, .selecting:
            return .wait
        case .done, .absent, .failed:
            return result
        }
    }

    package mutating func linkFailed(_ failure: LinkFailure, at now: Moment) -> Action {
        switch state {
        case .idle, .selecting, .reading: fail(.link(failure))
        case .done, .absent, .failed: result
        }
    }

    package mutating func timeout(at now: Moment) -> Action {
        switch state {
        case .idle:
            return .wait
        case .selecting, .reading:
            guard let deadline, now >= deadline else { return .wait }
            return fail(.link(.timedOut))
        case .done, .absent, .failed:
            return result
        }
    }

    private mutating func readNext(_ reading: Reading, at now: Moment) -> Action {
        guard let poll = reading.left.first else {
            deadline = nil
            state = .absent
            return .absent
        }
        var next = reading
        next.left = reading.left.dropFirst()
        next.due = max(now, reading.selected.advanced(by: poll))
        state = .reading(next)
        deadline = next.due.advanced(by: limit)
        return .read(at: next.due)
    }

    private var result: Action {
        switch state {
        case .idle, .selecting, .reading: .wait
        case .done(let data): .record(data)
        case .absent: .absent
        case .failed(let error): .failed(error)
        }
    }

    private mutating func fail(_ error: RegisterError) -> Action {
        deadline = nil
        state = .failed(error)
        return .failed(error)
    }
}

/// Why a record could not be read.
package enum RegisterError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Not 10 bytes.
    case length(Int)
    case link(LinkFailure)

    package var failureClass: FailureClass {
        switch self {
        case .length: .device
        case .link(let failure): failure.failureClass
        }
    }

    package var description: String {
        switch self {
        case .length(let count): "the module's register has \(count) bytes, not 10"
        case .link(let failure): "while reading a record: \(failure)"
        }
    }
}

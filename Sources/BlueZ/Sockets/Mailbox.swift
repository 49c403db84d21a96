package import Base
package import Radio

/// Elements that have arrived and were not taken yet, in order, up to a limit; the oldest are
/// dropped.
///
/// It ends with an error, which the waiting task gets after all earlier elements were taken. The
/// limit of a wait is one deadline of the mailbox, kept by the loop.
package final class Mailbox<Element: Sendable>: Sendable {
    private let state: Monitor<MailboxState<Element>>
    private let deadline: Deadline

    package init(capacity: Int, on loop: EventLoop) {
        let state = Monitor(MailboxState<Element>(capacity: capacity))
        self.state = state
        deadline = Deadline(on: loop) {
            let waiter = state.withLock { $0.takeWaiter(dueBy: EventLoop.now) }
            waiter?.resume(returning: .failure(.timedOut))
        }
    }

    /// Adds an element; returns true when a task was waiting for it.
    ///
    /// Only one producer at a time.
    @discardableResult
    package func add(_ element: Element) -> Bool {
        guard let waiter = state.withLock({ $0.add(element) }) else { return false }
        waiter.resume(returning: .success(element))
        return true
    }

    /// Ends the mailbox; only the first call has an effect.
    package func end(_ error: RadioError) {
        let waiter = state.withLock { $0.finish(error) }
        waiter?.resume(returning: .failure(error))
    }

    var isEmpty: Bool { state.withLock { $0.isEmpty } }

    package var dropped: Int { state.withLock { $0.dropped } }

    /// The next element; throws `timedOut` when none has arrived by this moment of the loop's
    /// clock.
    ///
    /// Only one task may wait at a time.
    package func next(before moment: Moment) async throws(RadioError) -> Element {
        if Task.isCancelled { throw .cancelled }
        let number: UInt64
        switch state.withLock({ $0.take() }) {
        case .known(let result): return try result.get()
        case .nothing(let wait): number = wait
        }
        // A task that does not wait must not get a later element.
        guard EventLoop.now < moment else { throw .timedOut }
        deadline.set(moment)
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let known = state.withLock { state -> Result<Element, RadioError>? in
                    let isOver = EventLoop.now >= moment
                    return state.wait(number, until: moment, isOver: isOver, waiter)
                }
                if let known { waiter.resume(returning: known) }
            }
        } onCancel: {
            let waiter = state.withLock { $0.cancel(number) }
            waiter?.resume(returning: .failure(.cancelled))
        }
        return try outcome.get()
    }
}

/// The contents of a mailbox, and the task that waits for more.
private struct MailboxState<Element: Sendable>: Sendable {
    typealias Waiter = CheckedContinuation<Result<Element, RadioError>, Never>

    enum Taken {
        case known(Result<Element, RadioError>)
        /// The mailbox is empty; the number identifies the wait that may follow.
        case nothing(UInt64)
    }

    private let capacity: Int
    private var elements: [Element] = []
    /// The index of the oldest element: it is moved instead of the elements.
    private var first = 0
    private var end: RadioError?
    private var waiter: (number: UInt64, until: Moment, Waiter)?
    private var lastNumber: UInt64 = 0
    /// The last wait that was cancelled.
    private var cancelled: UInt64 = 0
    private(set) var dropped = 0

    init(capacity: Int) { self.capacity = capacity }

    var isEmpty: Bool { first == elements.count }

    mutating func add(_ element: Element) -> Waiter? {
        if let waiter {
            self.waiter = nil
            return waiter.2
        }
        guard end == nil else { return nil }
        if elements.count - first == capacity {
            first += 1
            dropped += 1
        }
        if first >= capacity {
            elements.removeFirst(first)
            first = 0
        }
        elements.append(element)
        return nil
    }

    mutating func finish(_ error: RadioError) -> Waiter? {
        if end == nil { end = error }
        defer { waiter = nil }
        return waiter?.2
    }

    mutating func take() -> Taken {
        if first < elements.count {
            defer {
                first += 1
                if first == elements.count {
                    elements.removeAll(keepingCapacity: true)
                    first = 0
                }
            }
            return .known(.success(elements[first]))
        }
        if let end { return .known(.failure(end)) }
        lastNumber += 1
        return .nothing(lastNumber)
    }

    /// The result if it is known by now; nil when the waiter is kept.
    mutating func wait(
        _ number: UInt64,
        until moment: Moment,
        isOver: Bool,
        _ waiter: Waiter
    ) -> Result<Element, RadioError>? {
        if cancelled == number { return .failure(.cancelled) }
        if case .known(let result) = take() { return result }
        if isOver { return .failure(.timedOut) }
        self.waiter = (number, moment, waiter)
        return nil
    }

    mutating func cancel(_ number: UInt64) -> Waiter? {
        cancelled = number
        guard let waiter, waiter.number == number else { return nil }
        self.waiter = nil
        return waiter.2
    }

    mutating func takeWaiter(dueBy now: Moment) -> Waiter? {
        guard let waiter, waiter.until <= now else { return nil }
        self.waiter = nil
        return waiter.2
    }
}

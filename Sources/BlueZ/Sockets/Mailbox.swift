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
            let wait = state.withLock { $0.takeWait { $0.until <= EventLoop.now } }
            wait?.waiter.resume(returning: .failure(.timedOut))
        }
    }

    /// Adds an element; returns true when a task was waiting for it.
    ///
    /// Only one producer at a time.
    @discardableResult
    package func add(_ element: Element) -> Bool {
        guard let wait = state.withLock({ $0.add(element) }) else { return false }
        guard let takesMore = wait.takesMore else {
            wait.waiter.resume(returning: .success(element))
            return true
        }
        if !takesMore(element) {
            let waiting = state.withLock { $0.takeWait { $0 === wait } }
            waiting?.waiter.resume(returning: .success(nil))
        }
        return true
    }

    /// Ends the mailbox; only the first call has an effect.
    package func end(_ error: RadioError) {
        let wait = state.withLock { $0.finish(error) }
        wait?.waiter.resume(returning: .failure(error))
    }

    var isEmpty: Bool { state.withLock { $0.isEmpty } }

    package var dropped: Int { state.withLock { $0.dropped } }

    /// The next element; throws `timedOut` when none has arrived by this moment of the loop's
    /// clock.
    ///
    /// Only one task may wait at a time.
    package func next(before moment: Moment) async throws(RadioError) -> Element {
        while true {
            if let element = try await next(before: moment, offering: nil) { return element }
        }
    }

    /// Offers the elements to `takesMore`, which the producer calls for what arrives later, until
    /// it returns false.
    package func next(
        before moment: Moment,
        _ takesMore: @escaping @Sendable (Element) -> Bool
    ) async throws(RadioError) {
        while let element = try await next(before: moment, offering: takesMore) {
            guard takesMore(element) else { return }
        }
    }

    /// Nil when `takesMore` has ended the wait.
    private func next(
        before moment: Moment,
        offering takesMore: (@Sendable (Element) -> Bool)?
    ) async throws(RadioError) -> Element? {
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
                let known = state.withLock { state -> Result<Element?, RadioError>? in
                    let isOver = EventLoop.now >= moment
                    return state.wait(Wait(number, moment, takesMore, waiter), isOver: isOver)
                }
                if let known { waiter.resume(returning: known) }
            }
        } onCancel: {
            let wait = state.withLock { $0.cancel(number) }
            wait?.waiter.resume(returning: .failure(.cancelled))
        }
        return try outcome.get()
    }
}

/// The task that waits for more.
///
/// A class, because a value with a continuation is slow to copy.
private final class Wait<Element: Sendable>: Sendable {
    let number: UInt64
    let until: Moment
    let takesMore: (@Sendable (Element) -> Bool)?
    /// Gets nil when the elements were offered and no more are wanted.
    let waiter: CheckedContinuation<Result<Element?, RadioError>, Never>

    init(
        _ number: UInt64,
        _ until: Moment,
        _ takesMore: (@Sendable (Element) -> Bool)?,
        _ waiter: CheckedContinuation<Result<Element?, RadioError>, Never>
    ) {
        self.number = number
        self.until = until
        self.takesMore = takesMore
        self.waiter = waiter
    }
}

/// The contents of a mailbox.
private struct MailboxState<Element: Sendable>: Sendable {
    enum Taken {
        case known(Result<Element?, RadioError>)
        /// The mailbox is empty; the number identifies the wait that may follow.
        case nothing(UInt64)
    }

    private let capacity: Int
    private var elements: [Element] = []
    /// The index of the oldest element: it is moved instead of the elements.
    private var first = 0
    private var end: RadioError?
    private var current: Wait<Element>?
    private var lastNumber: UInt64 = 0
    /// The last wait that was cancelled.
    private var cancelled: UInt64 = 0
    private(set) var dropped = 0

    init(capacity: Int) { self.capacity = capacity }

    var isEmpty: Bool { first == elements.count }

    /// Returns the wait that the element is for; one to which it is offered stays the current one.
    mutating func add(_ element: Element) -> Wait<Element>? {
        if let current {
            if current.takesMore == nil { self.current = nil }
            return current
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

    mutating func finish(_ error: RadioError) -> Wait<Element>? {
        if end == nil { end = error }
        return takeWait { _ in true }
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
    mutating func wait(_ wait: Wait<Element>, isOver: Bool) -> Result<Element?, RadioError>? {
        if cancelled == wait.number { return .failure(.cancelled) }
        if case .known(let result) = take() { return result }
        if isOver { return .failure(.timedOut) }
        current = wait
        return nil
    }

    mutating func cancel(_ number: UInt64) -> Wait<Element>? {
        cancelled = number
        return takeWait { $0.number == number }
    }

    mutating func takeWait(where isIt: (Wait<Element>) -> Bool) -> Wait<Element>? {
        guard let current, isIt(current) else { return nil }
        self.current = nil
        return current
    }
}

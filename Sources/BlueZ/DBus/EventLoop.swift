package import Base
import CLinux
import Glibc

/// One thread that runs jobs, waits on descriptors and keeps timers: the owner of a bus connection.
///
/// Actors pinned to it can access its data without a change of threads, and tasks that prefer it
/// get its results without one. Handlers run on the thread and must not block. The thread runs, and
/// keeps this object alive, until `stop`.
package final class EventLoop: SerialExecutor, TaskExecutor {
    /// The operations that a descriptor is ready for, or is waited on for.
    package struct Readiness: OptionSet, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let reading = Self(rawValue: 1)
        package static let writing = Self(rawValue: 2)
        /// Reported without being requested: the other end is closed, or the descriptor is invalid.
        package static let hungUp = Self(rawValue: 4)
    }

    /// Identifies a descriptor that is waited on; never reused.
    package struct WatchID: Hashable, Sendable { fileprivate let number: UInt64 }
    /// Identifies a timer; never reused.
    package struct TimerID: Hashable, Sendable { let number: UInt64 }

    private enum Work: Sendable {
        case job(UnownedJob)
        case closure(@Sendable () -> Void)
    }

    private struct Inbox: Sendable {
        var work: [Work] = []
        var stopping = false
        /// Set by the thread itself, in the same step in which it finds no more work.
        var finished = false
        /// Set before the first work can arrive, and nil again after the thread was joined.
        var thread: pthread_t?

        /// The thread itself checks the inbox before it waits, so it need not be woken.
        var isOnThread: Bool {
            guard let thread else { return false }
            return pthread_equal(thread, pthread_self()) != 0
        }
    }

    private struct Watch {
        let id: WatchID
        let descriptor: CInt
        var interest: Readiness
        let handler: @Sendable (Readiness) -> Void
    }

    private let name: String
    private let wake: CInt
    private let inbox = Monitor(Inbox())
    // Accessed only on the loop's thread, which every function that uses it checks.
    private nonisolated(unsafe) var watches: [Watch] = []
    // As above.
    private nonisolated(unsafe) var timers = TimerQueue()
    // As above.
    private nonisolated(unsafe) var lastWatch: UInt64 = 0
    // As above.
    private nonisolated(unsafe) var waits = 0

    private init(name: String, wake: CInt) {
        self.name = name
        self.wake = wake
    }

    deinit { close(wake) }

    package static func start(name: String) throws(ThreadError) -> EventLoop {
        let wake = eventfd(0, CInt(EFD_CLOEXEC) | CInt(EFD_NONBLOCK))
        guard wake >= 0 else { throw ThreadError(code: errno) }
        let loop = EventLoop(name: name, wake: wake)
        // Under the lock, so that the thread cannot read the handle before it is set.
        let started = loop.inbox.withLock { inbox -> Result<Void, ThreadError> in
            NativeThread.start(name: name) { loop.run() }.map { inbox.thread = $0 }
        }
        try started.get()
        return loop
    }

    /// Lets the thread finish the queued work, ends it, and returns when it is gone.
    ///
    /// Everything on it must be closed: later work traps. Stopping twice is harmless.
    package func stop() {
        let thread = inbox.withLock { inbox -> pthread_t? in
            guard let thread = inbox.thread, !inbox.stopping else { return nil }
            precondition(pthread_equal(thread, pthread_self()) == 0, "\(name) cannot join itself")
            inbox.stopping = true
            return thread
        }
        guard let thread else { return }
        ring()
        pthread_join(thread, nil)
        inbox.withLock { $0.thread = nil }
    }

    // MARK: Work

    package func enqueue(_ job: consuming ExecutorJob) { add(.job(UnownedJob(job))) }

    /// Runs `body` on the thread after the queued work.
    package func perform(_ body: @escaping @Sendable () -> Void) { add(.closure(body)) }

    private func add(_ work: Work) {
        let mustRing = inbox.withLock { inbox in
            // Work that is never done would make a task wait forever, without an error.
            precondition(!inbox.finished, "work came for the thread \(name) after it stopped")
            inbox.work.append(work)
            return inbox.work.count == 1 && !inbox.isOnThread
        }
        if mustRing { ring() }
    }

    private func ring() {
        var one: UInt64 = 1
        // Fails only when the counter is full, and then the thread is awake.
        _ = write(wake, &one, 8)
    }

    package func checkIsolated() {
        precondition(isIsolatingCurrentContext() == true, "not on the thread \(name)")
    }

    package func isIsolatingCurrentContext() -> Bool? {
        inbox.withLock { $0.isOnThread }
    }

    // MARK: Descriptors and timers, only on the thread

    /// Calls `handler` whenever the descriptor is ready for `interest`, and when its other end is
    /// closed.
    package func watch(
        _ descriptor: CInt,
        for interest: Readiness,
        _ handler: @escaping @Sendable (Readiness) -> Void
    ) -> WatchID {
        checkIsolated()
        lastWatch += 1
        let id = WatchID(number: lastWatch)
        watches.append(
            Watch(id: id, descriptor: descriptor, interest: interest, handler: handler)
        )
        return id
    }

    /// Changes the operations that are waited for; the empty set reports nothing, not even a
    /// hang-up.
    package func setInterest(_ interest: Readiness, of id: WatchID) {
        checkIsolated()
        guard let index = watches.firstIndex(where: { $0.id == id }) else { return }
        watches[index].interest = interest
    }

    /// Stops watching; call this before the descriptor is closed, never after.
    package func unwatch(_ id: WatchID) {
        checkIsolated()
        watches.removeAll { $0.id == id }
    }

    package var watchCount: Int {
        checkIsolated()
        return watches.count
    }

    package var timerCount: Int {
        checkIsolated()
        return timers.count
    }

    /// How many times the kernel was asked for events.
    package var waitCount: Int {
        checkIsolated()
        return waits
    }

    /// Calls `handler` once, not before this time has passed.
    package func schedule(
        after time: Duration,
        _ handler: @escaping @Sendable () -> Void
    ) -> TimerID {
        checkIsolated()
        return timers.add(at: Self.now.advanced(by: time), handler)
    }

    package func cancel(_ timer: TimerID) {
        checkIsolated()
        timers.remove(timer)
    }

    /// The clock of all loops in the process.
    package static var now: Moment { LoopClock.now }

    // MARK: The thread

    /// After this many rounds of work, descriptors and timers get their turn, even if there is more
    /// work.
    private static let turnsAtOnce = 16

    private func run() {
        var polled: [pollfd] = []
        var ids: [WatchID] = []
        let (actors, tasks) = (asUnownedSerialExecutor(), asUnownedTaskExecutor())
        var turns = 0
        while true {
            let (work, stopping) = inbox.withLock { inbox in
                defer { inbox.work = [] }
                inbox.finished = inbox.stopping && inbox.work.isEmpty
                return (inbox.work, inbox.stopping)
            }
            if stopping, work.isEmpty { return }
            for item in work {
                switch item {
                case .job(let job): job.runSynchronously(isolatedTo: actors, taskExecutor: tasks)
                case .closure(let body): body()
                }
            }
            // While stopping, the loop only finishes the work and waits for nothing else.
            if stopping { continue }
            // A task returns to the loop several times for one operation: asking the kernel each
            // time would cost as much as the operation itself.
            turns += 1
            if !work.isEmpty, turns < Self.turnsAtOnce { continue }
            turns = 0
            // One at a time, because a handler may set or remove others; those that are due at the
            // same time run after the handlers of the descriptors.
            let now = Self.now
            while let handler = timers.takeExpired(by: now) { handler() }
            waitForDescriptors(&polled, &ids, until: timers.nextMoment())
            serve(polled, ids)
        }
    }

    private func waitForDescriptors(
        _ polled: inout [pollfd],
        _ ids: inout [WatchID],
        until deadline: Moment?
    ) {
        polled.removeAll(keepingCapacity: true)
        ids.removeAll(keepingCapacity: true)
        polled.append(pollfd(fd: wake, events: Int16(POLLIN), revents: 0))
        for watch in watches where !watch.interest.isEmpty {
            var events: Int32 = 0
            if watch.interest.contains(.reading) { events |= POLLIN }
            if watch.interest.contains(.writing) { events |= POLLOUT }
            polled.append(pollfd(fd: watch.descriptor, events: Int16(events), revents: 0))
            ids.append(watch.id)
        }
        var milliseconds: CInt = -1
        if inbox.withLock({ !$0.work.isEmpty }) {
            // There is work that the thread has given itself.
            milliseconds = 0
        } else if let deadline {
            // Rounded up: a poll that ends too early would be repeated until the time has come.
            let left = max(0, Self.now.duration(to: deadline).nanoseconds)
            milliseconds = CInt(clamping: left / 1_000_000 + (left % 1_000_000 > 0 ? 1 : 0))
        }
        waits += 1
        // An interrupted call reports nothing, and the next round asks again.
        if poll(&polled, nfds_t(polled.count), milliseconds) < 0 {
            for index in polled.indices { polled[index].revents = 0 }
        }
        if polled[0].revents != 0 {
            var count: UInt64 = 0
            _ = read(wake, &count, 8)
        }
    }

    /// Calls the handlers of ready descriptors.
    ///
    /// A handler may change the watches, so each is looked up again, and removed ones are skipped.
    private func serve(_ polled: [pollfd], _ ids: [WatchID]) {
        for (index, id) in ids.enumerated() {
            let events = CInt(polled[index + 1].revents)
            guard events != 0, let watch = watches.first(where: { $0.id == id }) else { continue }
            var ready: Readiness = []
            if events & POLLIN != 0 { ready.insert(.reading) }
            if events & POLLOUT != 0 { ready.insert(.writing) }
            if events & (POLLHUP | POLLERR | POLLNVAL) != 0 { ready.insert(.hungUp) }
            watch.handler(ready)
        }
    }
}

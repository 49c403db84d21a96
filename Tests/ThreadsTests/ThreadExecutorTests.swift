import Base
import Glibc
import Synchronization
import Testing

/// The name of the current thread, from the kernel.
///
/// `pthread_self` is not used, because the optimizer reuses its result after an `await`.
private func currentThread() -> String {
    var name = [CChar](repeating: 0, count: 64)
    let count = readlink("/proc/thread-self", &name, 64)
    return String(decoding: name.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
}

/// A meeting point: every thread waits for all others, for a minute at most.
private final class Meeting: Sendable {
    private let descriptors: (read: CInt, write: CInt)
    private let missing: Atomic<Int>

    init(expected: Int) {
        var pair: [CInt] = [0, 0]
        pipe(&pair)
        descriptors = (pair[0], pair[1])
        missing = Atomic(expected)
    }

    deinit {
        close(descriptors.read)
        close(descriptors.write)
    }

    /// Blocks the thread; the last one to arrive releases all.
    func arrive() -> Bool {
        if missing.subtract(1, ordering: .relaxed).newValue == 0 {
            write(descriptors.write, "!", 1)
        }
        var door = pollfd(fd: descriptors.read, events: Int16(POLLIN), revents: 0)
        return poll(&door, 1, 60_000) == 1
    }
}

@Suite struct ThreadExecutorTests {
    private actor Pinned {
        private let executor: any SerialExecutor
        private(set) var count = 0

        init(_ executor: any SerialExecutor) { self.executor = executor }

        nonisolated var unownedExecutor: UnownedSerialExecutor {
            executor.asUnownedSerialExecutor()
        }

        func thread() -> String { currentThread() }
        func increment() { count += 1 }

        /// Blocks until the others have arrived, too; false when they do not.
        func meet(_ others: Meeting) -> Bool { others.arrive() }

        func threadName() -> String {
            var name = [UInt8](repeating: 0, count: 64)
            let file = open("/proc/thread-self/comm", O_RDONLY)
            let count = read(file, &name, 64)
            close(file)
            return String(decoding: name.prefix(max(0, count - 1)), as: UTF8.self)
        }

        func blocksEverySignal() -> Bool {
            var mask = sigset_t()
            pthread_sigmask(SIG_BLOCK, nil, &mask)
            return [SIGINT, SIGTERM, SIGHUP].allSatisfy { sigismember(&mask, $0) == 1 }
        }

        nonisolated func assumed() -> Bool { assumeIsolated { _ in true } }
        func assumedInside() -> Bool { assumed() }
    }

    @Test func `an actor stays on one named thread that takes no signals`() async throws {
        let executor = try ThreadExecutor.start(name: "a name that is too long")
        let actor = Pinned(executor)
        let first = await actor.thread()
        await Task.yield()
        #expect(await actor.thread() == first)
        #expect(first != currentThread())
        #expect(await actor.threadName() == "a name that is ")
        #expect(await actor.blocksEverySignal())
        executor.stop()
    }

    @Test func `a task that prefers the thread stays on it, and so do those that it starts`()
        async throws
    {
        let executor = try ThreadExecutor.start(name: "preferred")
        let actor = Pinned(executor)
        let own = await actor.thread()
        let threads = await withTaskExecutorPreference(executor) {
            await withTaskGroup { group in
                for _ in 0..<4 {
                    group.addTask {
                        await actor.increment()
                        return currentThread()
                    }
                }
                return await group.reduce(into: [currentThread()]) { $0.append($1) }
            }
        }
        #expect(threads == Array(repeating: own, count: 5))
        #expect(await actor.count == 4)
        #expect(currentThread() != own)
        executor.stop()
    }

    @Test func `everything queued is done, once, before the thread stops`() async throws {
        let executor = try ThreadExecutor.start(name: "count")
        let actor = Pinned(executor)
        await withTaskGroup { group in
            for _ in 0..<1_000 { group.addTask { await actor.increment() } }
        }
        #expect(await actor.count == 1_000)
        executor.stop()
        executor.stop()
    }

    @Test func `the executor knows its own thread from others`() async throws {
        let executor = try ThreadExecutor.start(name: "self")
        let actor = Pinned(executor)
        #expect(executor.isIsolatingCurrentContext() == false)
        #expect(await actor.assumedInside())
        executor.stop()
        #expect(executor.isIsolatingCurrentContext() == false)
    }

    @Test func `one that blocks keeps nobody else from working`() async throws {
        let executors = try (0..<8).map { try ThreadExecutor.start(name: "meet \($0)") }
        let meeting = Meeting(expected: 8)
        let met = await withTaskGroup { group in
            for executor in executors {
                group.addTask { await Pinned(executor).meet(meeting) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(met == Array(repeating: true, count: 8))
        for executor in executors { executor.stop() }
    }

    @Test func `an executor that was stopped is freed`() throws {
        weak var left: ThreadExecutor?
        do {
            let executor = try ThreadExecutor.start(name: "short")
            left = executor
            executor.stop()
        }
        #expect(left == nil)
    }

    @Test func `work for a thread that was stopped traps instead of waiting forever`() async {
        await #expect(processExitsWith: .failure) {
            let executor = try ThreadExecutor.start(name: "gone")
            executor.stop()
            await Pinned(executor).increment()
        }
    }

    @Test func `assuming the thread from elsewhere traps`() async {
        await #expect(processExitsWith: .failure) {
            _ = Pinned(try ThreadExecutor.start(name: "other")).assumed()
        }
    }
}

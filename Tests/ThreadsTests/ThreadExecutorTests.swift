import Glibc
import Testing
import Threads

@Suite struct ThreadExecutorTests {
    private actor Pinned {
        private let executor: any SerialExecutor
        private(set) var count = 0

        init(_ executor: any SerialExecutor) { self.executor = executor }

        nonisolated var unownedExecutor: UnownedSerialExecutor {
            executor.asUnownedSerialExecutor()
        }

        func thread() -> UInt { UInt(pthread_self()) }
        func increment() { count += 1 }
        func block(milliseconds: UInt32) { usleep(milliseconds * 1_000) }

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
        #expect(first != UInt(pthread_self()))
        #expect(await actor.threadName() == "a name that is ")
        #expect(await actor.blocksEverySignal())
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

    @Test func `two threads block side by side`() async throws {
        let executors = try (0..<4).map { try ThreadExecutor.start(name: "block \($0)") }
        let clock = ContinuousClock()
        let took = await clock.measure {
            await withTaskGroup { group in
                for executor in executors {
                    group.addTask { await Pinned(executor).block(milliseconds: 200) }
                }
            }
        }
        #expect(took < .milliseconds(700))
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

    @Test func `work for a thread that was stopped traps instead of waiting for ever`() async {
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

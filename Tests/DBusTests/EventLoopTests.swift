import Base
import BlueZ
import Glibc
import Testing

@Suite(.timeLimit(.minutes(5))) struct EventLoopTests {
    private actor Pinned {
        nonisolated let loop: EventLoop
        nonisolated var unownedExecutor: UnownedSerialExecutor {
            loop.asUnownedSerialExecutor()
        }
        private(set) var count = 0

        init(_ loop: EventLoop) { self.loop = loop }

        func increment() { count += 1 }
        func isThere() -> Bool { loop.isIsolatingCurrentContext() == true }
    }

    @Test func `an actor's work is done on the thread, all of it before the end`() async throws {
        let loop = try EventLoop.start(name: "test")
        let actor = Pinned(loop)
        #expect(await actor.isThere())
        #expect(loop.isIsolatingCurrentContext() == false)
        await withTaskGroup { group in
            for _ in 0..<500 { group.addTask { await actor.increment() } }
        }
        #expect(await actor.count == 500)
        let done = Monitor(0)
        for _ in 0..<100 { loop.perform { done.withLock { $0 += 1 } } }
        loop.stop()
        loop.stop()
        #expect(done.withLock { $0 } == 100)
    }

    @Test func `timers come up in the order of their times and not before`() async throws {
        let loop = try EventLoop.start(name: "test")
        let order = Monitor<[Int]>([])
        let began = EventLoop.now
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            loop.perform {
                for (number, milliseconds) in [(3, 30), (1, 10), (2, 20), (0, 0)] {
                    _ = loop.schedule(after: .milliseconds(milliseconds)) {
                        order.withLock { $0.append(number) }
                    }
                }
                let cancelled = loop.schedule(after: .milliseconds(5)) {
                    order.withLock { $0.append(99) }
                }
                loop.cancel(cancelled)
                _ = loop.schedule(after: .milliseconds(40)) { done.resume() }
            }
        }
        #expect(order.withLock { $0 } == [0, 1, 2, 3])
        #expect(began.duration(to: EventLoop.now) >= .milliseconds(40))
        #expect(await loop.onLoop { $0.timerCount } == 0)
        loop.stop()
    }

    @Test func `a descriptor is served until it is unwatched, and its end is reported`()
        async throws
    {
        let loop = try EventLoop.start(name: "test")
        let pair = try #require(UnixDescriptor.packetPair())
        let (ours, theirs) = (try #require(pair.ours.take()), try #require(pair.theirs.take()))
        let seen = Monitor<[[UInt8]]>([])
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            loop.perform {
                let own = Monitor<EventLoop.WatchID?>(nil)
                let id = loop.watch(ours, for: .reading) { _ in
                    var buffer = [UInt8](repeating: 0, count: 8)
                    let count = read(ours, &buffer, 8)
                    seen.withLock { $0.append(Array(buffer.prefix(max(0, count)))) }
                    guard count <= 0 else { return }
                    if let id = own.withLock({ $0 }) { loop.unwatch(id) }
                    done.resume()
                }
                own.withLock { $0 = id }
                write(theirs, "one", 3)
                write(theirs, "two", 3)
                close(theirs)
            }
        }
        #expect(seen.withLock { $0 } == [Array("one".utf8), Array("two".utf8), []])
        close(ours)
        #expect(await loop.onLoop { $0.watchCount } == 0)
        loop.stop()
    }

    @Test func `work that follows from work is done before the kernel is asked, but not forever`()
        async throws
    {
        let loop = try EventLoop.start(name: "test")
        let waits = Monitor<[Int]>([])
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            @Sendable func follow(_ left: Int) {
                waits.withLock { $0.append(loop.waitCount) }
                guard left > 0 else { return done.resume() }
                loop.perform { follow(left - 1) }
            }
            loop.perform { follow(40) }
        }
        let counts = waits.withLock { $0 }
        #expect(counts.count == 41)
        #expect(try (2...3).contains(#require(counts.last) - counts[0]))
        loop.stop()
    }

    @Test func `many timers set and removed leave nothing behind`() async throws {
        let loop = try EventLoop.start(name: "test")
        let left = await loop.onLoop { loop in
            for _ in 0..<20_000 { loop.cancel(loop.schedule(after: .seconds(600)) {}) }
            return loop.timerCount
        }
        #expect(left == 0)
        loop.stop()
    }
}

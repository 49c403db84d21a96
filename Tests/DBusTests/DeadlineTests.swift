import Base
import BlueZ
import Testing

@Suite(.timeLimit(.minutes(5))) struct DeadlineTests {
    private func withLoop(_ body: (EventLoop) async throws -> Void) async throws {
        let loop = try EventLoop.start(name: "deadline test")
        defer { loop.stop() }
        try await body(loop)
    }

    /// Returns after the loop's timers have run for `time`.
    private func pass(_ time: Duration, on loop: EventLoop) async {
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            loop.perform { _ = loop.schedule(after: time) { done.resume() } }
        }
    }

    @Test func `a deadline comes once, and not before its last moment`() async throws {
        try await withLoop { loop in
            let came = Monitor<[Moment]>([])
            let deadline = Deadline(on: loop) { came.withLock { $0.append(EventLoop.now) } }
            // While this runs on the loop's thread, no deadline can pass in between.
            let last = await loop.onLoop { _ in
                let last = EventLoop.now.advanced(by: .milliseconds(60))
                for milliseconds in [20, 90, 40] {
                    deadline.set(EventLoop.now.advanced(by: .milliseconds(milliseconds)))
                }
                deadline.set(last)
                return last
            }
            await pass(.milliseconds(120), on: loop)
            let moments = came.withLock { $0 }
            #expect(moments.count == 1)
            #expect(moments.allSatisfy { $0 >= last })
        }
    }

    @Test func `a deadline that is lifted does not come`() async throws {
        try await withLoop { loop in
            let came = Monitor(0)
            let deadline = Deadline(on: loop) { came.withLock { $0 += 1 } }
            await loop.onLoop { _ in
                deadline.set(EventLoop.now.advanced(by: .milliseconds(10)))
                deadline.set(nil)
            }
            await pass(.milliseconds(40), on: loop)
            #expect(came.withLock { $0 } == 0)
            deadline.set(EventLoop.now)
            await pass(.milliseconds(10), on: loop)
            #expect(came.withLock { $0 } == 1)
        }
    }

    @Test func `moving a deadline on costs no timer`() async throws {
        try await withLoop { loop in
            let deadline = Deadline(on: loop) {}
            for second in 60..<1_060 {
                deadline.set(EventLoop.now.advanced(by: .seconds(second)))
            }
            #expect(await loop.onLoop { $0.timerCount } == 1)
        }
    }

    @Test func `a task that prefers the loop runs on its thread and may wait there`() async throws {
        try await withLoop { loop in
            await withTaskExecutorPreference(loop) {
                #expect(loop.isIsolatingCurrentContext() == true)
                await withTaskGroup { group in
                    for _ in 0..<100 { group.addTask { await Task.yield() } }
                }
                await pass(.milliseconds(1), on: loop)
                #expect(loop.isIsolatingCurrentContext() == true)
            }
        }
    }
}

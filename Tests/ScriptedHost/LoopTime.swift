package import Base
package import BlueZ

/// The real clock, for tests that use a real bus.
package struct LoopTime: Timekeeper {
    private let loop: EventLoop

    package init(loop: EventLoop) { self.loop = loop }

    package var now: Moment { EventLoop.now }
    package var wallTime: WallTime { WallTime(milliseconds: 0) }

    package func sleep(until deadline: Moment, for purpose: @autoclosure () -> String) async {
        let time = now.duration(to: deadline)
        let stream = AsyncStream<Void> { continuation in
            loop.perform { [loop] in
                _ = loop.schedule(after: max(.zero, time)) { continuation.finish() }
            }
        }
        for await _ in stream {}
    }
}

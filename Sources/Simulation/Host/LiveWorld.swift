package import Domain

/// A world whose clock is driven from outside, for those who serve it in real time.
///
/// Anyone who owns it calls `advance` when the time it was woken for has come, and before anything is
/// done to the world.
package final class LiveWorld {
    package let world: World
    private let time: VirtualTime

    /// Begins at the moment, which is called `wallTime` on calendars.
    ///
    /// `wake` is told when the next thing is due.
    package init(
        seed: UInt64,
        from now: Moment = Moment(nanoseconds: 0),
        wallTime: WallTime,
        wake: @escaping (Moment) -> Void
    ) {
        var seeds = SplitMix64(seed: seed)
        let beginning = wallTime.advanced(by: .nanoseconds(-now.nanoseconds))
        time = VirtualTime(beginning: beginning, now: now)
        world = World(time: time, seed: seeds.next(), wake: wake)
    }

    /// Does all that is due by the moment, each thing at its own time.
    package func advance(to moment: Moment) {
        while let next = world.nextEvent, next <= moment {
            time.advance(to: next)
            world.runDue()
        }
        time.advance(to: moment)
        // Also when nothing was due: the world then says again when it wants to be woken.
        world.runDue()
    }
}

package import Base

/// A world whose clock is driven from outside, to be served in real time.
///
/// Its owner calls `advance` at the time that `wake` was called with, and before anything is done
/// to the world.
package final class LiveWorld {
    package let world: World
    private let time: VirtualTime

    /// Begins at the moment `now`, at which the calendar shows `wallTime`.
    ///
    /// `wake` is called with the time of the next event.
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

    /// Runs everything that is due up to the moment, each event at its own time.
    package func advance(to moment: Moment) {
        while let next = world.nextEvent, next <= moment {
            time.advance(to: next)
            world.runDue()
        }
        time.advance(to: moment)
        // Also when nothing was due: the world then calls `wake` again.
        world.runDue()
    }
}

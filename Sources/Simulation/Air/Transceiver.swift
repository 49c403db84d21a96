import Base

/// The one radio of an adapter: the connection events of its links take turns on it.
///
/// A controller serves one event at a time. One that falls into that of another link waits until
/// the events before it are over; what no longer fits before the link's next event is sent then.
final class Transceiver {
    private var busyUntil = Moment(nanoseconds: 0)
    private var line: [AirLink] = []
    /// How long it was sending or receiving in connection events.
    private(set) var used = Duration.zero

    /// Whether a connection event is on the air: meanwhile the adapter hears no advertisement.
    func isBusy(at now: Moment) -> Bool { now < busyUntil }

    /// A connection event of the link is due: it happens now, or when its turn comes.
    func serve(_ link: AirLink) {
        let world = link.world
        if line.isEmpty, !isBusy(at: world.now) { return link.runEvent() }
        line.append(link)
        if line.count == 1 { wait(in: world) }
    }

    private func wait(in world: World) {
        world.at(busyUntil) { [weak self] in
            guard let self else { return }
            line.removeFirst().runEvent()
            if !line.isEmpty { wait(in: world) }
        }
    }

    /// The current event takes this long.
    func occupy(from begin: Moment, until end: Moment) {
        busyUntil = end
        used += begin.duration(to: end)
    }
}

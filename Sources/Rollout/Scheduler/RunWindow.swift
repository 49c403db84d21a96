package import Base
package import Manifest

/// When the vehicles of a run may be begun.
package struct RunWindow: Sendable {
    /// The times of vehicles that have the same ones.
    let times: [OpenTimes]
    /// Which of them each vehicle has; empty when all have the first.
    private let choice: [Int]
    let close: Window.Close

    /// `openings` has those of each vehicle of the run, in their order.
    package init(_ window: Window, zone: Zone, openings: [[Opening]] = []) {
        var lists = openings.isEmpty ? [window.openings] : []
        choice = openings.map { list in
            if let known = lists.firstIndex(of: list) { return known }
            lists.append(list)
            return lists.count - 1
        }
        times = lists.map { window.times($0, in: zone) }
        close = window.close
    }

    /// The index of a vehicle's times.
    func times(of vehicle: Int) -> Int { choice.isEmpty ? 0 : choice[vehicle] }
}

/// The state of some vehicles' times, calculated only when it may have changed.
struct WindowClock: Sendable {
    private let times: OpenTimes
    private var known: (since: WallTime, state: OpenTimes.State)?
    /// Whether vehicles were let in for these times and not shut out since.
    var isOpen = false

    init(_ times: OpenTimes) { self.times = times }

    mutating func state(at time: WallTime) -> OpenTimes.State {
        if let known, known.since <= time {
            let change =
                switch known.state {
                case .open(let until): until as WallTime?
                case .closed(let opens): opens
                }
            if change.map({ time < $0 }) ?? true { return known.state }
        }
        let state = times.state(at: time)
        known = (time, state)
        return state
    }
}

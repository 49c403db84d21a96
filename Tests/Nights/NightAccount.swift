import Domain
import Journal
import Reports
import Rollout

/// All that is known of one night when it is over, for anyone who judges it.
struct NightAccount: Sendable {
    /// Counts from 1.
    let number: Int
    let plan: NightStory.Night
    /// The rollout of the run, or of the order.
    var rollout = ""
    /// Nil when nobody started a run.
    var start: NightStory.Start = .none
    /// The vehicles of the run.
    var vehicles: [Int] = []
    /// Vehicles that another program had meanwhile.
    var rivals: Set<Int> = []
    /// What the plan that was carried out says of each vehicle there is.
    var wish: NightWish?
    /// What the plan does always.
    var always: [NightStory.Step] = []
    /// The plan that the files said, and the one that was carried out.
    var written: SHA256Digest?
    var carriedOut: SHA256Digest?
    var counts: VehicleCounts?
    var ending: RunEnding?
    /// Why there was no run: the clock.
    var isRefusedByClock = false
    var events: [Event.Body] = []
    var contacts: [WallTime] = []
    var before = NightScene()
    var after = NightScene()
    /// What was said while the run was at work, with the scene of that moment.
    var said: [(word: NightStory.Word, scene: NightScene)] = []
    /// Doubts that a person has answered with `retry`, and with `clear`, before and in the run.
    var sentAgain: [Int] = []
    var seenTo: [Int] = []
    /// Vehicles that were cleared, of whatever.
    var cleared: [Int] = []
    var beganAt = WallTime(milliseconds: 0)

    init(_ number: Int, _ plan: NightStory.Night) {
        self.number = number
        self.plan = plan
    }

    /// The run got to its end and could say what became of it.
    var isWhole: Bool { counts != nil }
    var isOrder: Bool {
        if case .exec = start { return true }
        return false
    }
    var isClockSetInside: Bool {
        plan.incidents.contains { incident in
            if case .clock = incident.what { return true }
            return false
        }
    }

    /// Verdicts that this run has given.
    var told: [String: Outcome] {
        var told: [String: Outcome] = [:]
        for event in events {
            if case .vehicleEnded(let id, let verdict) = event { told[id.text] = verdict.outcome }
        }
        return told
    }

    /// What is said of each vehicle at the end.
    var standings: [String: Standing] {
        var standings: [String: Standing] = [:]
        for event in events {
            if case .vehicleStands(let id, let standing) = event { standings[id.text] = standing }
        }
        return standings
    }

    func sentence(_ name: String) -> String {
        var last = ""
        for event in events {
            if case .vehicleEnded(let id, let verdict) = event, id.text == name {
                last = verdict.message
            }
        }
        return last
    }
}

/// A promise that was broken.
package struct BrokenPromise: Sendable, Equatable, CustomStringConvertible {
    /// As docs/promises.md numbers it.
    package let promise: String
    package let night: Int
    package let sentence: String

    package var description: String { "\(promise), night \(night): \(sentence)" }
}

import Base
import Manifest
import Rollout
import Show
import Store

/// Everything that is known of one night after its end, for the judges.
struct NightAccount: Sendable {
    /// The number of the night, from 1.
    let number: Int
    let plan: NightStory.Night
    /// The rollout of the run or of the order.
    var rollout = ""
    /// The start of the run; `none` when there was no run.
    var start: NightStory.Start = .none
    /// The vehicles of the run.
    var vehicles: [Int] = []
    /// The vehicles in the list of its plan.
    var listed: Set<Int> = []
    /// The vehicles in the list as it now is.
    var present: Set<Int> = []
    /// What the vehicles are called.
    var ids = NightNames()
    /// Vehicles on which another program worked at the same time.
    var rivals: Set<Int> = []
    /// The contents of the plan that was carried out, for every vehicle.
    var wish: NightWish?
    /// The steps of `always` in the plan.
    var always: [NightStory.Step] = []
    /// The current release of the files, and those that they deny.
    var release = 0
    var denied: Set<Int> = []
    /// The plan of the files; `carriedOut` is the plan that was carried out.
    var written: SHA256Digest?
    var carriedOut: SHA256Digest?
    var counts: VehicleCounts?
    /// What two surfaces report of the run and is not the same.
    var differences: [String] = []
    var ending: RunEnding?
    /// Whether the clock was the reason that there was no run.
    var isRefusedByClock = false
    /// Whether there was no run because the journal is an earlier copy.
    var isRefusedByRestore = false
    var events: [Event.Body] = []
    var contacts: [WallTime] = []
    /// The vehicles that were begun, each with the time.
    var starts: [(vehicle: VehicleID, time: WallTime)] = []
    var before = NightScene()
    var after = NightScene()
    /// Requests of people during the run, each with the scene at its time.
    var said: [(word: NightStory.Word, scene: NightScene)] = []
    /// Doubts that a person has answered with `retry`, before and during the run; `seenTo` has those
    /// answered with `clear`.
    var sentAgain: [Int] = []
    var seenTo: [Int] = []
    /// Inhibitions that were answered as done, in their order: a vehicle or the depot, and whether it
    /// is inhibited from then on.
    var inhibitions: [(vehicle: Int?, isInhibited: Bool)] = []
    /// Whether a command that was offered after a rehearsal works on real vehicles.
    var isOfferReal = false
    /// Whether a list with one module in two rows was read.
    var isTwinRead = false
    /// Whether a rehearsal would have sent notices.
    var hasNotified = false
    /// Vehicles with a debt, a doubt or failures that were cleared.
    var cleared: [Int] = []
    /// The plan of a rollback; nil for all other runs.
    var wayBack: FrozenPlan?
    var beganAt = WallTime(milliseconds: 0)
    /// The keys that files have after the night; nil in a life without key files.
    var keptKeys: Set<[UInt8]>?

    init(_ number: Int, _ plan: NightStory.Night) {
        self.number = number
        self.plan = plan
    }

    /// Whether the execution has ended in this night, or has another verdict than before.
    func hasNewEnd(_ record: ExecutionRecord) -> Bool {
        record.end != before.records.last { $0.number == record.number }?.end
    }

    /// Whether the run reached its end and reported its result.
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

    /// The verdicts that this run has given.
    var told: [String: Outcome] {
        var told: [String: Outcome] = [:]
        for event in events {
            if case .vehicleEnded(let id, let verdict) = event {
                told[ids.name(id)] = verdict.outcome
            }
        }
        return told
    }

    /// The state of each vehicle that was reported at the end.
    var standings: [String: Standing] {
        var standings: [String: Standing] = [:]
        for event in events {
            if case .vehicleStands(let id, let standing) = event {
                standings[ids.name(id)] = standing
            }
        }
        return standings
    }

    /// Vehicles that are not in the list and owe something, or are in doubt.
    var left: Set<String> {
        guard !isOrder else { return [] }
        return after.debts.union(after.doubts).union(after.owing)
            .subtracting(listed.union(vehicles).map(NightDepot.name))
    }

    func sentence(_ name: String) -> String {
        var last = ""
        for event in events {
            if case .vehicleEnded(let id, let verdict) = event, ids.name(id) == name {
                last = verdict.message
            }
        }
        return last
    }
}

/// A broken promise.
package struct BrokenPromise: Sendable, Equatable, CustomStringConvertible {
    /// The number in docs/promises.md.
    package let promise: String
    package let night: Int
    package let sentence: String

    package var description: String { "\(promise), night \(night): \(sentence)" }
}

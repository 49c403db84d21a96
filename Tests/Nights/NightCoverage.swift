import Base
import Show
import Store

/// How often each disturbance met a vehicle in each state, and how often each fault had each
/// outcome.
package struct NightCoverage: Sendable, Equatable {
    package private(set) var cells: [String: Int] = [:]

    package init() {}

    private mutating func add(_ row: String, _ column: String) {
        cells["\(row)\t\(column)", default: 0] += 1
    }

    package mutating func add(_ other: NightCoverage) {
        for (cell, count) in other.cells { cells[cell, default: 0] += count }
    }

    /// Counts the disturbances before a night, by the state of each vehicle.
    mutating func note(
        _ scene: NightScene,
        _ story: NightStory,
        _ rollout: String,
        _ disturbances: [String]
    ) {
        for number in story.vehicles.indices {
            let state = Self.state(scene, rollout, NightDepot.name(number))
            for disturbance in disturbances { add(state, disturbance) }
        }
    }

    /// Counts a run that was refused because of its list.
    mutating func noteRefusal() { add("its list", "was refused") }

    /// Counts a disturbance in a run, by the state of each vehicle in work.
    mutating func note(_ what: NightStory.Event, _ states: [String: ExecutionState]) {
        for state in states.values { add("at work: \(state.rawValue)", what.title) }
        if states.isEmpty { add("at work: none", what.title) }
    }

    /// Counts the outcomes of faults after a night.
    mutating func note(_ account: NightAccount, _ story: NightStory) {
        let told = account.told
        for number in account.vehicles {
            guard let outcome = told[NightDepot.name(number)] else { continue }
            let vehicle = story.vehicles[number]
            for fault in vehicle.faults {
                let word = fault.prefix { $0 != ":" }
                add("fault: \(vehicle.kind.rawValue) \(word)", "ends \(outcome.rawValue)")
            }
            if vehicle.faults.isEmpty {
                add("fault: \(vehicle.kind.rawValue) none", "ends \(outcome.rawValue)")
            }
        }
    }

    private static func state(_ scene: NightScene, _ rollout: String, _ name: String) -> String {
        if scene.isInhibited(name) { return "inhibited" }
        if scene.doubts.contains(name) { return "in doubt" }
        if scene.debts.contains(name) {
            let number = (Int(name.dropFirst()) ?? 1) - 1
            return scene.vehicles[number].isInBootloader ? "debt, in bootloader" : "debt"
        }
        if scene.owing.contains(name) { return "owing a step" }
        guard let record = scene.record(rollout, name) else { return "unknown" }
        guard let end = record.end else { return record.linked ? "waiting" : "not begun" }
        return end.outcome.rawValue
    }

    /// A line for each cell, with row, column and count separated by tabs, including cells that did
    /// not occur.
    package var lines: [String] {
        var all = cells
        for state in Self.states {
            for column in Self.before { all["\(state)\t\(column)", default: 0] += 0 }
        }
        for state in Self.statesAtWork {
            for column in Self.during { all["at work: \(state)\t\(column)", default: 0] += 0 }
        }
        return all.map { "\($0.key)\t\($0.value)" }.sorted()
    }

    /// The possible states of a vehicle before a night, and in a run.
    private static let states =
        ["unknown", "not begun", "waiting", "inhibited", "in doubt", "debt", "debt, in bootloader"]
        + ["owing a step"] + Outcome.allCases.map(\.rawValue)
    private static let statesAtWork =
        ["none"] + ExecutionState.allCases.filter { $0 != .ended }.map(\.rawValue)

    private static let words: [NightStory.Word] = [
        .pause, .resume, .abort, .retryAll, .retry(0), .inhibit(0), .uninhibit(0), .inhibitDepot,
        .uninhibitDepot, .clear(0), .clearDepot, .recallImages, .liftRecalls,
    ]
    private static let before =
        words.map(\.title) + [
            "new images", "other steps", "removed", "added", "renamed", "clock back", "clock on",
            "run", "run --again", "run --limit", "exec", "rollback", "another program",
            "other id, said",
            "other id", "ids exchanged",
        ]
    private static let during =
        words.map(\.title) + [
            "kill", "power cut", "write refused", "adapter gone", "service gone", "TERM",
            "clock back", "clock on",
        ]
}

extension NightStory {
    /// The vehicles that get other modules, each once.
    var refits: [Int] { Set(nights.flatMap(\.refits)).sorted() }
}

extension NightStory.Night {
    /// Whether vehicles get other ids before the night.
    var changesIDs: Bool {
        edits.contains { edit in
            switch edit {
            case .called, .exchanged: true
            default: false
            }
        }
    }

    /// The vehicles that get other modules before the night.
    var refits: [Int] {
        edits.flatMap { edit -> [Int] in
            switch edit {
            case .refitted(let vehicle): [vehicle]
            case .swapped(let one, let other, _): [one, other]
            default: []
            }
        }
    }

    /// Whether a journal is put back before the night.
    var putsBack: Bool {
        edits.contains { edit in
            if case .restore = edit { return true }
            return false
        }
    }

    /// The disturbances before the night, each as one title.
    var disturbances: [String] {
        var list = words.map(\.title)
        for edit in edits {
            switch edit {
            case .newImages: list.append("new images")
            case .recall: list.append("images denied")
            case .steps: list.append("other steps")
            case .remove: list.append("removed")
            case .add: list.append("added")
            case .rename: list.append("renamed")
            case .drives, .stands, .leaves, .returns: break
            case .enrol: list.append("enrol --rotate")
            case .called(_, let isSaid): list.append(isSaid ? "other id, said" : "other id")
            case .exchanged: list.append("ids exchanged")
            case .refitted: list.append("other module")
            case .swapped(_, _, let isSaid):
                list.append(isSaid ? "modules swapped, said" : "modules swapped")
            case .twin: list.append("one module in two rows")
            case .rehearse: list.append("rehearsal of a key")
            case .paste: list.append("rehearsal, and its command")
            case .restore: list.append("journal put back")
            case .accept: list.append("accept-restore")
            }
        }
        if clock < 0 { list.append("clock back") }
        if clock > 0 { list.append("clock on") }
        if rival != nil { list.append("another program") }
        switch start {
        case .run: list.append("run")
        case .again: list.append("run --again")
        case .limit: list.append("run --limit")
        case .exec: list.append("exec")
        case .rotate: list.append("secrets rotate")
        case .rollback: list.append("rollback")
        case .none: break
        }
        return list
    }
}

extension NightStory.Word {
    var title: String {
        switch self {
        case .pause: "pause"
        case .resume: "resume"
        case .abort: "abort"
        case .retryAll: "retry"
        case .retry: "retry VEHICLE"
        case .inhibit: "inhibit"
        case .uninhibit: "uninhibit"
        case .inhibitDepot: "inhibit depot"
        case .uninhibitDepot: "uninhibit depot"
        case .clear: "clear VEHICLE"
        case .clearDepot: "clear"
        case .recallImages: "recall"
        case .liftRecalls: "recall --lift"
        }
    }
}

extension NightStory.Event {
    var title: String {
        switch self {
        case .kill: "kill"
        case .power: "power cut"
        case .refusedWrite: "write refused"
        case .adapterGone: "adapter gone"
        case .serviceGone: "service gone"
        case .stop: "TERM"
        case .clock(let seconds): seconds < 0 ? "clock back" : "clock on"
        case .say(let word): word.title
        case .suspended: "stopped"
        case .cutOff: "cut off"
        case .answerLost: "answer lost"
        case .databaseAway: "database away"
        }
    }
}

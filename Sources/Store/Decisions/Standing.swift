package import Base

/// The state of a vehicle at the end of a run, over all runs.
package struct Standing: Sendable, Equatable {
    package let serial: Serial
    /// The last verdict of its execution; nil while it has none.
    package let verdict: Verdict?
    /// The earlier run that reached the verdict; nil when it is the run that reports this.
    package let run: Int?
    /// The gateway of that run, in a fleet.
    package var gateway: String?
    /// The state of a vehicle without a verdict.
    package let state: State
    /// The update that was begun on its module and is not proven.
    package var debt: Unproven?
    /// A command that may or may not have been carried out.
    package var doubt: String?
    /// Steps of `always` that are still to be done.
    package var owed: [String] = []
    /// What it waits for before it is begun; nil when that is not known.
    package var waits: String?
    /// The image bytes that the reporting run has sent to a vehicle without a verdict.
    package var sent = ByteCount.zero

    /// The states of a vehicle without a verdict.
    package enum State: String, CaseIterable, Sendable {
        /// It was asked to start its bootloader and has not been seen to leave it.
        case inBootloader = "in-bootloader"
        /// Its module has the whole image.
        case unproven
        /// Its module has part of the image.
        case midUpdate = "mid-update"
        /// A link to it was made, or a step acted.
        case waiting
        case notBegun = "not-begun"
    }

    /// An update that was begun and is not proven.
    package struct Unproven: Sendable, Equatable {
        /// The name of the image.
        package let image: String
        let rollout: String
        /// The run that began it.
        let run: Int
        /// The run in which the module was seen last.
        let seenRun: Int
        /// The share of the image that the module has.
        package let percent: Int
        /// The gateways of these runs, in a fleet.
        package var gateway: String?
        package var seenGateway: String?

        package init(image: String, rollout: String, run: Int, seenRun: Int, percent: Int) {
            self.image = image
            self.rollout = rollout
            self.run = run
            self.seenRun = seenRun
            self.percent = percent
        }

        /// The names of the two runs.
        package var begun: RunName { RunName(run, of: gateway) }
        package var seen: RunName { RunName(seenRun, of: seenGateway) }
    }

    /// The name of the earlier run.
    package var runName: RunName? { run.map { RunName($0, of: gateway) } }

    package init(_ serial: Serial, _ state: State, verdict: Verdict? = nil, run: Int? = nil) {
        self.serial = serial
        self.state = state
        self.verdict = verdict
        self.run = run
    }

    /// Whether there is more to report than the verdict that this run has reported.
    package var isNews: Bool {
        verdict == nil || run != nil || debt != nil || doubt != nil || !owed.isEmpty
    }

    /// The verdict, with the bytes and the time that this run has reported.
    package func verdict(_ told: Verdict?) -> Verdict? {
        guard let told, run == nil, told.outcome == verdict?.outcome else { return verdict }
        return told
    }

    /// The name of the count for vehicles without a verdict.
    package static let unfinished = "unfinished"

    /// The outcome, or the name of the count for vehicles without one.
    package var name: String { verdict?.outcome.rawValue ?? Self.unfinished }

    /// For people: the state of the vehicle, and what the next run does with it.
    package var sentence: String {
        if let verdict {
            return runName.map { "\(verdict.message) (run \($0))" } ?? verdict.message
        }
        let image = debt.map { "\($0.image), begun in run \($0.begun)" } ?? "its image"
        let share = debt.map { "\($0.percent) % of " } ?? ""
        var parts: [String]
        switch state {
        case .inBootloader: parts = ["in bootloader at \(share)\(image)", "the next run goes on"]
        case .unproven: parts = ["not proven: \(image)", "the next run settles that first"]
        case .midUpdate: parts = ["in mid-update at \(share)\(image)", "the next run goes on"]
        case .waiting: parts = ["begun, without a verdict yet"]
        case .notBegun: parts = ["not begun"]
        }
        if let doubt { parts.append("nobody knows whether `\(doubt)` was carried out") }
        parts += owed.map { "it owes `\($0)`" }
        if let waits { parts.append(waits) }
        return parts.joined(separator: "; ")
    }

    /// The members in documents.
    var members: [JSONMember] { members(nil) }

    /// The members, with the facts that this run has reported about the verdict.
    package func members(_ told: Verdict?) -> [JSONMember] {
        let value = JSONValue.object([
            "run": run.map { .int($0) },
            "gateway": gateway.map { .string($0) },
            "state": verdict == nil ? .string(state.rawValue) : nil,
            "message": verdict == nil ? .string(sentence) : nil,
            "debt": debt.map { debt in
                .object([
                    "image": .string(debt.image),
                    "rollout": .string(debt.rollout),
                    "run": .int(debt.run),
                    "seen-run": .int(debt.seenRun),
                    "percent": .int(debt.percent),
                    "gateway": debt.gateway.map { .string($0) },
                    "seen-gateway": debt.seenGateway.map { .string($0) },
                ])
            },
            "doubt": doubt.map { .string($0) },
            "owes": owed.isEmpty ? nil : .array(owed.map { .string($0) }),
            "waits": verdict == nil ? waits.map { .string($0) } : nil,
            "bytes": verdict == nil && sent > .zero ? .int(sent.bytes) : nil,
        ])
        return (verdict(told)?.members ?? []) + (value.members ?? [])
    }
}

/// The number of vehicles for each outcome: the only place where a run's vehicles are counted.
package struct VehicleCounts: Sendable, Equatable {
    package private(set) var outcomes: [Outcome: Int] = [:]
    /// Vehicles without a verdict.
    package private(set) var unfinished = 0

    package init(outcomes: [Outcome: Int] = [:], unfinished: Int = 0) {
        self.outcomes = outcomes
        self.unfinished = unfinished
    }

    /// Counts each vehicle once, under its last verdict or as unfinished.
    package init(_ vehicles: some Sequence<Outcome?>) {
        for outcome in vehicles {
            if let outcome { outcomes[outcome, default: 0] += 1 } else { unfinished += 1 }
        }
    }

    /// The counts of `all` vehicles, of which only these are known.
    package init(_ vehicles: [Outcome?], of all: Int) {
        self.init(vehicles)
        unfinished += max(0, all - vehicles.count)
    }

    /// Counts `times` more vehicles under one outcome, or as unfinished.
    package mutating func add(_ outcome: Outcome?, times: Int) {
        if let outcome { outcomes[outcome, default: 0] += times } else { unfinished += times }
    }

    /// The counts of a document that has them; nil for any other text.
    package init?(text: String) {
        guard let members = try? JSONValue(json: text) else { return nil }
        self.init(members)
    }

    package init?(_ members: JSONValue) {
        guard members["unfinished"]?.integer != nil else { return nil }
        func count(_ name: String) -> Int {
            members[name]?.integer.flatMap { Int(exactly: $0) }.map { max(0, $0) } ?? 0
        }
        self.init(unfinished: count("unfinished"))
        for outcome in Outcome.allCases where count(outcome.rawValue) > 0 {
            outcomes[outcome] = count(outcome.rawValue)
        }
    }

    /// The number of vehicles in one of the counts of the last line.
    package func count(_ tally: Outcome.Tally) -> Int {
        Self.sum(outcomes.lazy.filter { $0.key.tally == tally }.map(\.value))
    }

    /// Counts can come from a file, where they are any numbers.
    private static func sum(_ counts: some Sequence<Int>) -> Int {
        counts.reduce(0) { sum, count in
            let (result, isTooLarge) = sum.addingReportingOverflow(count)
            return isTooLarge ? .max : result
        }
    }

    /// For people, such as `41 succeeded, 2 unfinished`.
    package var sentence: String {
        var words = Outcome.allCases.compactMap { outcome in
            outcomes[outcome].flatMap { $0 > 0 ? "\($0) \(outcome.rawValue)" : nil }
        }
        if unfinished > 0 { words.append("\(unfinished) \(Standing.unfinished)") }
        return words.isEmpty ? "no vehicles" : words.joined(separator: ", ")
    }

    package var total: Int { Self.sum(outcomes.values + [unfinished]) }
}

extension VehicleCounts: JSONDescribed {
    private typealias Member = JSONForm<Self>.Member

    package static let jsonForm = JSONForm<VehicleCounts>.object(
        "Counts",
        "Each vehicle once, by its last verdict."
    ) {
        for outcome in Outcome.allCases {
            Member(outcome.rawValue) { $0.outcomes[outcome] ?? 0 }
        }
        Member("unfinished", "Vehicles without a verdict.", \.unfinished)
    }
}

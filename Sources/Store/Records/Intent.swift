package import Base

/// The effect of repeating a step on the vehicle.
package enum Effect: String, CaseIterable, Sendable {
    /// Only reads: repeat freely.
    case observe
    /// Produces a state: it reads, and acts if the state differs, so repeating is safe.
    case converge
    /// Sends an image: offset and checksum show where to continue.
    case transfer
    /// Happens each time it is sent: never sent again when in doubt.
    case once
}

/// Identifies a step of an execution: by its action, never by its place in a list.
package struct StepKey: Sendable, Hashable {
    /// The digest of its action; nil in journals from before steps had one.
    package let digest: SHA256Digest?
    /// Its index among the equal steps of its vehicle, from 0.
    package let ordinal: Int

    package init(_ digest: SHA256Digest?, ordinal: Int = 0) {
        self.digest = digest
        self.ordinal = ordinal
    }

    /// The digest as text; empty without one.
    package var text: String { digest?.description ?? "" }
}

/// A step with effect that is about to be done on one vehicle.
package struct Intent: Sendable, Equatable {
    package let execution: Int
    package let run: Int
    package let rollout: String
    package internal(set) var vehicle: VehicleID
    package let step: StepKey
    /// Its place in the plan's list, for people.
    package let place: Int
    package let effect: Effect
    package let description: String
    package let image: SHA256Digest?
    package let begun: WallTime

    package init(
        of execution: ExecutionRecord,
        step: StepKey,
        place: Int,
        effect: Effect,
        description: String,
        image: SHA256Digest? = nil,
        begun: WallTime
    ) {
        self.init(
            execution: execution.number,
            run: execution.run,
            rollout: execution.rollout,
            vehicle: execution.vehicle,
            step: step,
            place: place,
            effect: effect,
            description: description,
            image: image,
            begun: begun
        )
    }

    package init(
        execution: Int,
        run: Int,
        rollout: String,
        vehicle: VehicleID,
        step: StepKey,
        place: Int,
        effect: Effect,
        description: String,
        image: SHA256Digest? = nil,
        begun: WallTime
    ) {
        self.execution = execution
        self.run = run
        self.rollout = rollout
        self.vehicle = vehicle
        self.step = step
        self.place = place
        self.effect = effect
        self.description = description
        self.image = image
        self.begun = begun
    }

    static let columns =
        "execution, run, rollout, vehicle, digest, ordinal, place, effect, description, image, begun"

    /// In the order of `columns`.
    var values: [Value] {
        [
            Value(execution), Value(run), .text(rollout), .text(vehicle.text),
            .text(step.text), Value(step.ordinal), Value(place),
            .text(effect.rawValue), .text(description), Value(image?.description), Value(begun),
        ]
    }
}

/// Names one intent in the journal.
package struct IntentID: Hashable, Sendable, Comparable, CustomStringConvertible {
    let row: Int64

    package var description: String { "\(row)" }

    package static func < (left: IntentID, right: IntentID) -> Bool { left.row < right.row }
}

/// An intent in the journal; without a settlement it is in doubt.
package struct IntentRecord: JournalRecord, Sendable, Equatable {
    package let id: IntentID
    package let intent: Intent
    package let settlement: Settlement?
    /// The name of the run that began it.
    package var runName: RunName { RunName(intent.run, of: gateway) }
    /// The gateway of that run; nil for a run of this machine's journal.
    package let gateway: String?

    /// The result of an intent.
    package struct Settlement: Sendable, Equatable {
        package let outcome: String
        package let time: WallTime
    }

    /// Whether it is unknown if the step was carried out.
    package var isDoubt: Bool {
        intent.effect == .once && (settlement.map { $0.outcome == Self.doubtful } ?? true)
    }

    /// The outcomes with which a step's intent is settled.
    package static let done = "done"
    /// It certainly had no effect.
    package static let failed = "failed"
    package static let doubtful = "in-doubt"

    static let columns = "id, " + Intent.columns + ", outcome, settled"

    /// An unsettled intent that comes from somewhere other than a journal.
    package init(_ intent: Intent, of gateway: String) {
        id = IntentID(row: 0)
        self.intent = intent
        self.gateway = gateway
        settlement = nil
    }

    init(row: borrowing SQLStatement) throws(JournalError) {
        gateway = nil
        id = IntentID(row: row.integer(0))
        let digest = row.text(5) ?? ""
        intent = Intent(
            execution: Int(row.integer(1)),
            run: Int(row.integer(2)),
            rollout: row.text(3) ?? "",
            vehicle: try row.value(4) { VehicleID($0) },
            step: StepKey(
                digest.isEmpty ? nil : try row.value(5) { SHA256Digest($0) },
                ordinal: Int(row.integer(6))
            ),
            place: Int(row.integer(7)),
            effect: try row.value(8) { Effect(rawValue: $0) },
            description: row.text(9) ?? "",
            image: try row.optional(10) { SHA256Digest($0) },
            begun: WallTime(milliseconds: row.integer(11))
        )
        if let outcome = row.text(12), let time = row.time(13) {
            settlement = Settlement(outcome: outcome, time: time)
        } else {
            settlement = nil
        }
    }
}

/// An act that is about to be done on a module: its intent, and what is written together with it.
package struct Act: Sendable, Equatable {
    package let intent: Intent
    /// The module's debt from then on.
    package let debt: Debt?
    /// The steps that the execution owes from then on, for its first act.
    package let owed: [OwedStep]
    /// The version that the module ran before the debt was opened; nil when it is not known.
    package let before: FirmwareVersion?
    /// Whether other gateways keep it, too.
    package var isFleets = false

    package init(
        _ intent: Intent,
        opening debt: Debt? = nil,
        owing owed: [OwedStep] = [],
        over before: FirmwareVersion? = nil
    ) {
        (self.intent, self.debt, self.owed, self.before) = (intent, debt, owed, before)
    }
}

package import Domain

/// What repeating a step does to the vehicle.
package enum Effect: String, CaseIterable, Sendable {
    /// Only reads: repeat freely.
    case observe
    /// Brings about a state: read, act if it differs, so repeating is safe.
    case converge
    /// Sends an image: offset and checksum say where to go on.
    case transfer
    /// Happens each time it is sent: never sent again when in doubt.
    case once
}

/// A step with effect that is about to be done on one vehicle.
package struct Intent: Sendable, Equatable {
    package let rollout: String
    package let vehicle: VehicleID
    /// Index in the plan's list of steps.
    package let step: Int
    package let effect: Effect
    package let description: String
    package let image: SHA256Digest?
    package let begun: WallTime

    package init(
        rollout: String,
        vehicle: VehicleID,
        step: Int,
        effect: Effect,
        description: String,
        image: SHA256Digest? = nil,
        begun: WallTime
    ) {
        self.rollout = rollout
        self.vehicle = vehicle
        self.step = step
        self.effect = effect
        self.description = description
        self.image = image
        self.begun = begun
    }
}

/// Names one intent in the journal.
package struct IntentID: Hashable, Sendable, Comparable, CustomStringConvertible {
    let row: Int64

    package var description: String { "\(row)" }

    package static func < (left: IntentID, right: IntentID) -> Bool { left.row < right.row }
}

/// An intent as the journal has it; without a settlement it is in doubt.
package struct IntentRecord: Sendable, Equatable {
    package let id: IntentID
    package let intent: Intent
    package let settlement: Settlement?

    /// What became of an intent.
    package struct Settlement: Sendable, Equatable {
        package let outcome: String
        package let time: WallTime
    }

    static let columns =
        "id, rollout, vehicle, step, effect, description, image, begun, outcome, settled"

    init(row: borrowing Statement) throws(JournalError) {
        id = IntentID(row: row.integer(0))
        intent = Intent(
            rollout: row.text(1) ?? "",
            vehicle: try row.value(2) { VehicleID($0) },
            step: Int(row.integer(3)),
            effect: try row.value(4) { Effect(rawValue: $0) },
            description: row.text(5) ?? "",
            image: try row.optional(6) { SHA256Digest($0) },
            begun: WallTime(milliseconds: row.integer(7))
        )
        if let outcome = row.text(8), let time = row.time(9) {
            settlement = Settlement(outcome: outcome, time: time)
        } else {
            settlement = nil
        }
    }
}

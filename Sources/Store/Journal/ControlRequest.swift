package import Base

/// A request of a person or another process to a rollout: stored in the journal, carried out by the
/// run.
package struct ControlRequest: Sendable, Equatable {
    package enum Kind: String, CaseIterable, Sendable {
        /// Take failed and unreachable vehicles again.
        case retry
        /// End at the next safe point: another run takes over.
        case yield
    }

    package let kind: Kind
    /// Nil for the active rollout, whichever it is.
    package let rollout: String?
    /// The vehicles of `retry`; empty for all.
    package let vehicles: [VehicleID]
    package let reason: String
    package let made: WallTime

    package init(
        _ kind: Kind,
        rollout: String?,
        vehicles: [VehicleID] = [],
        reason: String = "",
        at made: WallTime
    ) {
        self.kind = kind
        self.rollout = rollout
        self.vehicles = vehicles
        self.reason = reason
        self.made = made
    }

    static let columns = "kind, rollout, vehicles, reason, made"

    /// In the order of `columns`.
    var values: [Value] {
        [
            .text(kind.rawValue), Value(rollout),
            .text(vehicles.map(\.text).joined(separator: "\n")), .text(reason), Value(made),
        ]
    }
}

/// A request in the journal that was not answered yet.
package struct OpenRequest: JournalRecord, Sendable, Equatable {
    package let id: Int64
    package let request: ControlRequest

    static let columns = "id, " + ControlRequest.columns

    init(row: borrowing SQLStatement) throws(JournalError) {
        id = row.integer(0)
        request = ControlRequest(
            try row.value(1) { ControlRequest.Kind(rawValue: $0) },
            rollout: row.text(2),
            vehicles: (row.text(3) ?? "").split(separator: "\n").compactMap { VehicleID($0) },
            reason: row.text(4) ?? "",
            at: WallTime(milliseconds: row.integer(5))
        )
    }
}

/// A vehicle, or with nil the whole depot, that must be left alone.
package struct Inhibit: JournalRecord, Sendable, Equatable {
    package let vehicle: VehicleID?
    package let reason: String
    /// Nil means until it is lifted.
    package let expires: WallTime?
    package let author: String
    package let made: WallTime

    package init(
        _ vehicle: VehicleID?,
        reason: String,
        expires: WallTime?,
        author: String = "",
        at made: WallTime
    ) {
        self.vehicle = vehicle
        self.reason = reason
        self.expires = expires
        self.author = author
        self.made = made
    }

    package func holds(at time: WallTime) -> Bool { expires.map { time < $0 } ?? true }

    static let columns = "vehicle, reason, expires, made, author"

    init(row: borrowing SQLStatement) throws(JournalError) {
        let text = row.text(0) ?? ""
        vehicle = text.isEmpty ? nil : VehicleID(text)
        reason = row.text(1) ?? ""
        expires = row.time(2)
        made = WallTime(milliseconds: row.integer(3))
        author = row.text(4) ?? ""
    }

    /// In the order of `columns`; the depot is the vehicle without a name.
    var values: [Value] {
        [
            .text(vehicle?.text ?? ""), .text(reason), Value(expires), Value(made),
            .text(author),
        ]
    }
}

/// How often a vehicle has failed on one release.
package struct FailureCount: JournalRecord, Sendable, Equatable {
    package let vehicle: VehicleID
    /// The digest of the image, or of the plan when there is no image.
    package let release: SHA256Digest
    package let count: Int
    /// The last failure's sentence.
    package let message: String
    package let last: WallTime

    package init(
        _ vehicle: VehicleID,
        release: SHA256Digest,
        count: Int,
        message: String,
        last: WallTime
    ) {
        self.vehicle = vehicle
        self.release = release
        self.count = count
        self.message = message
        self.last = last
    }

    static let columns = "vehicle, release, count, message, last"

    init(row: borrowing SQLStatement) throws(JournalError) {
        vehicle = try row.value(0) { VehicleID($0) }
        release = try row.value(1) { SHA256Digest($0) }
        count = Int(row.integer(2))
        message = row.text(3) ?? ""
        last = WallTime(milliseconds: row.integer(4))
    }
}

/// The size and duration of one update: the plan estimates from these.
package struct Measure: JournalRecord, Sendable, Equatable {
    package let vehicle: VehicleID
    /// Family and profile, for vehicles that have no measure of their own.
    package let model: String
    package let bytes: ByteCount
    /// How long an adapter was used.
    package let airtime: Duration
    package let made: WallTime

    package init(
        vehicle: VehicleID,
        model: String,
        bytes: ByteCount,
        airtime: Duration,
        at made: WallTime
    ) {
        self.vehicle = vehicle
        self.model = model
        self.bytes = bytes
        self.airtime = airtime
        self.made = made
    }

    static let columns = "vehicle, model, bytes, airtime, made"

    init(row: borrowing SQLStatement) throws(JournalError) {
        vehicle = try row.value(0) { VehicleID($0) }
        model = row.text(1) ?? ""
        bytes = ByteCount(count: UInt(clamping: row.integer(2)))
        airtime = .milliseconds(row.integer(3))
        made = WallTime(milliseconds: row.integer(4))
    }

    /// In the order of `columns`.
    var values: [Value] {
        [
            .text(vehicle.text), .text(model), Value(bytes.bytes),
            .integer(airtime.nanoseconds / 1_000_000), Value(made),
        ]
    }
}

extension Inhibit {
    /// The sentence for people about a vehicle that is inhibited.
    package var sentence: String {
        let whom = vehicle == nil ? "the depot is inhibited" : "inhibited"
        let until = expires.map { " until \($0)" } ?? ""
        return "\(whom)\(until): \(reason)"
    }
}

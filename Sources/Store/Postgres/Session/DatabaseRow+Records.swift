package import Base

// Records from rows of a fleet's tables. Text that a newer program wrote in another form is left out.

extension DatabaseRow: RecordRow {
    func value<V>(_ column: Int, _ read: (String) -> V?) throws(JournalError) -> V {
        guard let value = optional(column, read) else {
            throw JournalError(.corrupt, "read", words: "column \(column) has another form")
        }
        return value
    }

    func optional<V>(_ column: Int, _ read: (String) -> V?) -> V? { text(column).flatMap(read) }

    func time(_ column: Int) -> WallTime? {
        integer(column).map { WallTime(milliseconds: $0) }
    }

    func vehicle(_ column: Int) -> VehicleID? { text(column).flatMap { VehicleID($0) } }

    /// The digest of a step, which is empty for a step without one.
    func step(_ column: Int) -> StepKey {
        StepKey(text(column).flatMap { SHA256Digest($0) }, ordinal: Int(integer(column + 1) ?? 0))
    }
}

extension SHA256Digest {
    /// A digest that is only shown; zeros for text that is no digest.
    package init(shown text: String) {
        let zeros = [UInt8](repeating: 0, count: 32)
        guard let digest = SHA256Digest(text) ?? SHA256Digest(bytes: zeros) else {
            preconditionFailure("a digest has 32 bytes")
        }
        self = digest
    }
}

extension Hold {
    /// The columns are kind, reason, author and time.
    init?(_ row: DatabaseRow, from first: Int, of rollout: String) {
        guard let kind = row.text(first).flatMap({ Kind(rawValue: $0) }) else { return nil }
        self.init(
            kind,
            rollout,
            reason: row.text(first + 1) ?? "",
            author: row.text(first + 2) ?? "",
            at: row.time(first + 3) ?? WallTime(milliseconds: 0)
        )
    }
}

extension Inhibit {
    /// The columns are vehicle, reason, author, expiry and time.
    init(_ row: DatabaseRow, from first: Int) {
        self.init(
            row.vehicle(first),
            reason: row.text(first + 1) ?? "",
            expires: row.time(first + 3),
            author: row.text(first + 2) ?? "",
            at: row.time(first + 4) ?? WallTime(milliseconds: 0)
        )
    }
}

extension FleetEnd {
    /// The columns are outcome, failure, sentence, version and gateway.
    init?(_ row: DatabaseRow, from first: Int, of vehicle: VehicleID?) {
        guard let vehicle, let outcome = row.text(first).flatMap({ Outcome(rawValue: $0) }) else {
            return nil
        }
        self.init(
            vehicle: vehicle,
            outcome: outcome,
            failure: row.text(first + 1).flatMap { FailureClass(rawValue: $0) },
            sentence: row.text(first + 2) ?? "",
            version: row.text(first + 3).flatMap { FirmwareVersion($0) },
            gateway: row.text(first + 4) ?? ""
        )
    }
}

extension FailureCount {
    static let shared =
        "SELECT vehicle, release, count, message, (extract(epoch FROM last) * 1000)::bigint FROM yardmaster.failure"

    init?(_ row: DatabaseRow) {
        guard let vehicle = row.vehicle(0), let release = row.text(1) else { return nil }
        self.init(
            vehicle,
            release: SHA256Digest(shown: release),
            count: Int(row.integer(2) ?? 0),
            message: row.text(3) ?? "",
            last: row.time(4) ?? WallTime(milliseconds: 0)
        )
    }
}

extension Debt {
    static let shared = """
        SELECT serial, vehicle, rollout, gateway, run, (extract(epoch FROM begun) * 1000)::bigint,
          image, name, version, target, total, acknowledged, in_bootloader, seen_gateway, seen_run
        FROM yardmaster.debt
        """

    /// A debt as all gateways know it; only the module can report the stage of its update.
    init?(_ row: DatabaseRow) {
        guard let serial = row.text(0).flatMap({ Serial($0) }), let vehicle = row.vehicle(1),
            let rollout = row.text(2), let gateway = row.text(3), let image = row.text(6)
        else { return nil }
        let run = Int(row.integer(4) ?? 0)
        self.init(
            serial: serial,
            vehicle: vehicle,
            rollout: rollout,
            execution: 0,
            run: run,
            begun: row.time(5) ?? WallTime(milliseconds: 0),
            image: SHA256Digest(shown: image),
            name: row.text(7) ?? "",
            version: row.text(8).flatMap { FirmwareVersion($0) },
            target: row.text(9) ?? "",
            total: Int(row.integer(10) ?? 0),
            stage: ""
        )
        self.gateway = gateway
        acknowledged = Int(row.integer(11) ?? 0)
        inBootloader = row.isTrue(12)
        // A gateway that has reported nothing yet has seen it when it began.
        let seen = row.text(13)
        seenGateway = seen ?? gateway
        seenRun = row.integer(14).map { Int($0) } ?? (seen == nil ? run : 0)
    }
}

extension IntentRecord {
    /// A command in doubt; the columns are vehicle, rollout, digest, ordinal, action, gateway, run and time.
    init?(doubt row: DatabaseRow) {
        guard let vehicle = row.vehicle(0), let rollout = row.text(1), let action = row.text(4),
            let gateway = row.text(5)
        else { return nil }
        let intent = Intent(
            execution: 0,
            run: Int(row.integer(6) ?? 0),
            rollout: rollout,
            vehicle: vehicle,
            step: row.step(2),
            place: 0,
            effect: .once,
            description: action,
            begun: row.time(7) ?? WallTime(milliseconds: 0)
        )
        self.init(intent, of: gateway)
    }
}

extension OwedStep {
    static let shared =
        "SELECT vehicle, rollout, digest, ordinal, action, gateway, run FROM yardmaster.owed"

    init?(_ row: DatabaseRow) {
        guard let vehicle = row.vehicle(0), let rollout = row.text(1), let action = row.text(4),
            let gateway = row.text(5)
        else { return nil }
        let run = RunName(Int(row.integer(6) ?? 0), of: gateway)
        self.init(row.step(2), action, of: rollout, to: vehicle, since: run)
    }
}

import Base

extension ExecutionRecord {
    private static let fields = [
        "rollout", "vehicle", "serial", "plan", "beginning", "state", "attempt", "run", "acted",
        "forgiven", "image", "total_bytes", "acknowledged", "restarts", "interruptions",
        "settle_deadline", "in_bootloader", "bootloader_place", "stage", "part", "target_seen",
        "version_before", "version_after", "outcome", "failure", "message", "started", "updated",
        "ended", "next_label", "next_time", "linked", "apart",
    ]

    static let columns = "number, " + fields.joined(separator: ", ")

    static let insert = """
        INSERT INTO executions (\(fields.joined(separator: ", ")))
        VALUES (\(fields.map { _ in "?" }.joined(separator: ", ")))
        """

    /// The columns that change while a vehicle is worked on.
    private static let moving = [
        "state", "attempt", "image", "total_bytes", "acknowledged", "restarts", "interruptions",
        "settle_deadline", "in_bootloader", "bootloader_place", "stage", "part", "target_seen",
        "version_before", "version_after", "updated", "next_label", "next_time", "linked",
    ]
    /// The columns that change with a verdict, or when another run or beginning takes the execution
    /// over.
    private static let standing = ["outcome", "failure", "message", "ended", "run", "beginning"]

    private static func update(_ fields: [String], where condition: String) -> String {
        "UPDATE executions SET " + fields.map { "\($0) = ?" }.joined(separator: ", ")
            + ", acted = max(acted, ?) WHERE number = ?" + condition
    }

    /// Overwrites all columns that can change, except that it never clears `acted`.
    static let update = update(moving + standing, where: "")

    /// Overwrites only the columns that change during the work: this touches no index, no other
    /// table and no trigger.
    ///
    /// It finds no row when there is a verdict, or when the row belongs to another run.
    static let advance = update(
        moving,
        where: " AND outcome IS NULL AND run = ? AND beginning = ?"
    )

    /// In the order of `fields`.
    var values: [Value] {
        [
            .text(rollout), .text(vehicle.text), .text(serial.text), Value(plan?.description),
            Value(beginning), .text(state.rawValue), Value(attempt), Value(run),
            Value(acted ? 1 : 0), Value(forgiven ? 1 : 0),
            Value(image?.description), Value(totalBytes?.bytes), Value(acknowledged?.bytes),
            Value(restarts), Value(interruptions), Value(settleDeadline),
            Value(inBootloader ? 1 : 0), Value(bootloaderPlace), .text(stage), Value(part),
            Value(targetSeen ? 1 : 0),
            Value(versionBefore?.description), Value(versionAfter?.description),
            Value(end?.outcome.rawValue), Value(end?.failure?.rawValue), Value(end?.message),
            Value(started), Value(updated), Value(end?.time),
            Value(nextDeadline?.label), Value(nextDeadline?.time), Value(linked ? 1 : 0),
            Value(apart ? 1 : 0),
        ]
    }

    /// In the order of `update`.
    var changes: [Value] {
        movements + [
            Value(end?.outcome.rawValue), Value(end?.failure?.rawValue), Value(end?.message),
            Value(end?.time), Value(run), Value(beginning), Value(acted ? 1 : 0), Value(number),
        ]
    }

    /// In the order of `advance`.
    var advances: [Value] {
        movements + [Value(acted ? 1 : 0), Value(number), Value(run), Value(beginning)]
    }

    /// In the order of `moving`.
    private var movements: [Value] {
        [
            .text(state.rawValue), Value(attempt), Value(image?.description),
            Value(totalBytes?.bytes), Value(acknowledged?.bytes), Value(restarts),
            Value(interruptions), Value(settleDeadline), Value(inBootloader ? 1 : 0),
            Value(bootloaderPlace), .text(stage), Value(part), Value(targetSeen ? 1 : 0),
            Value(versionBefore?.description), Value(versionAfter?.description), Value(updated),
            Value(nextDeadline?.label), Value(nextDeadline?.time), Value(linked ? 1 : 0),
        ]
    }

    init(row: borrowing SQLStatement) throws(JournalError) {
        self.init(
            number: Int(row.integer(0)),
            rollout: row.text(1) ?? "",
            vehicle: try row.value(2) { VehicleID($0) },
            serial: try row.value(3) { Serial($0) },
            plan: try row.optional(4) { SHA256Digest($0) },
            beginning: Int(row.integer(5)),
            run: Int(row.integer(8)),
            started: WallTime(milliseconds: row.integer(27))
        )
        state = try row.value(6) { ExecutionState(rawValue: $0) }
        attempt = Int(row.integer(7))
        acted = row.isTrue(9)
        forgiven = row.isTrue(10)
        image = try row.optional(11) { SHA256Digest($0) }
        totalBytes = try row.optional(12) { Int($0).flatMap { ByteCount(bytes: $0) } }
        acknowledged = try row.optional(13) { Int($0).flatMap { ByteCount(bytes: $0) } }
        restarts = Int(row.integer(14))
        interruptions = Int(row.integer(15))
        settleDeadline = row.time(16)
        inBootloader = row.isTrue(17)
        bootloaderPlace = row.text(18)
        stage = row.text(19) ?? "none"
        part = Int(row.integer(20))
        targetSeen = row.isTrue(21)
        versionBefore = try row.optional(22) { FirmwareVersion($0) }
        versionAfter = try row.optional(23) { FirmwareVersion($0) }
        updated = WallTime(milliseconds: row.integer(28))
        if let outcome = try row.optional(24, { Outcome(rawValue: $0) }) {
            end = End(
                outcome,
                failure: try row.optional(25) { FailureClass(rawValue: $0) },
                message: row.text(26) ?? "",
                at: WallTime(milliseconds: row.integer(29))
            )
        }
        if let label = row.text(30), let time = row.time(31) {
            nextDeadline = Deadline(label, at: time)
        }
        linked = row.isTrue(32)
        apart = row.isTrue(33)
    }
}

extension Value {
    init(_ time: WallTime?) { self = time.map { .integer($0.milliseconds) } ?? .null }
}

extension SQLStatement {
    borrowing func time(_ column: Int) -> WallTime? {
        isNull(column) ? nil : WallTime(milliseconds: integer(column))
    }
}

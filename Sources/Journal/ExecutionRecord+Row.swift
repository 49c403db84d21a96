import Domain

extension ExecutionRecord {
    static let columns = """
        rollout, vehicle, serial, started, state, attempt, run, image, total_bytes, acknowledged, \
        restarts, interruptions, settle_deadline, in_bootloader, version_before, version_after, \
        updated, outcome, failure, message, ended, next_label, next_time, stage, part, target_seen, \
        bootloader_place
        """

    /// Overwrites everything but the identity and the start.
    static let upsert = """
        INSERT INTO executions (\(columns))
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (rollout, vehicle) DO UPDATE SET
            serial = excluded.serial, state = excluded.state, attempt = excluded.attempt,
            run = excluded.run, image = excluded.image, total_bytes = excluded.total_bytes,
            acknowledged = excluded.acknowledged, restarts = excluded.restarts,
            interruptions = excluded.interruptions, settle_deadline = excluded.settle_deadline,
            in_bootloader = excluded.in_bootloader, version_before = excluded.version_before,
            version_after = excluded.version_after, updated = excluded.updated,
            outcome = excluded.outcome, failure = excluded.failure, message = excluded.message,
            ended = excluded.ended, next_label = excluded.next_label,
            next_time = excluded.next_time, stage = excluded.stage, part = excluded.part,
            target_seen = excluded.target_seen, bootloader_place = excluded.bootloader_place
        """

    /// In the order of `columns`.
    var values: [Value] {
        [
            .text(rollout), .text(vehicle.text), .text(serial.text),
            .integer(started.milliseconds), .text(state.rawValue), Value(attempt), Value(run),
            Value(image?.description), Value(totalBytes?.bytes), Value(acknowledged?.bytes),
            Value(restarts), Value(interruptions), Value(settleDeadline),
            Value(inBootloader ? 1 : 0),
            Value(versionBefore?.description), Value(versionAfter?.description), Value(updated),
            Value(end?.outcome.rawValue), Value(end?.failure?.rawValue), Value(end?.message),
            Value(end?.time), Value(nextDeadline?.label), Value(nextDeadline?.time),
            .text(stage), Value(part), Value(targetSeen ? 1 : 0), Value(bootloaderPlace),
        ]
    }

    init(row: borrowing Statement) throws(JournalError) {
        self.init(
            rollout: row.text(0) ?? "",
            vehicle: try row.value(1) { VehicleID($0) },
            serial: try row.value(2) { Serial($0) },
            run: Int(row.integer(6)),
            started: WallTime(milliseconds: row.integer(3))
        )
        state = try row.value(4) { ExecutionState(rawValue: $0) }
        attempt = Int(row.integer(5))
        image = try row.optional(7) { SHA256Digest($0) }
        totalBytes = try row.optional(8) { Int($0).flatMap { ByteCount(bytes: $0) } }
        acknowledged = try row.optional(9) { Int($0).flatMap { ByteCount(bytes: $0) } }
        restarts = Int(row.integer(10))
        interruptions = Int(row.integer(11))
        settleDeadline = row.time(12)
        inBootloader = row.integer(13) != 0
        versionBefore = try row.optional(14) { FirmwareVersion($0) }
        versionAfter = try row.optional(15) { FirmwareVersion($0) }
        updated = WallTime(milliseconds: row.integer(16))
        if let outcome = try row.optional(17, { Outcome(rawValue: $0) }) {
            end = End(
                outcome,
                failure: try row.optional(18) { FailureClass(rawValue: $0) },
                message: row.text(19) ?? "",
                at: WallTime(milliseconds: row.integer(20))
            )
        }
        if let label = row.text(21), let time = row.time(22) {
            nextDeadline = Deadline(label, at: time)
        }
        stage = row.text(23) ?? "none"
        part = Int(row.integer(24))
        targetSeen = row.integer(25) != 0
        bootloaderPlace = row.text(26)
    }
}

extension Value {
    init(_ time: WallTime?) { self = time.map { .integer($0.milliseconds) } ?? .null }
}

extension Statement {
    borrowing func time(_ column: Int32) -> WallTime? {
        isNull(column) ? nil : WallTime(milliseconds: integer(column))
    }
}

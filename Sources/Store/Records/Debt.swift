package import Base

/// An update that was begun on a module and is not proven yet: paid once the module was seen
/// settled.
///
/// It outlives runs, rollouts and their names: every execution on the module pays it first.
package struct Debt: JournalRecord, Sendable, Equatable {
    package let serial: Serial
    package var vehicle: VehicleID
    /// The rollout, execution and run that began it.
    package let rollout: String
    package let execution: Int
    package let run: Int
    package let begun: WallTime
    package let image: SHA256Digest
    /// The image's name in the manifest; empty when an old journal did not record it.
    package let name: String
    package let version: FirmwareVersion?
    /// The part of the module that it replaces; empty for the usual one.
    package let target: String
    package let total: Int
    /// Its progress, in the update session's words.
    package var stage: String
    package var part = 0
    /// How many bytes of the image the module has, according to the module.
    package var acknowledged = 0
    package var interruptions = 0
    package var restarts = 0
    package var settleDeadline: WallTime?
    package var targetSeen = false
    package var inBootloader = false
    package var bootloaderPlace: String?
    /// The run in which the module was seen last.
    package var seenRun: Int
    /// The digest of the conditions of its update; nil when it has none, or when another gateway
    /// began it.
    package var terms: SHA256Digest?
    /// The gateways of these runs; nil for runs of this machine's journal.
    package var gateway: String?
    package var seenGateway: String?

    /// The names of the two runs.
    package var runName: RunName { RunName(run, of: gateway) }
    package var seenName: RunName { RunName(seenRun, of: seenGateway) }

    package init(
        serial: Serial,
        image: SHA256Digest,
        name: String,
        version: FirmwareVersion?,
        target: String,
        total: Int,
        stage: String,
        of execution: ExecutionRecord,
        begun: WallTime
    ) {
        self.serial = serial
        vehicle = execution.vehicle
        rollout = execution.rollout
        self.execution = execution.number
        run = execution.run
        self.begun = begun
        self.image = image
        self.name = name
        self.version = version
        self.target = target
        self.total = total
        self.stage = stage
        seenRun = execution.run
    }

    /// A debt that another gateway began: `execution` is 0 for another rollout's.
    package init(
        serial: Serial,
        vehicle: VehicleID,
        rollout: String,
        execution: Int,
        run: Int,
        begun: WallTime,
        image: SHA256Digest,
        name: String,
        version: FirmwareVersion?,
        target: String,
        total: Int,
        stage: String
    ) {
        self.serial = serial
        self.vehicle = vehicle
        self.rollout = rollout
        self.execution = execution
        self.run = run
        self.begun = begun
        self.image = image
        self.name = name
        self.version = version
        self.target = target
        self.total = total
        self.stage = stage
        seenRun = run
    }

    static let columns = """
        serial, vehicle, rollout, execution, run, begun, image, name, version, target, total, \
        stage, part, acknowledged, interruptions, restarts, settle_deadline, target_seen, \
        in_bootloader, bootloader_place, seen_run, terms
        """

    static let insert = """
        INSERT OR REPLACE INTO debts (\(columns))
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """

    /// Updates the row only if it still exists: a debt that a person has cleared must not return.
    static let update = """
        UPDATE debts SET vehicle = ?, stage = ?, part = ?, acknowledged = ?, interruptions = ?,
            restarts = ?, settle_deadline = ?, target_seen = ?, in_bootloader = ?,
            bootloader_place = ?, seen_run = ?
        WHERE serial = ? AND execution = ? AND image = ?
        """

    init(row: borrowing SQLStatement) throws(JournalError) {
        serial = try row.value(0) { Serial($0) }
        vehicle = try row.value(1) { VehicleID($0) }
        rollout = row.text(2) ?? ""
        execution = Int(row.integer(3))
        run = Int(row.integer(4))
        begun = WallTime(milliseconds: row.integer(5))
        image = try row.value(6) { SHA256Digest($0) }
        name = row.text(7) ?? ""
        version = try row.optional(8) { FirmwareVersion($0) }
        target = row.text(9) ?? ""
        total = Int(row.integer(10))
        stage = row.text(11) ?? ""
        part = Int(row.integer(12))
        acknowledged = Int(row.integer(13))
        interruptions = Int(row.integer(14))
        restarts = Int(row.integer(15))
        settleDeadline = row.time(16)
        targetSeen = row.isTrue(17)
        inBootloader = row.isTrue(18)
        bootloaderPlace = row.text(19)
        seenRun = Int(row.integer(20))
        terms = try row.optional(21) { SHA256Digest($0) }
    }

    /// In the order of `columns`.
    var values: [Value] {
        [
            .text(serial.text), .text(vehicle.text), .text(rollout), Value(execution), Value(run),
            Value(begun), .text(image.description), .text(name), Value(version?.description),
            .text(target), Value(total), .text(stage), Value(part), Value(acknowledged),
            Value(interruptions), Value(restarts), Value(settleDeadline),
            Value(targetSeen ? 1 : 0), Value(inBootloader ? 1 : 0), Value(bootloaderPlace),
            Value(seenRun), Value(terms?.description),
        ]
    }

    /// In the order of `update`.
    var changes: [Value] {
        [
            .text(vehicle.text), .text(stage), Value(part), Value(acknowledged),
            Value(interruptions), Value(restarts), Value(settleDeadline),
            Value(targetSeen ? 1 : 0), Value(inBootloader ? 1 : 0), Value(bootloaderPlace),
            Value(seenRun), .text(serial.text), Value(execution), .text(image.description),
        ]
    }
}

/// The payment of a debt: the module was seen at rest.
package struct Payment: Sendable {
    package let debt: Debt
    /// The outcome of the update's intent.
    package let outcome: String
    package let time: WallTime
    /// Whether the module runs the image for good.
    package let isProof: Bool
    package let word: FleetWord?

    /// The outcome of a report of a proven update.
    package static let proof = "proven"

    package init(
        of debt: Debt,
        as outcome: String,
        at time: WallTime,
        isProof: Bool = false,
        telling word: FleetWord? = nil
    ) {
        self.debt = debt
        self.isProof = isProof
        self.outcome = outcome
        self.time = time
        self.word = word
    }
}

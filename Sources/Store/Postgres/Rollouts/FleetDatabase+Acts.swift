package import Base

/// An act that is about to be done under a right.
package struct FleetAct: Sendable, Equatable {
    package let act: Act
    package let lease: FleetLease
    /// Nil for another rollout, whose current beginning is used.
    package let beginning: Int?
    /// Whether it is owed, and so is also done when nothing may be begun.
    package let isPaying: Bool

    package init(_ act: Act, under lease: FleetLease, beginning: Int?, isPaying: Bool) {
        (self.act, self.lease) = (act, lease)
        (self.beginning, self.isPaying) = (beginning, isPaying)
    }
}

/// Whether an act may be done.
package enum FleetPermit: Sendable, Equatable {
    /// It is recorded: after a crash of this gateway, others find it in doubt.
    case granted
    /// It was done before, by this gateway.
    case done(by: String)
    /// It was begun before, and its result is unknown.
    case doubt(by: String)
    case inhibited(Inhibit)
    case recalled(Recall)
    /// The update server has withdrawn the action that the transfer is for.
    case withdrawn(String)
    /// These gateways may have done it, and have not reported again after a fail-over.
    case awaits(String)
    /// The right is over.
    case fenced
}

/// The fleet's records of one vehicle and its module.
package struct FleetAccounts: Sendable, Equatable {
    /// A step that must be done once, with its result.
    package struct Step: Sendable, Equatable {
        package let rollout: String
        package let step: StepKey
        package let action: String
        /// The gateway that began it.
        package let gateway: String
        /// Nil for a step that is in doubt since its gateway vanished.
        package let outcome: String?
        /// The person who reported the outcome.
        package let author: String?

        /// Whether it is unknown if it was carried out.
        var isDoubt: Bool { outcome == nil || outcome == IntentRecord.doubtful }
    }

    /// The steps of the last beginning of each of its rollouts, and those of earlier ones that are
    /// in doubt.
    package var steps: [Step] = []
    package var debt: Debt?
    package var owed: [OwedStep] = []
    /// Attempts that failed on the radio since the vehicle's last verdict, by rollout.
    package var failures: [String: Int] = [:]
}

extension FleetAccounts {
    /// The columns are kind, rollout, digest, number, action, gateway, and two more of a step or debt.
    fileprivate mutating func add(_ row: DatabaseRow, of vehicle: VehicleID, on serial: Serial) {
        guard let kind = row.text(0), let rollout = row.text(1), let digest = row.text(2),
            let number = row.integer(3).map({ Int($0) }), let action = row.text(4),
            let gateway = row.text(5)
        else { return }
        switch kind {
        case "step":
            steps.append(
                Step(
                    rollout: rollout,
                    step: row.step(2),
                    action: action,
                    gateway: gateway,
                    outcome: row.text(6),
                    author: row.text(7)
                )
            )
        case "debt":
            guard let image = SHA256Digest(digest) else { return }
            debt = Debt(
                serial: serial,
                vehicle: vehicle,
                rollout: rollout,
                execution: 0,
                run: 0,
                begun: WallTime(milliseconds: 0),
                image: image,
                name: action,
                version: row.text(6).flatMap { FirmwareVersion($0) },
                target: row.text(7) ?? "",
                total: number,
                stage: ""
            )
        case "worn": failures[rollout] = number
        default:
            let run = RunName(0, of: gateway)
            owed.append(OwedStep(row.step(2), action, of: rollout, to: vehicle, since: run))
        }
    }
}

extension FleetDatabase {
    /// Records an act before it is done, fenced by the right, and returns whether it is allowed.
    package func intend(
        _ act: FleetAct,
        of holder: FleetHolder
    ) throws(FleetError) -> FleetPermit {
        let (intent, debt, owed) = (act.act.intent, act.act.debt, act.act.owed)
        let operation = "intend `\(intent.description)` on module \(act.lease.serial)"
        let found = try rows(
            operation,
            """
            WITH i AS MATERIALIZED (
              SELECT word, a, b, c, d, e FROM yardmaster.intend(
                $1, $2::bigint, $3::uuid, $4, $5, $6::bigint, $7, $8, $9::integer, $10, $11,
                $12::boolean,
                CASE WHEN $13::text IS NOT NULL THEN ARRAY[$13, $14, $15, $16, $17, $18] END,
                $19::text[], $20::integer[], $21::text[])
            ), gone AS (
              -- A verdict stays until a step with effect is begun.
              UPDATE yardmaster.execution e SET outcome = NULL, failure = NULL,
                sentence = NULL, version = NULL
              FROM i WHERE i.word = 'granted' AND e.rollout = $5 AND e.beginning = $6::bigint
                AND e.vehicle = $7 AND e.state = 'claimed' AND e.outcome IS NOT NULL
            )
            SELECT word, a, b, c, d, e FROM i
            """,
            [
                act.lease.serial.text, "\(act.lease.epoch)", holder.instance, holder.gateway,
                intent.rollout, act.beginning.map { "\($0)" }, intent.vehicle.text,
                intent.step.text, "\(intent.step.ordinal)", intent.effect.rawValue,
                intent.description, "\(act.isPaying)", debt?.image.description, debt?.name,
                debt?.version?.description, debt?.target, debt.map { "\($0.total)" },
                act.act.before?.description, Self.array(owed.map(\.step.text)),
                Self.array(owed.map { "\($0.step.ordinal)" }), Self.array(owed.map(\.action)),
            ]
        )
        guard let row = found.first, let word = row.text(0) else {
            throw FleetError(.refused, operation, "the function answers nothing")
        }
        switch word {
        case "granted": return .granted
        case "done": return .done(by: row.text(1) ?? "")
        case "doubt": return .doubt(by: row.text(1) ?? "")
        case "inhibited": return .inhibited(Inhibit(row, from: 1))
        case "recalled":
            guard let recall = try? Recall(row: row.from(1)) else { return .fenced }
            return .recalled(recall)
        case "withdrawn": return .withdrawn(row.text(1) ?? "")
        case "awaits": return .awaits(row.text(1) ?? "")
        case "fenced": return .fenced
        default: throw FleetError(.refused, operation, "an unknown answer: \(word)")
        }
    }

    /// The updates, doubts and owed steps of a vehicle, from any gateway and rollout.
    package func accounts(
        of vehicle: VehicleID,
        on serial: Serial
    ) throws(FleetError) -> FleetAccounts {
        let found = try rows(
            "read what is owed to \(vehicle)",
            """
            SELECT 'step', s.rollout, s.digest, s.ordinal::bigint, s.action, s.gateway, s.outcome,
              s.author
            FROM yardmaster.step s
            WHERE s.vehicle = $1 AND (s.outcome IS NULL OR s.outcome = 'in-doubt'
              OR s.beginning = (SELECT beginning FROM yardmaster.rollout WHERE name = s.rollout))
            UNION ALL
            SELECT 'debt', rollout, image, total, name, gateway, version, target
            FROM yardmaster.debt WHERE serial = $2
            UNION ALL
            SELECT 'owed', rollout, digest, ordinal::bigint, action, gateway, NULL, NULL
            FROM yardmaster.owed WHERE vehicle = $1
            UNION ALL
            SELECT 'worn', h.rollout, '', sum(h.failures)::bigint, '', '', NULL, NULL
            FROM yardmaster.hearing h JOIN yardmaster.rollout r ON r.name = h.rollout
              AND r.beginning = h.beginning
            WHERE h.vehicle = $1 AND h.failures > 0 GROUP BY h.rollout
            ORDER BY 1, 2, 3, 4
            """,
            [vehicle.text, serial.text]
        )
        var accounts = FleetAccounts()
        for row in found { accounts.add(row, of: vehicle, on: serial) }
        return accounts
    }

    // MARK: Reports after an act; safe to repeat

    /// Records the result of a step; a person's answer from the meantime stays.
    ///
    /// A step that the database has lost is recorded completely, and replaces an earlier attempt.
    func settleStep(_ word: FleetWord) throws(FleetError) {
        _ = try rows(
            "settle `\(word.sentence)`",
            """
            WITH known AS (
              UPDATE yardmaster.step SET outcome = $1, settled = yardmaster.clock()
              WHERE rollout = $2 AND vehicle = $3 AND digest = $4 AND ordinal = $5::integer
                AND instance = $6::uuid AND epoch = $7::bigint
                AND (outcome IS NULL OR outcome = 'in-doubt' AND author IS NULL)
            )
            INSERT INTO yardmaster.step AS n (rollout, beginning, vehicle, digest, ordinal,
              serial, action, epoch, instance, gateway, begun, outcome, settled)
            SELECT $2, $8::bigint, $3, $4, $5::integer, $9, $10, $7::bigint, $6::uuid, $11,
              yardmaster.clock(), $1, yardmaster.clock()
            WHERE $8::bigint > 0 AND NOT EXISTS (SELECT FROM yardmaster.step s
              WHERE s.rollout = $2 AND s.vehicle = $3 AND s.digest = $4
                AND s.ordinal = $5::integer AND s.instance = $6::uuid AND s.epoch = $7::bigint)
            ON CONFLICT (rollout, beginning, vehicle, digest, ordinal) DO UPDATE SET
              outcome = excluded.outcome, settled = excluded.settled, epoch = excluded.epoch,
              instance = excluded.instance, gateway = excluded.gateway
            WHERE n.epoch < excluded.epoch AND n.outcome IS DISTINCT FROM 'done'
              AND n.author IS NULL
            """,
            [
                word.outcome, word.rollout, word.vehicle.text, word.digest, "\(word.ordinal)",
                word.instance, "\(word.epoch)", "\(word.beginning)", word.serial.text,
                word.sentence, word.gateway,
            ]
        )
    }

    /// Removes the debt of a module that was seen settled; a later debt stays.
    ///
    /// `rollout` is the one whose update is proven by that; nil when none is.
    package func payDebt(
        of lease: FleetLease,
        image: String,
        proving rollout: String? = nil
    ) throws(FleetError) {
        _ = try rows(
            "pay the debt of module \(lease.serial)",
            """
            WITH proven AS (
              UPDATE yardmaster.transfer SET proven = true
              WHERE serial = $1 AND image = $2 AND rollout = $4
            )
            DELETE FROM yardmaster.debt WHERE serial = $1 AND image = $2 AND epoch <= $3::bigint
            """,
            [lease.serial.text, image, "\(lease.epoch)", rollout]
        )
    }

    /// Removes an owed step that was done; one that is owed since a later right stays.
    func payOwed(_ word: FleetWord) throws(FleetError) {
        _ = try rows(
            "pay what \(word.vehicle) is owed",
            """
            DELETE FROM yardmaster.owed WHERE rollout = $1 AND vehicle = $2 AND digest = $3
              AND ordinal = $4::integer AND epoch <= $5::bigint
            """,
            [
                word.rollout, word.vehicle.text, word.digest, "\(word.ordinal)",
                "\(word.epoch)",
            ]
        )
    }
}

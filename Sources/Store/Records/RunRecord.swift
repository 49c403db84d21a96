package import Base

/// One start of the program on one rollout.
package struct RunRecord: JournalRecord, Sendable, Equatable {
    /// Counts from 1 within the state directory.
    package let number: Int
    package let rollout: String
    package let plan: SHA256Digest
    package let started: WallTime
    /// The seed when the radio was simulated.
    package let seed: UInt64?
    /// Whether it is an order of `exec`: a rollout of its own, which commands mean only when it is
    /// named.
    package let isOrder: Bool
    /// Nil while the run is active.
    package let end: End?
    /// The gateway of the run; nil for a run of this machine's journal.
    package let gateway: String?

    package var name: RunName { RunName(number, of: gateway) }

    /// How a run ended.
    package struct End: Sendable, Equatable {
        package let time: WallTime
        /// Nil when the run was killed and a later run found it open.
        package let exitCode: Int?
        package let reason: String

        package init(at time: WallTime, exitCode: Int?, reason: String) {
            self.time = time
            self.exitCode = exitCode
            self.reason = reason
        }
    }

    /// A run that comes from somewhere other than a journal.
    package init(
        _ name: RunName,
        of rollout: String,
        plan: SHA256Digest,
        started: WallTime,
        seed: UInt64? = nil,
        isOrder: Bool = false,
        end: End? = nil
    ) {
        number = name.number
        gateway = name.gateway
        self.rollout = rollout
        self.plan = plan
        self.started = started
        self.seed = seed
        self.isOrder = isOrder
        self.end = end
    }

    static let columns = "number, rollout, plan, started, seed, ended, exit_code, reason, is_order"

    init(row: borrowing SQLStatement) throws(JournalError) {
        gateway = nil
        number = Int(row.integer(0))
        rollout = row.text(1) ?? ""
        plan = try row.value(2) { SHA256Digest($0) }
        started = WallTime(milliseconds: row.integer(3))
        seed = try row.optional(4) { UInt64($0) }
        isOrder = row.isTrue(8)
        guard !row.isNull(5) else {
            end = nil
            return
        }
        end = End(
            at: WallTime(milliseconds: row.integer(5)),
            exitCode: row.isNull(6) ? nil : Int(row.integer(6)),
            reason: row.text(7) ?? ""
        )
    }
}

import Base

extension FleetDatabase {
    package func history() throws(FleetError) -> FleetHistory {
        let found = try rows(
            "read the history",
            """
            SELECT h.system_identifier, s.system_identifier::text,
              h.timeline, substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8),
              h.module_table = 'yardmaster.module'::regclass::oid, h.generation,
              (extract(epoch FROM h.claims_after - yardmaster.clock()) * 1000000)::bigint,
              (SELECT string_agg(DISTINCT gateway, ', ' ORDER BY gateway)
                FROM yardmaster.awaited WHERE was_at_work),
              (SELECT string_agg(DISTINCT gateway, ', ' ORDER BY gateway) FROM yardmaster.awaited)
            FROM yardmaster.history h, pg_control_system() s
            """
        )
        guard let row = found.first, let recordedSystem = row.text(0), let system = row.text(1),
            let recordedTimeline = row.text(2), let timeline = row.text(3),
            let generation = row.integer(5), let wait = row.integer(6)
        else { throw FleetError(.noSchema, "read the history", "the table is empty") }
        return FleetHistory(
            recordedSystem: recordedSystem,
            system: system,
            recordedTimeline: recordedTimeline,
            timeline: timeline,
            isSameTable: row.isTrue(4),
            generation: Int(generation),
            wait: max(.zero, .microseconds(wait)),
            awaited: row.text(7),
            unheard: row.text(8)
        )
    }

    /// The guard's current decision; when another server took over, this is recorded and the wait
    /// begins.
    package func guardedHistory(
        known: Int?,
        terms: LeaseTerms
    ) throws(FleetError) -> EpochGuard {
        let verdict = EpochGuard(try history(), known: known)
        guard case .movedOn(let old, let new) = verdict else { return verdict }
        _ = try rows(
            "write down the new timeline",
            "SELECT yardmaster.move_on($1, $2, $3::bigint)",
            [new, old, (terms.length + terms.takeoverWait).microseconds]
        )
        return EpochGuard(try history(), known: known)
    }

    /// Has nothing granted for as long as rights last that the server's clock has ended before their time.
    package func wait(terms: LeaseTerms) throws(FleetError) {
        _ = try rows(
            "wait for rights that a clock has ended",
            "SELECT yardmaster.move_on(timeline, timeline, $1::bigint) FROM yardmaster.history",
            [(terms.length + terms.takeoverWait).microseconds]
        )
    }

    /// Records a person's confirmation of a restored database; returns its new generation.
    ///
    /// Holders of rights that were lost have the time to release them first.
    package func acceptRestore(known: Int?, terms: LeaseTerms) throws(FleetError) -> Int {
        let found = try rows(
            "raise the generation",
            """
            UPDATE yardmaster.history
            SET system_identifier = s.system_identifier::text,
              timeline = substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8),
              module_table = 'yardmaster.module'::regclass::oid,
              generation = greatest(generation, $1::bigint) + 1,
              claims_after = greatest(
                claims_after, yardmaster.clock() + $2::bigint * interval '1 microsecond')
            FROM pg_control_system() s
            RETURNING generation
            """,
            ["\(known ?? 0)", (terms.length + terms.takeoverWait).microseconds]
        )
        guard let generation = found.first?.integer(0) else {
            throw FleetError(.noSchema, "raise the generation", "the table is empty")
        }
        return Int(generation)
    }
}

extension Duration {
    /// The text of a `bigint` of microseconds.
    var microseconds: String { "\(nanoseconds / 1_000)" }
}

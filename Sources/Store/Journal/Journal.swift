package import Base
import Glibc

/// The record of intents, results and sightings from which an interrupted run is resumed.
///
/// The intent of a step with effect is on disk before the step is done (`intend`), and is settled
/// after it; an intent without a settlement is in doubt. The module knows best: the journal is the
/// cross-check.
///
/// Only one process writes at a time: the holder of the state directory's lock. SQLite blocks, so
/// outside a simulation the executor is a thread of its own.
package actor Journal {
    private let executor: any SerialExecutor
    private var database: JournalDatabase?
    /// Nil for a journal in memory.
    var witness: JournalWitness?

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    private init(executor: any SerialExecutor) { self.executor = executor }

    /// Opens `journal.sqlite` in an existing directory, and creates it when it is missing.
    ///
    /// An empty file was cut off, and is left unchanged.
    package static func open(
        directory: String,
        executor: any SerialExecutor
    ) async throws(JournalError) -> Journal {
        let journal = Journal(executor: executor)
        try await journal.open(directory: directory)
        return journal
    }

    /// A journal in memory, for a simulation that resumes nothing.
    package static func inMemory(
        executor: any SerialExecutor
    ) async throws(JournalError) -> Journal {
        let journal = Journal(executor: executor)
        try await journal.openBlank()
        return journal
    }

    private func openBlank() throws(JournalError) {
        let database = try JournalDatabase(path: ":memory:", mode: .write)
        try BlankJournal.copy(to: database)
        try Schema.prepare(database)
        self.database = database
    }

    /// Moves the log into the main file, so that only that file is left.
    ///
    /// Nothing is lost when this fails or is never called.
    package func close() {
        try? database?.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database = nil
        witness = nil
    }

    /// Makes every write fail after `transactions` more transactions, as when the power is cut
    /// there; nil ends that.
    ///
    /// Only for simulated nights.
    package func cut(after transactions: Int?) throws(JournalError) {
        try opened().transactionsLeft = transactions
    }

    package func isCut() throws(JournalError) -> Bool { try opened().transactionsLeft == 0 }

    /// Makes one write fail after `transactions` more transactions, as when the disk is full at
    /// that moment.
    ///
    /// Nil ends that. Only for simulated nights, like the following functions.
    package func refuse(after transactions: Int?) throws(JournalError) {
        try opened().transactionsBeforeRefusal = transactions
    }

    /// From now on, keeps a copy of what a power cut would leave.
    package func keepDisk() throws(JournalError) {
        let database = try opened()
        let disk = try JournalDatabase(path: ":memory:", mode: .write)
        try disk.copy(database)
        database.disk = disk
    }

    /// Goes back to the state after a power cut: everything that was not durable is lost.
    package func losePower() throws(JournalError) {
        let database = try opened()
        if let disk = database.disk { try database.copy(disk) }
    }

    private func open(directory: String) throws(JournalError) {
        let path = directory + "/" + Self.fileName
        let place: FilePlace
        let facts: FileFacts?
        do throws(FileFault) {
            place = try FilePlace(path)
            facts = try place.facts()
        } catch { throw JournalError("open", error) }
        if let facts {
            guard facts.kind != .file || facts.size > 0 else { throw Schema.empty }
        } else {
            try Self.make(place, in: directory)
        }
        let names = ["", "-wal", "-shm"].map { place.name + $0 } + [JournalWitness.fileName]
        for name in names {
            let file = place.beside(name)
            guard let strayed = file.strayed, !file.isWritable else { continue }
            throw JournalError(.cannotCreate, "open", words: strayed)
        }
        try open(path: path)
        witness = try JournalWitness(path: directory + "/" + JournalWitness.fileName)
        // SQLite syncs the folder for its log only.
        try? place.folder.sync()
    }

    /// Creates a journal under a temporary name first: whatever ends the process, no half of a
    /// journal is left.
    ///
    /// When another process has created one in the meantime, that one is used.
    private static func make(_ place: FilePlace, in directory: String) throws(JournalError) {
        let draft = place.beside("\(fileName).new-\(getpid())")
        let all = ["", "-wal", "-shm"].map { draft.beside(draft.name + $0) }
        defer { for file in all { try? file.remove() } }
        for file in all { try? file.remove() }
        try fill("\(directory)/\(draft.name)")
        do throws(FileFault) { try place.folder.link(draft.name, to: place.name) } catch {
            guard error.code != EEXIST else { return }
            // The file system has no hard links.
            do throws(FileFault) { try place.folder.rename(draft.name, to: place.name) } catch {
                throw JournalError("make", error)
            }
        }
    }

    /// Writes a complete empty journal; its connection is closed on return.
    private static func fill(_ path: String) throws(JournalError) {
        let database = try JournalDatabase(path: path, mode: .write)
        try Schema.prepare(database)
        try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    private func open(path: String) throws(JournalError) {
        let database = try JournalDatabase(path: path, mode: .write)
        try Schema.prepare(database)
        self.database = database
    }

    package static let fileName = "journal.sqlite"

    func opened() throws(JournalError) -> JournalDatabase {
        guard let database else {
            throw JournalError(.internal, "use", words: "the journal is closed")
        }
        return database
    }

    func view() throws(JournalError) -> JournalView { JournalView(database: try opened()) }

    /// What readers see, from the connection that writes.
    package func look<R: Sendable>(
        _ body: @Sendable (JournalView) throws(JournalError) -> R
    ) throws(JournalError) -> R { try body(try view()) }
}

// MARK: Runs

extension Journal {
    /// Records that a run begins, and closes those that a crash left open; returns its number.
    ///
    /// `list` has the vehicles of its plan with their modules.
    package func beginRun(
        rollout: String,
        plan: SHA256Digest,
        listing list: [ListedVehicle] = [],
        at time: WallTime,
        seed: UInt64? = nil,
        isOrder: Bool = false,
        fleet start: FleetStart? = nil
    ) throws(JournalError) -> Int {
        let database = try opened()
        let number = try database.transaction(.durable) { () throws(JournalError) in
            try Self.closeOpenRuns(in: database)
            try Self.giveVerdictsBack(in: database)
            try database.statement(
                """
                INSERT INTO runs (rollout, plan, started, seed, is_order, fleet_instance,
                    fleet_gateway, fleet_beginning) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """
            ).run([
                .text(rollout), .text(plan.description), Value(time), Value(seed.map { "\($0)" }),
                Value(isOrder ? 1 : 0), Value(start?.instance), Value(start?.gateway),
                Value(start?.beginning),
            ])
            let number = Int(database.lastInsertedRow)
            try Self.follow(list, by: number, isOrder: isOrder, in: database)
            return number
        }
        try writeOutside(run: number)
        return number
    }

    /// Ends a run and adds notifications about it in the same transaction.
    ///
    /// `made` is the time of the real world, which differs from a simulation's.
    ///
    /// `counts` is the number of vehicles by outcome, as JSON for a fleet.
    package func endRun(
        _ number: Int,
        exitCode: Int,
        reason: String,
        at time: WallTime,
        counts: String? = nil,
        posting wishes: [OutboxWish] = [],
        made: WallTime? = nil
    ) throws(JournalError) {
        let database = try opened()
        try database.transaction(.durable) { () throws(JournalError) in
            try database.statement(
                """
                UPDATE runs SET ended = ?, exit_code = ?, reason = ?, counts = ?
                WHERE number = ? AND ended IS NULL
                """
            ).run([Value(time), Value(exitCode), .text(reason), Value(counts), Value(number)])
            guard database.changedRows == 1 else {
                throw JournalError(.internal, "end run", words: "run \(number) is not open")
            }
            try Self.post(wishes, at: made ?? time, in: database)
        }
    }

    /// Ends the runs that a crash left open, and returns them as they were.
    ///
    /// Only for the holder of the state directory's lock: then no other process has an open run.
    @discardableResult
    package func closeInterruptedRuns() throws(JournalError) -> [RunRecord] {
        let database = try opened()
        return try database.transaction(.durable) { () throws(JournalError) in
            let open = try JournalView(database: database).openRuns()
            try Self.closeOpenRuns(in: database)
            return open
        }
    }

    /// The end is the time of the last sign of life, because the real end is unknown.
    private static func closeOpenRuns(in database: JournalDatabase) throws(JournalError) {
        try database.execute(
            """
            UPDATE runs SET reason = 'interrupted', ended = max(
                started,
                coalesce((SELECT max(time) FROM events WHERE run = runs.number), started),
                coalesce((SELECT max(updated) FROM executions WHERE run = runs.number), started)
            ) WHERE ended IS NULL
            """
        )
    }

    package func lastRun(rollout: String?) throws(JournalError) -> RunRecord? {
        try view().lastRun(rollout: rollout)
    }

    /// The last run of the rollout that commands mean when none is named: never an order.
    package func lastRollout() throws(JournalError) -> RunRecord? { try view().lastRollout() }

    package func run(_ number: Int) throws(JournalError) -> RunRecord? {
        try view().run(number)
    }

    /// The newest runs first.
    package func runs(rollout: String?, limit: Int) throws(JournalError) -> [RunRecord] {
        try view().runs(rollout: rollout, limit: limit)
    }
}

// MARK: Events

extension Journal {
    /// Writes all of the events or none.
    package func append(_ events: [EventRecord]) throws(JournalError) {
        guard !events.isEmpty else { return }
        let database = try opened()
        try database.transaction(.relaxed) { () throws(JournalError) in
            try Self.insert(events, in: database)
        }
    }

    static func insert(
        _ events: [EventRecord],
        in database: JournalDatabase
    ) throws(JournalError) {
        guard !events.isEmpty else { return }
        let insert = try database.statement(
            "INSERT INTO events (\(EventRecord.columns)) VALUES (?, ?, ?, ?, ?, ?)"
        )
        for event in events { try insert.run(event.values) }
    }

    /// Up to `limit` events of a run after the one numbered `number`, in order.
    package func events(
        run: Int,
        after number: Int = 0,
        limit: Int = .max
    ) throws(JournalError) -> [EventRecord] {
        try view().events(run: run, after: number, limit: limit)
    }
}

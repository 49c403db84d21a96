package import Base

// Actions of update servers, and what the servers have not heard of them yet.

extension Journal {
    /// Takes an action; an open one with the same id, whose demand the server has changed, ends.
    ///
    /// False when that one has begun: its module must come to rest first.
    package func take(_ action: ServerAction) throws(JournalError) -> Bool {
        let database = try opened()
        return try database.transaction(.durable) { () throws(JournalError) -> Bool in
            let view = JournalView(database: database)
            for open in try view.serverActions(server: action.server, action.controller)
            where open.action == action.action && open.state == .open {
                guard try !view.hasBegun(open) else { return false }
                try Self.move(open.number, to: .over, in: database)
            }
            let places = [String](repeating: "?", count: 17).joined(separator: ", ")
            let columns = ServerAction.columns.dropFirst("number, ".count)
            try database.statement("INSERT INTO server_actions (\(columns)) VALUES (\(places))")
                .run(action.values)
            return true
        }
    }

    /// Records whether an action is to be done now.
    package func want(_ number: Int64, _ isWanted: Bool) throws(JournalError) {
        try update("wanted = ?", [Value(isWanted ? 1 : 0)], of: number)
    }

    /// Records that no other action of the controller is to be done now.
    package func wantOnly(_ action: String, of server: String, _ controller: String)
        throws(JournalError)
    {
        let database = try opened()
        try database.transaction(.durable) { () throws(JournalError) in
            try database.statement(
                "UPDATE server_actions SET wanted = 0 WHERE server = ? AND controller = ? AND action <> ?"
            ).run([.text(server), .text(controller), .text(action)])
        }
    }

    /// Records the verdict on an open action, which the server gets from then on until it has it.
    package func close(
        _ number: Int64,
        _ verdict: ServerAction.Verdict,
        _ details: String
    ) throws(JournalError) {
        let database = try opened()
        try database.transaction(.durable) { () throws(JournalError) in
            try database.statement(
                """
                UPDATE server_actions SET state = 'closing', verdict = ?, details = ?, wanted = 0
                WHERE number = ? AND state = 'open'
                """
            ).run([.text(verdict.rawValue), .text(details), .integer(number)])
        }
    }

    /// Ends an open action of which nothing was sent; false when something was.
    ///
    /// From the transaction that answers on, no transfer of its image begins. The server gets the details.
    package func cancel(_ number: Int64, _ details: String) throws(JournalError) -> Bool {
        try end(number, as: .cancelled, details)
    }

    /// The same for an action that the server does not have any more.
    package func drop(_ number: Int64) throws(JournalError) -> Bool {
        try end(number, as: .over, nil)
    }

    private func end(
        _ number: Int64,
        as state: ServerAction.State,
        _ details: String?
    ) throws(JournalError) -> Bool {
        let database = try opened()
        return try database.transaction(.durable) { () throws(JournalError) -> Bool in
            let view = JournalView(database: database)
            guard let action = try view.serverAction(number), action.state == .open,
                try !view.hasBegun(action)
            else { return false }
            try database.statement(
                """
                UPDATE server_actions SET state = ?, details = coalesce(?, details), wanted = 0
                WHERE number = ?
                """
            ).run([.text(state.rawValue), Value(details), .integer(number)])
            return true
        }
    }

    /// Records that a verdict or a cancellation is about to be sent.
    package func sending(_ number: Int64) throws(JournalError) {
        try update("sent = 1", [], of: number)
    }

    /// Records what the server has heard of an open action.
    package func heard(_ number: Int64, _ details: String) throws(JournalError) {
        try update("details = ?", [.text(details)], of: number)
    }

    /// Records that the server has the last word about an action, or has no such action any more.
    package func end(_ numbers: [Int64]) throws(JournalError) {
        let database = try opened()
        try database.transaction(.durable) { () throws(JournalError) in
            for number in numbers { try Self.move(number, to: .over, in: database) }
        }
    }

    private static func move(
        _ number: Int64,
        to state: ServerAction.State,
        in database: JournalDatabase
    ) throws(JournalError) {
        try database.statement("UPDATE server_actions SET state = ?, wanted = 0 WHERE number = ?")
            .run([.text(state.rawValue), .integer(number)])
    }

    private func update(
        _ change: String,
        _ values: [Value],
        of number: Int64
    ) throws(JournalError) {
        let database = try opened()
        try database.transaction(.durable) { () throws(JournalError) in
            try database.statement("UPDATE server_actions SET \(change) WHERE number = ?")
                .run(values + [.integer(number)])
        }
    }

    /// Throws when a transfer is for an action that is not open any more.
    ///
    /// A rollout that carries out a server's actions sends an image only while the action for it is
    /// open.
    static func demandAction(
        for debt: Debt,
        in database: JournalDatabase
    ) throws(JournalError) {
        let actions = try JournalView(database: database).serverActions(
            where: "rollout = ? AND serial = ? AND image = ?",
            [.text(debt.rollout), .text(debt.serial.text), .text(debt.image.description)]
        )
        guard let last = actions.last, !actions.contains(where: { $0.state == .open }) else {
            return
        }
        throw JournalError(
            .withdrawn,
            "intend",
            words: "the server \(last.server) has withdrawn its action \(last.action)"
        )
    }

    package func serverActions(
        server: String,
        _ controller: String? = nil
    ) throws(JournalError) -> [ServerAction] {
        try view().serverActions(server: server, controller)
    }
}

extension JournalView {
    /// Actions that are not over, of one controller or of all, the oldest first.
    package func serverActions(
        server: String,
        _ controller: String? = nil
    ) throws(JournalError) -> [ServerAction] {
        try serverActions(
            where: "server = ?1 AND (?2 IS NULL OR controller = ?2) AND state <> 'over'",
            [.text(server), Value(controller)]
        )
    }

    /// The images of all actions of a server so far, by the terms under which they were taken.
    package func serverImages(server: String) throws(JournalError) -> [String: SHA256Digest] {
        let actions = try serverActions(where: "server = ? AND image IS NOT NULL", [.text(server)])
        var images: [String: SHA256Digest] = [:]
        for action in actions { images[action.terms] = action.image }
        return images
    }

    fileprivate func serverAction(_ number: Int64) throws(JournalError) -> ServerAction? {
        try serverActions(where: "number = ?", [.integer(number)]).first
    }

    fileprivate func serverActions(
        where condition: String,
        _ values: [Value]
    ) throws(JournalError) -> [ServerAction] {
        try rows(
            "SELECT \(ServerAction.columns) FROM server_actions WHERE \(condition) ORDER BY number",
            values,
            { row throws(JournalError) in try ServerAction(row: row) }
        )
    }

    /// Whether its module got something of its image and was not seen at rest since.
    fileprivate func hasBegun(_ action: ServerAction) throws(JournalError) -> Bool {
        try debt(of: action.serial) != nil
    }

    /// What is known of an action's vehicle since the action was taken.
    package func work(on action: ServerAction) throws(JournalError) -> ServerWork {
        var last = try execution(for: action, where: "1")
        // A proof stays one over runs that have done nothing to the module.
        let before = try execution(
            for: action,
            where: "image IS NOT NULL OR outcome IS NULL OR outcome NOT IN (\(Self.idleEnds))"
        )
        switch before?.end?.outcome.tally {
        case .ok, .current: last = before
        case .failed, .deferred, .unreachable, .skipped, .aborted, nil: break
        }
        let isOver = try last.map { last throws(JournalError) in try run(last.run)?.end != nil }
        let failures = try failures(atLeast: 1).filter { $0.vehicle == action.vehicle }
        return ServerWork(
            execution: last,
            isRunOver: isOver ?? false,
            debt: try debt(of: action.serial),
            failures: failures.map(\.count).max() ?? 0
        )
    }

    /// The ends of executions that have done nothing to a module, where they name no image.
    private static let idleEnds = Outcome.allCases.filter { outcome in
        switch outcome.tally {
        case .deferred, .unreachable, .skipped, .aborted: true
        case .ok, .current, .failed: false
        }
    }.map { "'\($0.rawValue)'" }.joined(separator: ", ")

    /// The last execution on an action's module since the action was taken that is like this.
    private func execution(
        for action: ServerAction,
        where condition: String
    ) throws(JournalError) -> ExecutionRecord? {
        try rows(
            """
            SELECT \(ExecutionRecord.columns) FROM executions
            WHERE serial = ? AND run > ? AND (\(condition)) ORDER BY run DESC, number DESC LIMIT 1
            """,
            [.text(action.serial.text), Value(action.after)],
            { row throws(JournalError) in try ExecutionRecord(row: row) }
        ).first
    }
}

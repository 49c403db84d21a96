package import Base

// Images that are recalled, transfers to modules, and rollouts whose vehicles are brought back.

extension Journal {
    /// Recalls an image: from the transaction that returns on, no transfer of it begins.
    package func recall(_ recall: Recall) throws(JournalError) {
        let database = try opened()
        try database.transaction(.durable) { () throws(JournalError) in
            try Self.save(recall, in: database)
            let saying = Saying(
                "recall",
                reason: "\(recall.name): \(recall.reason)",
                author: recall.author,
                at: recall.made
            )
            try Self.note(saying, in: database)
        }
    }

    private static func save(
        _ recall: Recall,
        in database: JournalDatabase
    ) throws(JournalError) {
        try database.statement(
            "INSERT OR REPLACE INTO recalls (\(Recall.columns)) VALUES (?, ?, ?, ?, ?)"
        ).run(recall.values)
    }

    /// Lifts a recall; true when there was one.
    package func lift(recallOf image: SHA256Digest, saying: Saying? = nil) throws(JournalError)
        -> Bool
    {
        let database = try opened()
        return try database.transaction(.durable) { () throws(JournalError) in
            try database.statement("DELETE FROM recalls WHERE image = ?")
                .run([.text(image.description)])
            guard database.changedRows > 0 else { return false }
            try Self.note(saying, in: database)
            return true
        }
    }

    package func recalls() throws(JournalError) -> [Recall] { try view().recalls() }

    /// Recalls the rollout that vehicles are brought back from, once.
    static func recall(_ hold: Hold, in database: JournalDatabase) throws(JournalError) {
        let found = try JournalView(database: database).hold(on: hold.rollout)
        guard VerbAnswer(to: hold.kind, under: found?.kind, isOver: true) == .done else { return }
        try save(hold, in: database)
        try note(
            Saying(
                "rollback",
                rollout: hold.rollout,
                reason: hold.reason,
                author: hold.author,
                at: hold.made
            ),
            in: database
        )
    }

    /// Throws when the image is recalled.
    static func demand(
        _ image: SHA256Digest,
        in database: JournalDatabase
    ) throws(JournalError) {
        let recalls = try JournalView(database: database).recalls()
        if let recall = recalls.first(where: { $0.image == image }) {
            throw JournalError(.recalled, "intend", words: recall.sentence)
        }
    }

    /// Replaces the recalls by those of the fleet.
    package func follow(_ recalls: [Recall]) throws(JournalError) {
        let database = try opened()
        guard try view().recalls() != recalls else { return }
        try database.transaction(.relaxed) { () throws(JournalError) in
            try database.execute("DELETE FROM recalls")
            for recall in recalls { try Self.save(recall, in: database) }
        }
    }

    /// Notes that a transfer begins.
    ///
    /// A module that runs the image already, or does not say what it runs, leaves what was known.
    static func note(
        _ debt: Debt,
        over before: FirmwareVersion?,
        in database: JournalDatabase
    ) throws(JournalError) {
        let key: [Value] = [
            .text(debt.serial.text), .text(debt.rollout), .text(debt.image.description),
        ]
        if let before, before != debt.version {
            try database.statement(
                "DELETE FROM transfers WHERE serial = ? AND rollout = ? AND image = ?"
            ).run(key)
        }
        try database.statement(
            """
            INSERT OR IGNORE INTO transfers (serial, rollout, image, vehicle, name, version, target,
                before) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """
        ).run(
            key + [
                .text(debt.vehicle.text), .text(debt.name), Value(debt.version?.description),
                .text(debt.target), Value(before?.description),
            ]
        )
    }

    /// Notes that a module was seen to run the image of its debt for good.
    static func prove(_ debt: Debt, in database: JournalDatabase) throws(JournalError) {
        try database.statement(
            "UPDATE transfers SET proven = 1 WHERE serial = ? AND rollout = ? AND image = ?"
        ).run([.text(debt.serial.text), .text(debt.rollout), .text(debt.image.description)])
    }
}

extension JournalView {
    /// Sorted by image.
    package func recalls() throws(JournalError) -> [Recall] {
        try rows(
            "SELECT \(Recall.columns) FROM recalls ORDER BY image"
        )
    }

    /// The images that were sent to modules, with their names, of one rollout or with nil of all.
    package func sentImages(
        of rollout: String?
    ) throws(JournalError) -> [(image: SHA256Digest, name: String)] {
        try transfers().filter { rollout == nil || $0.rollout == rollout }
            .map { ($0.image, $0.name) }
    }

    /// In the order in which they began.
    package func transfers() throws(JournalError) -> [Transfer] {
        try rows(
            "SELECT \(Transfer.columns) FROM transfers ORDER BY number"
        )
    }
}

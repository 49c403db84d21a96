package import Base

/// Recalled images and transfers to modules, for every gateway from the transaction that answers.
extension FleetDatabase {
    /// Recalls an image: waits for the beginnings of transfers that are being committed, and no later
    /// one passes.
    package func recall(_ recall: Recall) throws(FleetError) {
        let operation = "recall an image"
        try transaction(operation) { () throws(FleetError) in
            _ = try rows(
                FleetStatement(
                    operation,
                    "SELECT pg_advisory_xact_lock(\(FleetSchema.recallLock))"
                )
            )
            _ = try rows(
                FleetStatement(
                    operation,
                    """
                    WITH said AS (
                      INSERT INTO yardmaster.said (verb, reason, author)
                      VALUES ('recall', $2 || ': ' || $3, $4)
                    )
                    INSERT INTO yardmaster.recall (image, name, reason, author) VALUES ($1, $2, $3, $4)
                    ON CONFLICT (image) DO UPDATE SET name = excluded.name, reason = excluded.reason,
                      author = excluded.author, made = excluded.made
                    """,
                    [recall.image.description, recall.name, recall.reason, recall.author]
                )
            )
        }
    }

    /// Lifts a recall; true when there was one.
    package func lift(recallOf image: SHA256Digest, by author: String) throws(FleetError) -> Bool {
        try !rows(
            FleetStatement(
                "lift a recall",
                """
                WITH gone AS (DELETE FROM yardmaster.recall WHERE image = $1 RETURNING name), said AS (
                  INSERT INTO yardmaster.said (verb, reason, author)
                  SELECT 'recall --lift', name, $2 FROM gone
                )
                SELECT name FROM gone
                """,
                [image.description, author]
            )
        ).isEmpty
    }

    /// Sorted by image.
    package func recalls() throws(FleetError) -> [Recall] {
        try rows(
            FleetStatement(
                "read the recalls",
                """
                SELECT image, name, reason, author, (extract(epoch FROM made) * 1000)::bigint
                FROM yardmaster.recall ORDER BY image
                """
            )
        ).compactMap { Recall($0, from: 0) }
    }

    /// In the order in which they began.
    package func transfers() throws(FleetError) -> [Transfer] {
        try rows(
            FleetStatement(
                "read what was sent to modules",
                "SELECT \(Transfer.columns) FROM yardmaster.transfer ORDER BY number"
            )
        ).compactMap { Transfer($0) }
    }
}

extension Recall {
    /// The columns are image, name, reason, author and time.
    init?(_ row: DatabaseRow, from first: Int) {
        guard let image = row.text(first).flatMap({ SHA256Digest($0) }) else { return nil }
        self.init(
            image,
            name: row.text(first + 1) ?? "",
            reason: row.text(first + 2) ?? "",
            author: row.text(first + 3) ?? "",
            at: row.time(first + 4) ?? WallTime(milliseconds: 0)
        )
    }
}

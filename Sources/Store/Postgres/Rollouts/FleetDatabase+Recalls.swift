package import Base

/// Recalled images and transfers to modules, for every gateway from the transaction that answers.
extension FleetDatabase {
    /// Recalls an image: waits for the beginnings of transfers that are being committed, and no later
    /// one passes.
    package func recall(_ recall: Recall) throws(FleetError) {
        let operation = "recall an image"
        try transaction(operation) { () throws(FleetError) in
            _ = try rows(
                operation,
                "SELECT pg_advisory_xact_lock(\(FleetSchema.recallLock))"
            )
            _ = try rows(
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
        }
    }

    /// Lifts a recall; true when there was one.
    package func lift(
        recallOf image: SHA256Digest,
        saying reason: String,
        by author: String
    ) throws(FleetError) -> Bool {
        try !rows(
            "lift a recall",
            """
            WITH gone AS (DELETE FROM yardmaster.recall WHERE image = $1 RETURNING name), said AS (
              INSERT INTO yardmaster.said (verb, reason, author)
              SELECT 'recall --lift', $2, $3 FROM gone
            )
            SELECT name FROM gone
            """,
            [image.description, reason, author]
        ).isEmpty
    }

    /// Sorted by image.
    package func recalls() throws(FleetError) -> [Recall] {
        try rows(
            "read the recalls",
            """
            SELECT image, name, reason, author, (extract(epoch FROM made) * 1000)::bigint
            FROM yardmaster.recall ORDER BY image
            """
        ).compactMap { try? Recall(row: $0) }
    }

    /// The transfers to modules that ran one of these images when they were last seen to run one of ours.
    ///
    /// By image, and then the last transfer of each module by key: what modules ran before in years is not read.
    func running(_ images: [SHA256Digest]) throws(FleetError) -> [Transfer] {
        try rows(
            "read which modules run an image",
            """
            SELECT \(Transfer.columns) FROM yardmaster.transfer t
            WHERE t.image = ANY ($1::text[]) AND t.proven AND t.number = (
              SELECT l.number FROM yardmaster.transfer l
              WHERE l.serial = t.serial AND l.target = t.target AND l.proven
              ORDER BY l.number DESC LIMIT 1)
            """,
            [Self.array(images.map(\.description))]
        ).compactMap { try? Transfer(row: $0) }
    }

    /// The images that were sent to modules, with their names, of one rollout or with nil of all.
    ///
    /// From image to image: the cost is that of as many keys, and not of all transfers.
    package func sentImages(
        of rollout: String?
    ) throws(FleetError) -> [(image: SHA256Digest, name: String)] {
        try rows(
            "read which images were sent",
            """
            WITH RECURSIVE sent AS (
              (SELECT image, rollout, name FROM yardmaster.transfer
                ORDER BY image, rollout, name LIMIT 1)
              UNION ALL SELECT n.* FROM sent s, LATERAL (
                SELECT t.image, t.rollout, t.name FROM yardmaster.transfer t
                WHERE (t.image, t.rollout, t.name) > (s.image, s.rollout, s.name)
                ORDER BY t.image, t.rollout, t.name LIMIT 1) n
            )
            SELECT image, name FROM sent WHERE $1::text IS NULL OR rollout = $1
            """,
            [rollout]
        ).compactMap { row in
            row.text(0).flatMap { SHA256Digest($0) }.map { ($0, row.text(1) ?? "") }
        }
    }

    /// In the order in which they began.
    package func transfers() throws(FleetError) -> [Transfer] {
        try rows(
            "read what was sent to modules",
            "SELECT \(Transfer.columns) FROM yardmaster.transfer ORDER BY number"
        ).compactMap { try? Transfer(row: $0) }
    }
}

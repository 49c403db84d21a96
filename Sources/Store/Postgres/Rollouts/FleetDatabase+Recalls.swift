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

    /// The modules that ran one of these images when they were last seen to run one of ours, by image.
    ///
    /// By image, and then the last transfer of each module by key: what modules ran before in years is not read.
    func running(_ images: [String]) throws(FleetError) -> [String: [RecallUse.Module]] {
        let found = try rows(
            FleetStatement(
                "read which modules run an image",
                """
                SELECT t.image, t.serial, t.vehicle, t.rollout FROM yardmaster.transfer t
                WHERE t.image = ANY ($1::text[]) AND t.proven AND t.number = (
                  SELECT l.number FROM yardmaster.transfer l
                  WHERE l.serial = t.serial AND l.target = t.target AND l.proven
                  ORDER BY l.number DESC LIMIT 1)
                """,
                [Self.array(images)]
            )
        )
        return found.reduce(into: [:]) { modules, row in
            guard let image = row.text(0), let serial = row.text(1).flatMap({ Serial($0) }),
                let vehicle = row.vehicle(2), let rollout = row.text(3)
            else { return }
            modules[image, default: []].append(
                RecallUse.Module(serial: serial, vehicle: vehicle, rollout: rollout)
            )
        }
    }

    /// The images that were sent to modules, with their names, of one rollout or with nil of all.
    ///
    /// From image to image: the cost is that of as many keys, and not of all transfers.
    package func sentImages(
        of rollout: String?
    ) throws(FleetError) -> [(image: SHA256Digest, name: String)] {
        try rows(
            FleetStatement(
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
            )
        ).compactMap { row in
            row.text(0).flatMap { SHA256Digest($0) }.map { ($0, row.text(1) ?? "") }
        }
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

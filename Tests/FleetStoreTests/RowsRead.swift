import Base
import Store

/// The rows that the server read for something, by table; nobody but this session may read meanwhile.
struct RowsRead {
    let all: [String: Int]
    /// Those of tables that were read from end to end.
    let scanned: [String: Int]
    /// The blocks of tables and indexes: an index that is read from end to end answers few rows.
    let blocks: [String: Int]

    init(_ fleet: FleetDatabase, _ body: () async throws -> Void) async throws {
        let before = try await Self.counters(fleet)
        try await body()
        let after = try await Self.counters(fleet)
        func grown(_ column: Int) -> [String: Int] {
            after.reduce(into: [:]) {
                $0[$1.key] = $1.value[column] - (before[$1.key]?[column] ?? 0)
            }
        }
        (all, scanned, blocks) = (grown(0), grown(1), grown(2))
    }

    private static func counters(_ fleet: FleetDatabase) async throws -> [String: [Int]] {
        // The session reports its figures after this statement, and not only after a second.
        try await fleet.run("SELECT pg_stat_force_next_flush()", "count the rows")
        let found = try await fleet.rows(
            "count the rows",
            """
            SELECT relname, seq_tup_read + coalesce(idx_tup_fetch, 0), seq_tup_read,
              heap_blks_read + heap_blks_hit + coalesce(idx_blks_read + idx_blks_hit, 0)
            FROM pg_stat_user_tables JOIN pg_statio_user_tables USING (schemaname, relname)
            WHERE schemaname = 'yardmaster'
            """
        )
        return found.reduce(into: [:]) { all, row in
            all[row.text(0) ?? ""] = (1...3).map { Int(row.integer($0) ?? 0) }
        }
    }
}

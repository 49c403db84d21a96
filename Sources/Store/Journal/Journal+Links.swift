package import Base

/// How many links of an adapter paid when it updated modules of a family.
package struct LinkRecord: Sendable, Equatable {
    package let adapter: String
    package let family: Family
    package let links: Int

    /// The numbers that runs with modules of these families begin with, by adapter: of each the
    /// smallest, and none for an adapter on which one of the families is new.
    package static func links(_ records: [LinkRecord], for families: Set<Family>) -> [String: Int] {
        var found: [String: [Int]] = [:]
        for record in records where families.contains(record.family) {
            found[record.adapter, default: []].append(record.links)
        }
        return found.compactMapValues { $0.count == families.count ? $0.min() : nil }
    }
}

extension Journal {
    /// Stores a number of links that paid; only the newest of each adapter and family is kept.
    package func learn(
        _ links: Int,
        on adapter: String,
        for families: Set<Family>
    ) throws(JournalError) {
        let database = try opened()
        try database.transaction(.relaxed) { () throws(JournalError) in
            for family in families {
                try database.statement("INSERT OR REPLACE INTO links VALUES (?, ?, ?)")
                    .run([.text(adapter), .text(family.rawValue), Value(links)])
            }
        }
    }

    package func links() throws(JournalError) -> [LinkRecord] { try view().links() }
}

extension JournalView {
    /// Sorted by adapter and family.
    package func links() throws(JournalError) -> [LinkRecord] {
        try rows("SELECT adapter, family, links FROM links ORDER BY adapter, family", []) { row in
            LinkRecord(
                adapter: row.text(0) ?? "",
                family: Family(rawValue: row.text(1) ?? ""),
                links: Int(row.integer(2))
            )
        }
    }
}

package import Base

/// The answer to a program's request that had a key.
package struct Reply: JournalRecord, Sendable, Equatable {
    package let author: String
    package let key: String
    /// The digest of the request as it was sent.
    package let body: SHA256Digest
    /// The HTTP status of the answer; 0 while the request is carried out.
    package let status: Int
    package let document: String

    package init(
        author: String,
        key: String,
        body: SHA256Digest,
        status: Int = 0,
        document: String = ""
    ) {
        self.author = author
        self.key = key
        self.body = body
        self.status = status
        self.document = document
    }

    /// How many replies are kept: the newest ones.
    package static let most = 1_000

    package var isUnderWay: Bool { status == 0 }

    /// The reply with the result of the request.
    package func answered(_ status: Int, _ document: String) -> Reply {
        Reply(author: author, key: key, body: body, status: status, document: document)
    }

    static let columns = "author, key, body, status, document"

    init(row: borrowing SQLStatement) throws(JournalError) {
        author = row.text(0) ?? ""
        key = row.text(1) ?? ""
        body = try row.value(2) { SHA256Digest($0) }
        status = Int(row.integer(3))
        document = row.text(4) ?? ""
    }

    fileprivate var values: [Value] {
        [
            .text(author), .text(key), .text(body.description), Value(status), .text(document),
        ]
    }
}

extension Journal {
    /// Stores the key before its request is carried out; returns the reply that already has this
    /// key.
    ///
    /// The status of that reply is 0 if its request was interrupted: its result is unknown.
    package func reserve(_ reply: Reply) throws(JournalError) -> Reply? {
        let database = try opened()
        return try database.transaction(.durable) { () throws(JournalError) in
            let known: Reply? = try JournalView(database: database).row(
                "SELECT \(Reply.columns) FROM replies WHERE author = ? AND key = ?",
                [.text(reply.author), .text(reply.key)]
            )
            if let known { return known }
            try Self.save(reply, in: database)
            try database.statement(
                """
                DELETE FROM replies
                WHERE id <= (SELECT id FROM replies ORDER BY id DESC LIMIT 1 OFFSET ?)
                """
            ).run([Value(Reply.most)])
            return nil
        }
    }

    /// Stores the result of a request whose key was reserved.
    package func keep(_ reply: Reply) throws(JournalError) {
        let database = try opened()
        try database.transaction(.durable) { () throws(JournalError) in
            try Self.save(reply, in: database)
        }
    }

    /// Removes the key of a request that was not carried out, so that it may be sent again.
    package func forget(_ reply: Reply) throws(JournalError) {
        let database = try opened()
        try database.transaction(.durable) { () throws(JournalError) in
            try database.statement("DELETE FROM replies WHERE author = ? AND key = ?")
                .run([.text(reply.author), .text(reply.key)])
        }
    }

    private static func save(
        _ reply: Reply,
        in database: JournalDatabase
    ) throws(JournalError) {
        try database.statement(
            "INSERT OR REPLACE INTO replies (\(Reply.columns)) VALUES (?, ?, ?, ?, ?)"
        ).run(reply.values)
    }
}

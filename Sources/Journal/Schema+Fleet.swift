extension Schema {
    /// Reports to a fleet's database about completed acts, and marks on the records that the fleet
    /// keeps too.
    static let fleetWords = """
        ALTER TABLE intents ADD COLUMN fleet INTEGER NOT NULL DEFAULT 0 CHECK (fleet IN (0, 1));
        ALTER TABLE debts ADD COLUMN fleet INTEGER NOT NULL DEFAULT 0 CHECK (fleet IN (0, 1));
        ALTER TABLE owed ADD COLUMN fleet INTEGER NOT NULL DEFAULT 0 CHECK (fleet IN (0, 1));
        CREATE TABLE fleet_words (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            kind TEXT NOT NULL,
            instance TEXT NOT NULL,
            gateway TEXT NOT NULL,
            serial TEXT NOT NULL,
            epoch INTEGER NOT NULL CHECK (epoch > 0),
            rollout TEXT NOT NULL,
            beginning INTEGER NOT NULL,
            vehicle TEXT NOT NULL,
            run INTEGER NOT NULL,
            digest TEXT NOT NULL,
            ordinal INTEGER NOT NULL,
            outcome TEXT NOT NULL,
            failure TEXT,
            sentence TEXT NOT NULL,
            version TEXT,
            release TEXT,
            attempted INTEGER NOT NULL CHECK (attempted IN (0, 1)),
            failed INTEGER NOT NULL CHECK (failed IN (0, 1))
        ) STRICT;
        CREATE TABLE fleet_rollouts (
            name TEXT PRIMARY KEY,
            beginning INTEGER NOT NULL CHECK (beginning > 0),
            resumed INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """

    /// Reports that were sent are kept: the fleet's database may lose them.
    static let fleetHistory = """
        ALTER TABLE fleet_words ADD COLUMN told INTEGER NOT NULL DEFAULT 0 CHECK (told IN (0, 1));
        CREATE INDEX fleet_words_untold ON fleet_words (id) WHERE told = 0;
        CREATE TABLE fleet_history (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            mark TEXT NOT NULL
        ) STRICT;
        """
}

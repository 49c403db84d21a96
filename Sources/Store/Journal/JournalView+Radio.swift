import Base

/// Figures of the links of one run, over all vehicles.
package struct RunRadio: Sendable, Equatable {
    /// The median signal of the links in dBm; nil when none was reported.
    package var median: Int?
    /// The signal that a tenth of the links were below.
    package var weakest: Int?
    package var links = 0
    package var interruptions = 0
    /// Image bytes that were sent, and the time that their transfers took.
    package var bytes = 0
    package var transferred = Duration.zero

    package init() {}

    /// Bytes per second and vehicle; nil when too little was sent for a figure.
    package var rate: Double? {
        let seconds = Double(transferred.nanoseconds) / 1e9
        return bytes > 0 && seconds >= 1 ? Double(bytes) / seconds : nil
    }
}

extension JournalView {
    package func radio(ofRun number: Int) throws(JournalError) -> RunRadio {
        let run = [Value.integer(Int64(number))]
        var radio = RunRadio()
        let signals = try rows(
            """
            SELECT CAST(json_extract(json, '$.detail') AS INTEGER) FROM events
            WHERE run = ? AND kind = 'state-changed' AND json_extract(json, '$.detail') LIKE '% dBm'
            ORDER BY 1
            """,
            run
        ) { Int($0.integer(0)) }
        radio.links = signals.count
        if !signals.isEmpty {
            radio.median = signals[signals.count / 2]
            radio.weakest = signals[signals.count / 10]
        }
        let totals = try rows(
            """
            SELECT COALESCE(SUM(json_extract(json, '$.bytes')), 0),
                COALESCE(SUM(json_extract(json, '$.interruptions')), 0)
            FROM events WHERE run = ? AND kind = 'vehicle-ended'
            """,
            run
        ) { (Int($0.integer(0)), Int($0.integer(1))) }
        (radio.bytes, radio.interruptions) = totals.first ?? (0, 0)
        // From the event that a vehicle's transfer begins to the vehicle's next event.
        let times = try rows(
            """
            SELECT COALESCE(SUM(next - time), 0) FROM (
                SELECT time, json_extract(json, '$.state') AS state,
                    LEAD(time) OVER (PARTITION BY vehicle ORDER BY number) AS next
                FROM events WHERE run = ? AND vehicle IS NOT NULL
                    AND kind IN ('state-changed', 'interrupted', 'vehicle-ended')
            ) WHERE state = 'transferring' AND next > time
            """,
            run
        ) { $0.integer(0) }
        radio.transferred = .milliseconds(times.first ?? 0)
        return radio
    }
}

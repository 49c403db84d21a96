package import Base

/// One event of a run as it was printed.
package struct EventRecord: JournalRecord, Sendable, Equatable {
    package let run: Int
    /// Counts from 1 within the run.
    package let number: Int
    package let time: WallTime
    package let kind: String
    package let vehicle: VehicleID?
    package let json: String

    package init(
        run: Int,
        number: Int,
        time: WallTime,
        kind: String,
        vehicle: VehicleID?,
        json: String
    ) {
        self.run = run
        self.number = number
        self.time = time
        self.kind = kind
        self.vehicle = vehicle
        self.json = json
    }

    static let columns = "run, number, time, kind, vehicle, json"

    init(row: borrowing SQLStatement) throws(JournalError) {
        self.init(
            run: Int(row.integer(0)),
            number: Int(row.integer(1)),
            time: WallTime(milliseconds: row.integer(2)),
            kind: row.text(3) ?? "",
            vehicle: try row.optional(4) { VehicleID($0) },
            json: row.text(5) ?? ""
        )
    }

    /// In the order of `columns`.
    var values: [Value] {
        [
            Value(run), Value(number), Value(time), .text(kind), Value(vehicle?.text), .text(json),
        ]
    }
}

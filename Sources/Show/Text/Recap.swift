import Base
package import Rollout

/// The report at the end of a run, collected during the run.
package struct Recap: Sendable {
    private var verdicts: [VehicleID: Verdict] = [:]
    /// Vehicles that were begun and have no verdict, with their states.
    private var underWay: [VehicleID: ExecutionState] = [:]
    private var standings: [VehicleID: Standing] = [:]

    init() {}

    mutating func note(_ event: Event) {
        switch event.body {
        case .attemptStarted(let id, _, _, _): underWay[id] = .seeking
        case .stateChanged(let id, let state, _, _) where state != .ended: underWay[id] = state
        case .vehicleEnded(let id, let verdict):
            verdicts[id] = verdict
            underWay[id] = nil
        case .vehicleStands(let id, let standing): standings[id] = standing
        case .runStarted, .imageReady, .stateChanged, .inspected, .progress, .interrupted, .problem,
            .retrying, .stepEnded, .warning, .notice, .runEnded:
            break
        }
    }

    /// The number of vehicles that have ended, and of those that count as failed.
    var ended: (all: Int, failed: Int) {
        let counts = VehicleCounts(verdicts.values.map(\.outcome))
        return (counts.total, counts.count(.failed))
    }

    /// The table of all vehicles, the counts and the last line.
    ///
    /// `width` is the width of the terminal: no line exceeds it except the last one, which scripts
    /// read.
    func text(_ end: RunEnd, colour: Bool = false, width: Int? = nil) -> String {
        table(colour: colour, width: width) { _ in true } + summary(end, width)
            + Self.lastLine(end)
    }

    /// The same text for only the vehicles that are not as required, with the reason for the exit
    /// code and the next command.
    func faults(_ end: RunEnd, _ offers: RunOffers) -> String {
        table(colour: false) { row in
            switch row {
            case .ended(let outcome):
                switch outcome.tally {
                case .ok, .current, .skipped: false
                case .deferred, .unreachable, .failed, .aborted: true
                }
            case .open(let state): state != .notBegun
            }
        } + summary(end, nil)
            + "next: \(offers.next(exitCode: end.exitCode))\n"
            + Self.lastLine(end)
    }

    /// The subject of a vehicle's line.
    private enum Row {
        case ended(Outcome)
        case open(Standing.State)
    }

    private func table(
        colour: Bool,
        width: Int? = nil,
        _ isWanted: (Row) -> Bool
    ) -> String {
        var rows: [(id: VehicleID, colour: Colour?, cells: [String])] = []
        for (id, standing) in standings {
            let verdict = standing.verdict(verdicts[id])
            guard isWanted(verdict.map { .ended($0.outcome) } ?? .open(standing.state)) else {
                continue
            }
            let message = standing.sentence.visible
            let cells =
                verdict.map { $0.cells(id, message) }
                ?? [id.text.visible, standing.name, "-", "-", "-", message]
            rows.append((id, verdict?.outcome.colour, cells))
        }
        for (id, verdict) in verdicts
        where standings[id] == nil && isWanted(.ended(verdict.outcome)) {
            rows.append((id, verdict.outcome.colour, verdict.cells(id, verdict.message.visible)))
        }
        for (id, state) in underWay where standings[id] == nil {
            let cells = [
                id.text.visible, "unfinished", "-", "-", "-", "ended while \(state.rawValue)",
            ]
            rows.append((id, nil, cells))
        }
        guard !rows.isEmpty else { return "" }
        rows.sort { $0.id < $1.id }
        let head = ["vehicle", "outcome", "versions", "took", "interruptions", "message"]
        let widths = head.indices.map { column in
            rows.reduce(Columns.width(head[column])) { max($0, Columns.width($1.cells[column])) }
        }
        var text = Self.line(head, widths, nil)
        for row in rows {
            text += Self.lines(row.cells, widths, colour ? row.colour : nil, width)
        }
        return text
    }

    /// A row whose message continues below its own column, or below the row where that column is
    /// narrow.
    private static func lines(
        _ cells: [String],
        _ widths: [Int],
        _ colour: Colour?,
        _ width: Int?
    ) -> String {
        guard let width, let message = cells.last else { return line(cells, widths, colour) }
        let indent = widths.dropLast().reduce(0) { $0 + $1 + 2 }
        let room = width - 1 - indent
        guard Columns.width(message) > room else { return line(cells, widths, colour) }
        if room >= 30 {
            let parts = Columns.wrapped(message, room)
            return line(Array(cells.dropLast()) + [parts[0]], widths, colour)
                + parts.dropFirst().map { String(repeating: " ", count: indent) + $0 + "\n" }
                .joined()
        }
        return line(Array(cells.dropLast()) + [""], widths, colour)
            + Columns.wrapped(message, width - 5).map { "    \($0)\n" }.joined()
    }

    private static func line(_ cells: [String], _ widths: [Int], _ colour: Colour?) -> String {
        var line = ""
        for (column, cell) in cells.enumerated() {
            let isLast = column == cells.count - 1
            let padded = isLast ? cell : Columns.padded(cell, widths[column]) + "  "
            line += column == 1 ? colour?.paint(padded) ?? padded : padded
        }
        while line.last == " " { line.removeLast() }
        return line + "\n"
    }

    private func summary(_ end: RunEnd, _ width: Int?) -> String {
        let text = "\(end.vehicles.sentence) in \(end.took.brief): \(end.reason.visible)"
        return Columns.wrapped(text, width.map { $0 - 1 } ?? 0).map { $0 + "\n" }.joined()
    }

    /// The line for scripts.
    ///
    /// Rare counts are included only when they are not zero.
    package static func lastLine(_ end: RunEnd) -> String {
        // A field ends at white space, so it must not contain any.
        let name = end.rollout.visible.split { $0.isWhitespace }.joined(separator: "-")
        var fields = ["rollout=\(name)"]
        let always: [Outcome.Tally] = [.ok, .current, .deferred, .unreachable, .failed]
        for tally in always + [.skipped, .aborted] {
            let count = end.count(tally)
            guard count > 0 || always.contains(tally) else { continue }
            fields.append("\(tally.rawValue)=\(count)")
        }
        if end.unfinished > 0 { fields.append("unfinished=\(end.unfinished)") }
        fields.append("exit=\(end.exitCode)")
        return fields.joined(separator: " ") + "\n"
    }
}

extension Verdict {
    fileprivate func cells(_ id: VehicleID, _ message: String) -> [String] {
        [
            id.text.visible, outcome.rawValue, versions ?? "-", took > .zero ? took.brief : "-",
            interruptions == 0 ? "-" : String(interruptions), message,
        ]
    }

    /// The versions, as in `4.11.3 -> 4.12.0`; one version where it did not change; nil where none
    /// was read.
    var versions: String? {
        switch (versionBefore, versionAfter) {
        case (.some(let before), .some(let after)) where before != after: "\(before) -> \(after)"
        case (_, .some(let version)), (.some(let version), nil): "\(version)"
        case (nil, nil): nil
        }
    }
}

import Base
package import Store

/// The report at the end of a run, collected during the run.
package struct Recap: Sendable {
    private var verdicts: [VehicleID: Verdict] = [:]
    /// Vehicles that were begun and have no verdict, with their states.
    private var underWay: [VehicleID: ExecutionState] = [:]
    private var standings: [VehicleID: Standing] = [:]
    private var approval: String?

    init() {}

    mutating func note(_ event: Event) {
        switch event.body {
        case .attemptStarted(let id, _, _, _): underWay[id] = .seeking
        case .stateChanged(let id, let state, _, _) where state != .ended: underWay[id] = state
        case .vehicleEnded(let id, let verdict):
            verdicts[id] = verdict
            underWay[id] = nil
        case .vehicleStands(let id, let standing): standings[id] = standing
        case .runStarted(let start): approval = start.approval
        case .imageReady, .stateChanged, .inspected, .progress, .interrupted, .problem,
            .retrying, .stepEnded, .warning, .notice, .runEnded:
            break
        }
    }

    /// The counts of so many vehicles, as they have ended so far.
    func counts(of all: Int) -> VehicleCounts {
        VehicleCounts(verdicts.values.map(\.outcome), of: all)
    }

    /// The most rows of a table that has all vehicles: a screen has more lines.
    static let mostRows = 12

    /// The table of all vehicles, or of those that are not as required when there are many; then
    /// the counts, the next command and the last line.
    ///
    /// `width` is the width of the terminal: no line exceeds it except the last two, which are
    /// for scripts and the shell.
    func text(
        _ end: RunEnd,
        _ offers: RunOffers?,
        colour: Bool = false,
        width: Int? = nil
    ) -> String {
        let rows = rows()
        let isLong = rows.count > Self.mostRows
        return Self.counts(isLong ? rows.filter(\.isFolded) : [])
            + Self.table(isLong ? rows.filter { !$0.isFolded } : rows, colour, width)
            + summary(end, width) + next(end, offers) + Self.lastLine(end)
    }

    /// The same text for only the vehicles that are not as required.
    func faults(_ end: RunEnd, _ offers: RunOffers) -> String {
        Self.table(rows().filter { !$0.isAsRequired && $0.state != .notBegun })
            + summary(end, nil) + next(end, offers) + Self.lastLine(end)
    }

    private func next(_ end: RunEnd, _ offers: RunOffers?) -> String {
        guard let offers, end.exitCode != 0 else { return "" }
        return "next: \(offers.next(exitCode: end.exitCode))\n"
    }

    /// A line for all vehicles that are as required, or wait, in the same way.
    private static func counts(_ rows: [Row]) -> String {
        rows.grouped { [$0.cells[1], $0.isAsRequired ? $0.cells[2] : $0.cells[5]] }
            .map { words, rows in
                "\(rows.count) \(words[0])" + (words[1] == "-" ? "" : ": \(words[1])") + "\n"
            }.joined()
    }

    /// A vehicle's line.
    private struct Row {
        let id: VehicleID
        let outcome: Outcome?
        /// Nil for a vehicle whose state the run did not report at its end.
        let state: Standing.State?
        let cells: [String]

        /// Whether nobody has to look at it: only the number counts.
        var isFolded: Bool { isAsRequired || outcome == nil && state == .notBegun }

        var isAsRequired: Bool {
            switch outcome?.tally {
            case .ok, .current, .skipped: true
            case .deferred, .unreachable, .failed, .aborted, nil: false
            }
        }
    }

    /// All vehicles, in the order of their ids.
    private func rows() -> [Row] {
        var rows: [Row] = []
        for (id, standing) in standings {
            let verdict = standing.verdict(verdicts[id])
            let message = standing.sentence.visible
            let cells =
                verdict.map { $0.cells(id, message) }
                ?? [id.text.visible, standing.name, "-", "-", "-", message]
            rows.append(Row(id: id, outcome: verdict?.outcome, state: standing.state, cells: cells))
        }
        for (id, verdict) in verdicts where standings[id] == nil {
            let cells = verdict.cells(id, verdict.message.visible)
            rows.append(Row(id: id, outcome: verdict.outcome, state: nil, cells: cells))
        }
        for (id, state) in underWay where standings[id] == nil {
            let cells = [
                id.text.visible, "unfinished", "-", "-", "-", "ended while \(state.rawValue)",
            ]
            rows.append(Row(id: id, outcome: nil, state: nil, cells: cells))
        }
        return rows.sorted { $0.id < $1.id }
    }

    private static func table(
        _ rows: [Row],
        _ isColoured: Bool = false,
        _ width: Int? = nil
    ) -> String {
        guard !rows.isEmpty else { return "" }
        let head = ["vehicle", "outcome", "versions", "took", "interruptions", "message"]
        let lines = Columns.table([head] + rows.map(\.cells))
        let colours = [nil] + rows.map { isColoured ? $0.outcome?.colour : nil }
        return zip(lines, colours).map { line, colour in
            let line = width.map { Columns.folded(line, $0 - 1) } ?? line
            return (colour.map { Columns.painted(line, $0, column: 1) } ?? line) + "\n"
        }.joined()
    }

    private func summary(_ end: RunEnd, _ width: Int?) -> String {
        let text = "\(end.vehicles.sentence) in \(end.took.brief): \(end.reason.visible)"
        let lines = [text, approval].compactMap(\.self).map { $0 + "\n" }
        return lines.map { line in width.map { Columns.folded(line, $0 - 1) } ?? line }.joined()
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

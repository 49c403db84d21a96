import Base
import Store

/// One vehicle in work, as a line that is redrawn repeatedly.
struct LiveRow: Sendable {
    let vehicle: VehicleID
    let attempt: Int
    /// The adapter of the last sighting or link, or the gateway.
    private(set) var place: String?
    private(set) var state = ExecutionState.seeking
    private(set) var detail: String?
    private(set) var progress: Progress?
    private(set) var interruptions = 0
    /// The time of the next attempt; nil when none is pending.
    private(set) var restsUntil: WallTime?

    init(vehicle: VehicleID, attempt: Int) {
        self.vehicle = vehicle
        self.attempt = attempt
    }

    /// A vehicle on which a gateway of a fleet works.
    init(_ row: RolloutStatus.Row) {
        let record = row.record
        self.init(vehicle: record.vehicle, attempt: record.attempt)
        (place, state, interruptions) = (row.holder?.gateway, record.state, record.interruptions)
        if let done = record.acknowledged, let total = record.totalBytes, total > .zero {
            progress = Progress(
                acknowledged: done,
                total: total,
                resumedFrom: .zero,
                rate: nil,
                remaining: nil
            )
        }
    }

    /// The attempt has failed, and another one follows at `time`.
    mutating func rest(until time: WallTime) {
        restsUntil = time
        (progress, detail) = (nil, nil)
    }

    mutating func take(_ body: Event.Body) {
        switch body {
        case .stateChanged(_, let state, let adapter, let detail):
            self.state = state
            if state != .ended, state != .queued { restsUntil = nil }
            place = adapter ?? place
            self.detail = detail
        case .progress(_, let progress):
            state = .transferring
            restsUntil = nil
            self.progress = progress
        case .interrupted(_, let cause, let count):
            state = .interrupted
            detail = cause
            interruptions = count
        case .runStarted, .imageReady, .attemptStarted, .inspected, .problem, .retrying,
            .stepEnded, .vehicleEnded, .vehicleStands, .warning, .notice, .runEnded:
            break
        }
    }

    /// The text, in at most `style.width - 1` columns, so that no terminal wraps it.
    ///
    /// `place` comes first, in its own column.
    func text(
        _ style: TerminalStyle,
        place: String,
        name columns: Int,
        at now: WallTime
    ) -> String {
        let dots = style.isUnicode ? "…" : "..."
        var name = style.isUnicode ? vehicle.text.visible : vehicle.text.visible.ascii
        if Columns.width(name) > columns {
            name = Columns.prefix(name, columns - Columns.width(dots)) + dots
        }
        var plain = place + Columns.padded(name, columns) + "  "
        // The column for states is as wide as the longest state.
        let stateColumns = 14
        let room = style.width - 1 - Columns.width(plain) - stateColumns - 2
        let rest: String
        if let restsUntil {
            rest = "attempt \(attempt + 1) \(Outlook.left(now.duration(to: restsUntil)))"
        } else {
            rest = state == .transferring ? transfer(style, room) : words(style)
        }
        let word = restsUntil == nil ? state.rawValue : "resting"
        plain += rest.isEmpty ? word : Columns.padded(word, stateColumns) + "  " + rest
        let line = Columns.prefix(plain, max(0, style.width - 1))
        guard style.colourOnErr, state == .interrupted else { return line }
        return Colour.yellow.paint(line)
    }

    private func words(_ style: TerminalStyle) -> String {
        var words: [String] = []
        if let detail {
            words.append(style.isUnicode ? detail.visible : detail.visible.ascii)
        }
        if attempt > 1 { words.append("attempt \(attempt)") }
        if interruptions > 0 { words.append(counted(interruptions, "interruption")) }
        return words.joined(separator: ", ")
    }

    /// A bar, if there is room for one, and figures.
    private func transfer(_ style: TerminalStyle, _ room: Int) -> String {
        guard let progress else { return words(style) }
        let percent = String(progress.percent)
        var figures = String(repeating: " ", count: 3 - percent.utf8.count) + percent + "%"
        if let rate = progress.rateText { figures += "  \(rate)" }
        if let remaining = progress.timeLeft { figures += "  \(remaining.brief) left" }
        if progress.isResumed { figures += "  resumed" }
        let cells = min(30, room - figures.utf8.count - 3)
        guard cells >= 5 else { return figures }
        return style.bar(cells, full: cells * progress.percent / 100) + " " + figures
    }
}

import Base
import Store

/// The current wave, as a line that is redrawn repeatedly.
struct LiveWave: Sendable {
    private let number: Int
    private let count: Int
    private var open: Set<VehicleID>
    private var ended = 0
    private var failed = 0

    /// The wave after an event; nil while there is only one wave.
    init?(after body: Event.Body, _ wave: LiveWave?) {
        if case .notice(let notice) = body, notice.kind == .waveBegan, let number = notice.wave,
            let count = notice.waves, count > 1
        {
            self.number = number
            self.count = count
            open = Set(notice.vehicles)
            return
        }
        guard let wave else { return nil }
        self = wave
        switch body {
        case .vehicleEnded(let vehicle, let verdict):
            guard open.remove(vehicle) != nil else { return }
            ended += 1
            if verdict.outcome.tally == .failed { failed += 1 }
        case .notice(let notice) where notice.kind == .replaced && notice.wave == number:
            if let away = notice.vehicle { open.remove(away) }
            open.formUnion(notice.vehicles)
        case .runStarted, .imageReady, .attemptStarted, .stateChanged, .inspected, .progress,
            .interrupted, .problem, .retrying, .stepEnded, .vehicleStands, .warning, .notice,
            .runEnded:
            break
        }
    }

    func text(_ style: TerminalStyle) -> String {
        let all = ended + open.count
        var text = "wave \(number) of \(count)  "
        var figures = " \(ended) of \(all)"
        if failed > 0 { figures += ", \(failed) failed" }
        let cells = min(20, style.width - 1 - text.utf8.count - figures.utf8.count - 2)
        if cells >= 5, all > 0 {
            text += style.bar(cells, full: cells * ended / all)
        }
        return Columns.prefix(text + figures, max(0, style.width - 1))
    }
}

import Base
import Store

/// The current wave, as a line that is redrawn repeatedly.
struct LiveWave: Sendable {
    private let number: Int
    private let count: Int
    private var counts: VehicleCounts
    /// Vehicles that have not ended, where events say which.
    private var open: Set<VehicleID> = []

    /// The wave after an event; nil while there is only one wave.
    init?(after body: Event.Body, _ wave: LiveWave?) {
        if case .notice(let notice) = body, notice.kind == .waveBegan, let number = notice.wave,
            let count = notice.waves, count > 1
        {
            self.number = number
            self.count = count
            open = Set(notice.vehicles)
            counts = VehicleCounts(unfinished: open.count)
            return
        }
        guard let wave else { return nil }
        self = wave
        switch body {
        case .vehicleEnded(let vehicle, let verdict):
            guard open.remove(vehicle) != nil else { return }
            counts.add(nil, times: -1)
            counts.add(verdict.outcome, times: 1)
        case .notice(let notice) where notice.kind == .replaced && notice.wave == number:
            if let away = notice.vehicle { open.remove(away) }
            open.formUnion(notice.vehicles)
            counts.add(nil, times: open.count - counts.unfinished)
        case .runStarted, .imageReady, .attemptStarted, .stateChanged, .inspected, .progress,
            .interrupted, .problem, .retrying, .stepEnded, .vehicleStands, .warning, .notice,
            .runEnded:
            break
        }
    }

    /// The wave at which a fleet is; nil where it has only one.
    init?(_ waves: [WaveStatus]) {
        guard waves.count > 1, let wave = waves.first(where: { $0.state == .current }) else {
            return nil
        }
        (number, count, counts) = (wave.number, waves.count, wave.counts)
    }

    func text(_ style: TerminalStyle) -> String {
        let (all, failed) = (counts.total, counts.count(.failed))
        let ended = all - counts.unfinished
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

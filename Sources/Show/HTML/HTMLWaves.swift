import Base
import Store

/// The progress of each wave, as one bar for each wave.
enum HTMLWaves {
    static func section(_ story: RunStory) -> String {
        guard let count = story.waveCount, count > 1 else { return "" }
        var verdicts: [VehicleID: Verdict] = [:]
        for vehicle in story.vehicles { verdicts[vehicle.id] = vehicle.verdict }
        let rows = (1...count).map { number in
            guard let wave = story.waves.first(where: { $0.number == number }) else {
                return "<li><b>wave \(number)</b> <small>not begun</small></li>"
            }
            return row(wave, of: count, verdicts)
        }
        return "<section><h2>Waves</h2>\n<ol class=\"waves\">\n" + rows.joined(separator: "\n")
            + "\n</ol></section>"
    }

    private static func row(
        _ wave: WaveStory,
        of count: Int,
        _ verdicts: [VehicleID: Verdict]
    ) -> String {
        let marks = wave.members.map { member in
            verdicts[member].map { HTMLReport.mark($0.outcome) }
        }
        let shares = HTMLReport.Mark.allCases.map { mark in
            (mark: mark, count: marks.count { $0 == mark })
        }
        let ended = shares.reduce(0) { $0 + $1.count }
        var facts = ["\(ended) of \(wave.members.count) vehicles ended"]
        for share in shares where share.count > 0 && share.mark != .good {
            facts.append("\(share.count) \(share.mark == .bad ? "failed" : "missed")")
        }
        if let end = wave.ended {
            facts.append("took \(wave.began.duration(to: end).brief)")
        } else {
            facts.append("not over")
        }
        let pieces = shares.filter { $0.count > 0 }.map { share in
            "<i class=\"\(share.mark.rawValue)\" style=\"flex-grow: \(share.count)\"></i>"
        }
        let open = wave.members.count - ended
        let rest = open > 0 ? "<i style=\"flex-grow: \(open)\"></i>" : ""
        return "<li><b>wave \(wave.number)</b> <small>\(facts.joined(separator: ", "))</small>"
            + "<div class=\"bar\">\(pieces.joined())\(rest)</div></li>"
    }
}

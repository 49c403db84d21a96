import Base
import Store

/// A run as a table for spreadsheets (RFC 4180): one line for each vehicle, times in seconds.
package enum CSVReport {
    static let columns = [
        "vehicle", "serial", "outcome", "class", "version_before", "version_after", "attempts",
        "interruptions", "bytes_sent", "transfer_seconds", "seconds", "message",
        "state", "run", "run_images", "gateway",
    ]

    package static func text(_ story: RunStory) -> String {
        var text = columns.joined(separator: ",") + "\r\n"
        // The table has one kind of line, so each line contains the facts about the run's images.
        let images = story.images.map { image in
            ([image.name] + image.provenance).joined(separator: "; ")
        }.joined(separator: " | ")
        for vehicle in story.vehicles {
            let verdict = vehicle.verdict
            let state = vehicle.standing?.state.rawValue ?? ""
            let run = vehicle.standing?.runName ?? story.start?.name
            let cells: [String] = [
                vehicle.id.text, vehicle.serial?.text ?? "",
                vehicle.name, verdict?.failure?.rawValue ?? "",
                verdict?.versionBefore?.description ?? "",
                verdict?.versionAfter?.description ?? "",
                verdict.map { String($0.attempts) } ?? "",
                verdict.map { String($0.interruptions) } ?? "",
                String(vehicle.bytesSent),
                Markup.seconds(vehicle.transfer),
                verdict.map { Markup.seconds($0.took) } ?? "",
                vehicle.sentence,
                verdict == nil ? state : "",
                verdict == nil ? "" : run.map { "\($0.number)" } ?? "",
                images,
                verdict == nil ? "" : run?.gateway ?? "",
            ]
            text += cells.map(cell).joined(separator: ",") + "\r\n"
        }
        return text
    }

    /// Quoted where necessary.
    ///
    /// A cell that a spreadsheet would take for a formula is made plain text; a number is none.
    package static func cell(_ text: String) -> String {
        var text = text.visible
        if let first = text.utf8.first, "=+-@\t\r".utf8.contains(first), Int(text) == nil {
            text = "'" + text
        }
        guard text.utf8.contains(where: { ",\"\r\n".utf8.contains($0) }) else { return text }
        return "\""
            + text.split(separator: "\"", omittingEmptySubsequences: false)
            .joined(separator: "\"\"") + "\""
    }
}

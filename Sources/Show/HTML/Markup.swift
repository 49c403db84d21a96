import Base

/// Escapes text for HTML or XML.
package enum Markup {
    /// Safe between tags and in quoted values; a character that XML does not allow is shown as its
    /// number.
    package static func text(_ text: String) -> String {
        var result = ""
        for scalar in text.visible.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// A number with this many digits after the point.
    package static func number(_ value: Double, digits: Int) -> String {
        var scale = 1
        for _ in 0..<digits { scale *= 10 }
        let scaled = (value * Double(scale)).rounded()
        guard scaled.isFinite, scaled.magnitude < 1e15 else { return "0" }
        let whole = Int(scaled)
        let sign = whole < 0 ? "-" : ""
        guard digits > 0 else { return String(whole) }
        let rest = String(Int(whole.magnitude) % scale)
        let padded = String(repeating: "0", count: digits - rest.utf8.count) + rest
        return "\(sign)\(Int(whole.magnitude) / scale).\(padded)"
    }

    /// Seconds, truncated to milliseconds as in JSON, so that the report from a run's journal is
    /// identical.
    static func seconds(_ duration: Duration) -> String {
        let milliseconds = duration.nanoseconds / 1_000_000
        let rest = String(milliseconds.magnitude % 1_000)
        return (milliseconds < 0 ? "-" : "") + String(milliseconds.magnitude / 1_000) + "."
            + String(repeating: "0", count: 3 - rest.utf8.count) + rest
    }
}

import Base

/// The colours that are used, by their terminal codes.
enum Colour: Int {
    case red = 31
    case green = 32
    case yellow = 33
    case faint = 2

    func paint(_ text: String) -> String { "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" }

    /// A coloured text without its escape sequences, as it appears on the screen.
    static func without(_ text: String) -> String {
        var (plain, isSequence) = ("", false)
        for character in text {
            if character == "\u{1B}" { isSequence = true }
            if !isSequence { plain.append(character) }
            if isSequence, character == "m" { isSequence = false }
        }
        return plain
    }
}

extension Outcome {
    var colour: Colour {
        switch tally {
        case .ok: .green
        case .current, .skipped: .faint
        case .deferred, .unreachable: .yellow
        case .failed, .aborted: .red
        }
    }
}

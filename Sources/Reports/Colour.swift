import Domain

/// The few colours used, as the number that a terminal is told.
enum Colour: Int {
    case red = 31
    case green = 32
    case yellow = 33
    case cyan = 36
    case faint = 2

    func paint(_ text: String) -> String { "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" }
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

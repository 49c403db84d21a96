import Base
import Store

/// Texts about people's commands, for those who look later.
extension Saying {
    /// Whether its effect is no longer visible: it lifted something, or had something tried again.
    var leavesNothing: Bool {
        switch SteeringVerb(rawValue: verb) {
        case .resume, .retry, .uninhibit, .clear: true
        case .pause, .abort, .inhibit, nil: false
        }
    }

    /// The verb, its object and the reason.
    var words: String {
        let whom =
            vehicles.isEmpty
            ? rollout?.visible ?? "the depot"
            : names + (rollout.map { " of \($0.visible)" } ?? "")
        return "\(verb.visible) \(whom)" + (reason.isEmpty ? "" : ": \(reason.visible)")
    }

    /// The vehicles' names; a long list is cut, because it would hide everything else.
    private var names: String {
        let shown = vehicles.prefix(Self.mostNames).map(\.text.visible).joined(separator: ", ")
        let rest = vehicles.count - Self.mostNames
        return rest > 0 ? "\(shown) and \(rest) more" : shown
    }

    private static let mostNames = 8

    func sentence(_ time: (WallTime) -> String) -> String {
        "said by \(author.visible), \(time(made)): \(words)"
    }
}

extension Inhibit {
    /// Who has set it, as the end of a line.
    var by: String { ", by \(author.visible)" }
}

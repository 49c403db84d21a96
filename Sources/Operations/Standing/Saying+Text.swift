import Domain
import Journal

/// What people have said, for those who come later.
extension Saying {
    /// Whether what it set is not to be seen any more: it took something back, or had something tried again.
    var leavesNothing: Bool {
        switch SteeringRequest.Verb(rawValue: verb) {
        case .resume, .retry, .uninhibit, .clear: true
        case .pause, .abort, .inhibit, nil: false
        }
    }

    /// The verb, what it is about, and why.
    var words: String {
        let whom =
            vehicles.isEmpty
            ? rollout?.visible ?? "the depot"
            : names + (rollout.map { " of \($0.visible)" } ?? "")
        return "\(verb.visible) \(whom)" + (reason.isEmpty ? "" : ": \(reason.visible)")
    }

    /// A long list of vehicles would be all that one sees.
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
    /// Who has set it, as the end of a line; earlier versions did not write it down.
    var by: String { author.isEmpty ? "" : ", by \(author.visible)" }
}

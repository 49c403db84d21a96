/// Whom a flag or an argument means: an id, a pattern, a label's value, or how vehicles ended last.
package struct VehicleSelection: Sendable, Equatable, CustomStringConvertible {
    /// Vehicles by how they stand in the last run of the rollout.
    package enum Group: String, CaseIterable, Sendable {
        /// They answered, and it went wrong.
        case failed
        /// Nobody heard them.
        case unreachable
        /// A precondition did not hold.
        case deferred
        /// A command that may or may not have been carried out.
        case doubt

        /// As it is written.
        package var word: String { "@" + rawValue }
    }

    package enum Form: Sendable, Equatable {
        case pattern(VehiclePattern)
        case group(Group)
        /// A column of the fleet list and a pattern of its value.
        case label(String, VehiclePattern)
    }

    package let text: String
    package let form: Form

    /// Nil when it is empty, too long, or an unknown group.
    package init?(_ text: some StringProtocol) {
        guard let pattern = VehiclePattern(text) else { return nil }
        self.text = String(text)
        if self.text.hasPrefix("@") {
            guard let group = Group(rawValue: String(self.text.dropFirst())) else { return nil }
            form = .group(group)
        } else if let mark = self.text.firstIndex(of: "="),
            let value = VehiclePattern(self.text[self.text.index(after: mark)...]),
            mark != self.text.startIndex
        {
            form = .label(String(self.text[..<mark]), value)
        } else {
            form = .pattern(pattern)
        }
    }

    /// What was expected where there is none.
    package static let expected =
        "a vehicle's id, a pattern such as 'bus-*', LABEL=VALUE, or one of "
        + Group.allCases.map(\.word).joined(separator: ", ")

    package var description: String { text }

    /// Whether it says which vehicles by their ids alone.
    package var isPattern: Bool {
        if case .pattern = form { return true }
        return false
    }
}

/// The vehicles that a flag or an argument selects: by an id, a pattern, a label's value, or their
/// last result.
package struct VehicleSelection: Sendable, Equatable, CustomStringConvertible {
    /// Vehicles by their state in the last run of the rollout.
    package enum Group: String, CaseIterable, Sendable {
        /// They answered, and an error occurred.
        case failed
        /// They were not heard.
        case unreachable
        /// A precondition did not hold.
        case deferred
        /// A command that may or may not have been carried out.
        case doubt

        /// The group as it is written in the command line.
        var word: String { "@" + rawValue }
    }

    package enum Form: Sendable, Equatable {
        case pattern(VehiclePattern)
        case group(Group)
        /// A column of the fleet list, and a pattern for its value.
        case label(String, VehiclePattern)
    }

    package let text: String
    package let form: Form

    /// Nil when the text is empty, too long, or an unknown group.
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

    /// A description of valid text, for error messages.
    package static let expected =
        "a vehicle's id, a pattern such as 'bus-*', LABEL=VALUE, or one of "
        + Group.allCases.map(\.word).joined(separator: ", ")

    package var description: String { text }

    /// Whether it may select several vehicles by their ids.
    package var hasWildcards: Bool { isPattern && text.contains { $0 == "*" || $0 == "?" } }

    /// Whether it selects vehicles by their ids only.
    package var isPattern: Bool {
        if case .pattern = form { return true }
        return false
    }
}

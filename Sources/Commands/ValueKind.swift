import Domain

/// The kind of a value, which decides how it is checked and how a shell completes it.
package enum ValueKind: Sendable, Equatable {
    case file
    /// A file, or `-` for the standard stream.
    case fileOrStream
    /// A file whose name has one of these endings.
    case fileEnding([String])
    case directory
    case vehicles
    /// Any text that is not empty.
    case text
    /// A whole number of at most 64 bits, without sign.
    case whole
    /// A decimal number above zero, such as `2` or `0.5`.
    case positive
    /// A number with its unit, such as `30s` or `1h30m`.
    case duration
    /// The name of a property of a module.
    case property
    /// A rollout's name.
    case rollout
    /// The number of a run, or `last`.
    case run
    case words([String])
    /// The words of a command's name.
    case command

    /// A description of the expected text when `text` is invalid; nil when it is valid.
    func complaint(about text: String) -> String? {
        switch self {
        case .file, .fileOrStream, .directory:
            text.isEmpty ? "a path" : nil
        case .fileEnding(let endings):
            endings.contains { text.hasSuffix($0) && text.utf8.count > $0.utf8.count }
                ? nil : "a file that ends in " + endings.joined(separator: ", ")
        case .vehicles:
            VehicleSelection(text) == nil ? VehicleSelection.expected : nil
        case .whole:
            Self.whole(text) == nil ? "a whole number from 0 to \(UInt64.max)" : nil
        case .positive:
            Self.positive(text) == nil ? "a number above 0, such as 2 or 0.5" : nil
        case .duration:
            Duration(text: text).map { $0 > .zero } ?? false
                ? nil : "a time above 0 with its unit, such as 30s, 5m or 1h30m"
        case .property:
            text.isEmpty || text.utf8.count > 64 ? "a property's name" : nil
        case .text:
            text.isEmpty || text.utf8.count > 2_000 ? "up to 2,000 bytes of text" : nil
        case .words(let words):
            words.contains(text) ? nil : words.joined(separator: ", ")
        case .rollout:
            text.isEmpty || text.utf8.count > 2_000 ? "a rollout's name" : nil
        case .run:
            text.isEmpty ? "a run's number, or last" : nil
        case .command:
            nil
        }
    }

    package static func whole(_ text: String) -> UInt64? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt64(text) : nil
    }

    package static func positive(_ text: String) -> Double? {
        let parts = text.utf8.split(separator: 0x2E, omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count),
            parts.allSatisfy({
                (1...9).contains($0.count) && $0.allSatisfy { (0x30...0x39).contains($0) }
            }),
            let number = Double(text), number > 0
        else { return nil }
        return number
    }
}

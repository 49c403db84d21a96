extension Diagnostic {
    /// The diagnostics as text: an error in many rows is reported once, with their places.
    ///
    /// The groups are in the order of their first diagnostics.
    package static func texts(_ diagnostics: [Diagnostic]) -> [String] {
        var order: [Kind] = []
        var groups: [Kind: [Diagnostic]] = [:]
        for diagnostic in diagnostics {
            let kind = Kind(diagnostic)
            if groups[kind] == nil { order.append(kind) }
            groups[kind, default: []].append(diagnostic)
        }
        return order.flatMap { kind in
            let group = groups[kind] ?? []
            guard group.count >= fewest else { return group.map(\.description) }
            return [text(of: group)]
        }
    }

    /// The number of equal diagnostics that form a group; two or three are shown individually.
    static let fewest = 4
    /// The number of places that are shown.
    private static let shown = 6

    private struct Kind: Hashable {
        let file: String
        let severity: Severity
        let words: String
        let hint: String?

        init(_ diagnostic: Diagnostic) {
            file = diagnostic.place.file
            severity = diagnostic.severity
            words = diagnostic.topic ?? Self.withoutNames(diagnostic.message)
            hint = diagnostic.topic == nil ? diagnostic.hint : nil
        }

        /// The message without the text in backticks, which differs from row to row.
        private static func withoutNames(_ message: String) -> String {
            var words = ""
            for (index, piece) in message.split(
                separator: "`",
                omittingEmptySubsequences: false
            ).enumerated() where index.isMultiple(of: 2) {
                words += piece + "`"
            }
            return words
        }
    }

    private static func text(of group: [Diagnostic]) -> String {
        let others = group.dropFirst()
        let places = others.prefix(shown - 1).map { "\($0.place.line):\($0.place.column)" }
        let left = others.count - places.count
        return group[0].description + "\n  the same \(others.count) times more, at "
            + places.joined(separator: ", ") + (left > 0 ? " and \(left) other places" : "")
    }
}

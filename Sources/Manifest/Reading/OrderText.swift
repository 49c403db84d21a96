package import Base

/// Parses steps as a person types them, such as `command lock` or `set lights=disabled; wait 5s`,
/// or as a manifest writes them.
package enum OrderText {
    private static let file = "STEP"

    /// The steps; nil when `diagnostics` has received errors.
    package static func steps(
        _ text: String,
        images: Set<String>,
        _ diagnostics: Diagnostics
    ) -> [Step]? {
        let reader = StepReader(diagnostics: diagnostics, images: images)
        let place = Place(file: file, line: 1, column: 1)
        let pieces = text.split(separator: ";").map { spelledOut(String($0)) }
        let steps = StepText.steps(
            Cell(pieces.joined(separator: "; "), at: place),
            reader
        )
        if steps.contains(where: { $0.update?.choice != nil }) {
            diagnostics.error(
                place,
                "an order has no choice of images",
                hint: "name the one that is meant: `update IMAGE`"
            )
        }
        if steps.isEmpty, !diagnostics.hasErrors {
            diagnostics.error(place, "there is no step", hint: "write one, such as `command lock`")
        }
        return diagnostics.hasErrors ? nil : steps
    }

    /// Converts one step to the form of a manifest; text with a colon after its first word already
    /// has it.
    private static func spelledOut(_ piece: String) -> String {
        let words = piece.split(maxSplits: 1, whereSeparator: \.isWhitespace).map(String.init)
        guard words.count == 2, !words[0].contains(":") else { return piece }
        let (action, rest) = (words[0], words[1])
        switch action {
        case "set", "feature", "require", "expect":
            guard !rest.hasPrefix("{") else { return "\(action): \(rest)" }
            let parts = rest.split(separator: ",").map { assignment(String($0), of: action) }
            return "\(action): {\(parts.joined(separator: ", "))}"
        case "read", "command":
            return rest.contains(",") && !rest.hasPrefix("[")
                ? "\(action): [\(rest)]" : "\(action): \(rest)"
        default:
            return "\(action): \(rest)"
        }
    }

    /// Converts `name=value` and `name >= value` to members of a map.
    private static func assignment(_ text: String, of action: String) -> String {
        let isTest = action == "require" || action == "expect"
        guard let mark = text.firstIndex(where: { "=<>!".contains($0) }) else { return text }
        let name = text[..<mark].trimmed
        var comparison = text[mark...].prefix { "=<>!".contains($0) }
        let value = text[mark...].dropFirst(comparison.count).trimmed
        guard isTest else { return "\(name): \(value)" }
        if comparison == "=" { comparison = "==" }
        return "\(name): \"\(comparison) \(value)\""
    }
}

extension Substring {
    fileprivate var trimmed: String {
        let front = drop { $0.isWhitespace }
        return String(front.reversed().drop { $0.isWhitespace }.reversed())
    }
}

import Base

/// Reads property names, values and conditions.
enum ConditionReader {
    /// A map of properties to conditions, sorted by name.
    static func conditions(
        _ node: SourceNode,
        _ diagnostics: Diagnostics
    ) -> [PropertyCondition] {
        entries(node, "conditions", diagnostics).compactMap { entry in
            condition(entry.value, diagnostics).map { PropertyCondition(entry.key, $0) }
        }
    }

    /// A map of names to values, sorted by name.
    static func assignments(_ node: SourceNode, _ diagnostics: Diagnostics) -> [Assignment] {
        entries(node, "values", diagnostics).compactMap { entry in
            literal(entry.value, diagnostics).map { Assignment(entry.key, $0) }
        }
    }

    /// Sorted, so that the order of keys never affects the work.
    private static func entries(
        _ node: SourceNode,
        _ what: String,
        _ diagnostics: Diagnostics
    ) -> [SourceNode.Entry] {
        guard let entries = node.entries(diagnostics, of: "a map of properties to \(what)") else {
            return []
        }
        let own = entries.filter { !$0.key.hasPrefix("x-") }
        if own.isEmpty {
            diagnostics.error(node.place, "the map is empty", hint: "name at least one property")
        }
        for entry in own where !Form.property.accepts(entry.key) {
            diagnostics.error(
                entry.keyPlace,
                "\(quoted(entry.key)) is not \(Form.property.title)",
                hint: Form.property.hint
            )
        }
        return own.sorted { $0.key < $1.key }
    }

    static func literal(_ node: SourceNode, _ diagnostics: Diagnostics) -> Literal? {
        node.text(diagnostics, "a word or a number").map { Literal($0) }
    }

    private static func condition(_ node: SourceNode, _ diagnostics: Diagnostics) -> Condition? {
        guard let text = node.text(diagnostics, Form.condition.title) else { return nil }
        let marks: Set<Character> = ["=", "!", "<", ">"]
        let trimmed = text.drop { $0 == " " }
        let sign = trimmed.prefix { marks.contains($0) }
        let operand = trim(trimmed[sign.endIndex...])
        guard let comparison = sign.isEmpty ? .equal : Condition.Operator(rawValue: String(sign))
        else {
            let known = Condition.Operator.allCases.map { "`\($0.rawValue)`" }
            let meant = sign == "=" ? "did you mean `==`? " : ""
            diagnostics.error(
                node.place,
                "\(quoted(sign)) is not a comparison",
                hint: meant + "known here: " + known.joined(separator: ", ")
            )
            return nil
        }
        guard !operand.isEmpty else {
            diagnostics.error(
                node.place,
                "the condition has no value",
                hint: "write \"\(comparison.rawValue) VALUE\""
            )
            return nil
        }
        guard let condition = Condition(comparison, Literal(operand)) else {
            diagnostics.error(
                node.place,
                "\(quoted(operand)) is no number, so `\(sign)` cannot compare it",
                hint: "write a number without its unit, or use `==` or `!=`"
            )
            return nil
        }
        return condition
    }

    private static func trim(_ text: Substring) -> String {
        var text = text.drop { $0 == " " }
        while text.last == " " { text = text.dropLast() }
        return String(text)
    }
}

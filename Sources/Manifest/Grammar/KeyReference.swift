/// The list of keys in the manual, as Markdown, generated from the grammar.
package func manifestKeyReference() -> String {
    Grammar.tables.map { table in
        var lines = ["### \(table.name)", "", table.sentence, ""]
        if !table.exactlyOne.isEmpty {
            let actions = table.exactlyOne.map { "`\($0)`" }.joined(separator: ", ")
            lines += ["Exactly one of \(actions).", ""]
        }
        if table.otherKeys != nil {
            lines += ["Any other key is a label that `select` can ask for.", ""]
        }
        lines += ["| key | value | default | |", "|---|---|---|---|"]
        for field in table.fields {
            let fallback =
                switch field.presence {
                case .required: "required"
                case .optional: ""
                case .fallback(let text): "`\(text)`"
                }
            let beside = field.beside.map { " Only beside `\($0)`." } ?? ""
            lines.append(
                "| `\(field.key)` | \(field.shape.title) | \(fallback) | \(field.sentence)\(beside) |"
            )
        }
        return lines.joined(separator: "\n") + "\n"
    }.joined(separator: "\n")
}

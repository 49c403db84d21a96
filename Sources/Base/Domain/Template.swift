/// A text with names in braces that stand for values.
package enum Template {
    /// The text with these values, each in this form; other braces stay.
    package static func fill(
        _ text: String,
        _ values: [(name: String, value: String)],
        as form: (String) -> String = { $0 }
    ) -> String {
        var filled = ""
        var rest = text[...]
        while let brace = rest.firstIndex(of: "{") {
            filled += rest[..<brace]
            rest = rest[brace...]
            guard let (name, value) = values.first(where: { rest.hasPrefix("{\($0.name)}") })
            else {
                filled.append(rest.removeFirst())
                continue
            }
            filled += form(value)
            rest = rest.dropFirst(name.count + 2)
        }
        return filled + rest
    }
}

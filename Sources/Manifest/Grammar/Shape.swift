import Base

/// The values that a key of the manifest accepts.
indirect enum Shape: Sendable {
    case form(Form)
    case integer(ClosedRange<Int>)
    case boolean
    case duration(ClosedRange<Duration>)
    case size(ClosedRange<Int>)
    case percent
    case words([String])
    /// A word, a number or a truth value.
    case literal
    /// A comparison with a value; without an operator, `==`.
    case condition
    case list(Shape, least: Int)
    case table(Table)
    /// A map whose keys the user chooses.
    case map(key: Form, Shape)
    case either([Shape])

    /// The name of the shape in the manual.
    var title: String {
        switch self {
        case .form(let form): return Self.bare(form.title)
        case .integer(let range):
            return range.upperBound >= 1 << 31
                ? "number" : "\(range.lowerBound) to \(range.upperBound)"
        case .boolean: return "`true` or `false`"
        case .duration: return "duration"
        case .size: return "size"
        case .percent: return "percentage"
        case .words(let words):
            return words.map { "`\($0)`" }.joined(separator: ", ")
        case .literal: return "word or number"
        case .condition: return "condition"
        case .list(let shape, _): return "list of: \(shape.title)"
        case .table(let table): return "[\(table.name)](#\(table.anchor))"
        case .map(let key, let shape): return "map of \(Self.bare(key.title)): \(shape.title)"
        case .either(let shapes):
            let titles = shapes.map { shape in
                // The manual does not name the same shape twice, as one value and as a list.
                if case .list(let inner, _) = shape,
                    shapes.contains(where: { $0.title == inner.title })
                {
                    return "a list of them"
                }
                return shape.title
            }
            return titles.joined(separator: "; or ")
        }
    }

    private static func bare(_ title: String) -> String {
        for article in ["a ", "an ", "the "] where title.hasPrefix(article) {
            return String(title.dropFirst(article.utf8.count))
        }
        return title
    }
}

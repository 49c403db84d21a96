extension SourceNode {
    /// The same value as JSON: this reader reads that as it reads the node.
    package var json: JSONValue {
        switch value {
        case .list(let items): return .array(items.map(\.json))
        case .map(let entries): return .object(entries.map { JSONMember($0.key, $0.value.json) })
        case .scalar(let text, let style):
            if isNothing { return .null }
            guard style == .plain else { return .string(text) }
            if let number = PlainNumber.integer(text) { return .integer(Int64(number)) }
            switch text {
            case "true", "True", "TRUE": return true
            case "false", "False", "FALSE": return false
            default: return .string(text)
            }
        }
    }
}

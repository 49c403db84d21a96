/// A condition on a property's value: `>= 40`, `== locked`.
package struct Condition: Sendable, Hashable, CustomStringConvertible {
    package enum Operator: String, CaseIterable, Sendable, Hashable {
        case equal = "=="
        case notEqual = "!="
        case atLeast = ">="
        case atMost = "<="
        case above = ">"
        case below = "<"

        /// Whether the operator requires ordered values.
        var ordersValues: Bool { self != .equal && self != .notEqual }
    }

    package let comparison: Operator
    package let operand: Literal

    /// Nil when the operator requires an order and the operand has none.
    package init?(_ comparison: Operator, _ operand: Literal) {
        if comparison.ordersValues, operand.number == nil, operand.version == nil { return nil }
        self.comparison = comparison
        self.operand = operand
    }

    package var description: String { "\(comparison.rawValue) \(operand)" }

    /// Whether a value from a module passes; a value without an order passes no ordering operator.
    package func holds(for value: Literal) -> Bool {
        if let left = value.number, let right = operand.number { return compare(left, right) }
        if let left = value.version, let right = operand.version { return compare(left, right) }
        return switch comparison {
        case .equal: value.text == operand.text
        case .notEqual: value.text != operand.text
        case .atLeast, .atMost, .above, .below: false
        }
    }

    private func compare<Value: Comparable>(_ left: Value, _ right: Value) -> Bool {
        switch comparison {
        case .equal: left == right
        case .notEqual: left != right
        case .atLeast: left >= right
        case .atMost: left <= right
        case .above: left > right
        case .below: left < right
        }
    }
}

import Base

/// A comparison of two values, in the spelling of manifests.
package enum Comparison: String, CaseIterable, Sendable, Hashable {
    case equal = "=="
    case notEqual = "!="
    case atLeast = ">="
    case atMost = "<="
    case above = ">"
    case below = "<"

    package var ordersValues: Bool { self != .equal && self != .notEqual }

    func holds<Value: Comparable>(_ left: Value, _ right: Value) -> Bool {
        switch self {
        case .equal: left == right
        case .notEqual: left != right
        case .atLeast: left >= right
        case .atMost: left <= right
        case .above: left > right
        case .below: left < right
        }
    }
}

/// A condition on one property, checked against its profile: it can become true.
package struct PropertyTest: Sendable, Hashable, CustomStringConvertible {
    package let property: String
    package let comparison: Comparison
    package let operand: PropertyValue
    /// Whether the operand `unknown` stands for every value without a name.
    private let meansAnyUnknown: Bool

    fileprivate init(
        _ property: String,
        _ comparison: Comparison,
        _ operand: PropertyValue,
        meansAnyUnknown: Bool = false
    ) {
        self.property = property
        self.comparison = comparison
        self.operand = operand
        self.meansAnyUnknown = meansAnyUnknown
    }

    /// Whether a value passes the test.
    ///
    /// A value of another kind passes only `!=`.
    package func holds(for value: PropertyValue) -> Bool {
        switch (value, operand) {
        case (.number(let left), .number(let right)): return comparison.holds(left, right)
        case (.unknownState, .unknownState) where meansAnyUnknown: return comparison == .equal
        default: break
        }
        return switch comparison {
        case .equal: value == operand
        case .notEqual: value != operand
        case .atLeast, .atMost, .above, .below: false
        }
    }

    package var description: String {
        "\(comparison.rawValue) \(meansAnyUnknown ? PropertyValue.unknown : operand.text)"
    }
}

/// Why a condition or a value makes no sense for the property that it names.
package struct PropertyMistake: Error, Sendable, Hashable, CustomStringConvertible {
    package let message: String
    package let hint: String
    /// Whether the name is valid and the value is not.
    package let concernsValue: Bool

    package init(_ message: String, hint: String, concernsValue: Bool = false) {
        self.message = message
        self.hint = hint
        self.concernsValue = concernsValue
    }

    init(_ error: PropertyReadError) { self.init(error.sentence, hint: error.remedy) }

    init(_ error: PropertyWriteError) {
        self.init(error.sentence, hint: error.remedy, concernsValue: error.concernsValue)
    }

    package var description: String { "\(message); \(hint)" }
}

extension PropertySpec {
    /// The test of this property that an operator and a word or number of a manifest make.
    package func test(
        _ comparison: Comparison,
        _ literal: String
    ) throws(PropertyMistake) -> PropertyTest {
        guard access.isReadable else {
            throw PropertyMistake(
                "`\(name)` can be written and not read, so nothing can be required of it",
                hint: "name a property that can be read"
            )
        }
        if case .range = form {
        } else if comparison.ordersValues {
            throw PropertyMistake(
                "`\(comparison.rawValue)` cannot compare `\(name)`, which is no number",
                hint: "use `==` or `!=`",
                concernsValue: true
            )
        }
        let operand: PropertyValue
        do throws(PropertyWriteError) { operand = try parse(literal) } catch {
            throw PropertyMistake(error)
        }
        try checkReach(of: comparison, operand)
        guard case .states(let form) = form, case .state(let state) = operand else {
            return PropertyTest(name, comparison, operand)
        }
        if state == PropertyValue.unknown {
            return PropertyTest(name, comparison, .unknownState(0), meansAnyUnknown: true)
        }
        guard form.raw(state) == nil else { return PropertyTest(name, comparison, operand) }
        if let raw = Self.unknownRaw(state) {
            return PropertyTest(name, comparison, .unknownState(raw))
        }
        throw PropertyMistake(
            "`\(name)` has no state \(quoted(state))",
            hint: Nearest.hint(state, among: form.names),
            concernsValue: true
        )
    }

    /// Rejects a condition that no reading within the property's limits can pass.
    private func checkReach(
        of comparison: Comparison,
        _ operand: PropertyValue
    ) throws(PropertyMistake) {
        guard case .range(let range) = form, let limits = range.limits,
            case .number(let number) = operand
        else { return }
        let canHold =
            switch comparison {
            case .equal: limits.contains(number)
            case .notEqual: true
            case .atLeast: limits.upperBound >= number
            case .above: limits.upperBound > number
            case .atMost: limits.lowerBound <= number
            case .below: limits.lowerBound < number
            }
        guard !canHold else { return }
        let text = PropertyValue.number
        throw PropertyMistake(
            "`\(name)` can never be \(comparison.rawValue) \(text(number).text)",
            hint: "it is between \(text(limits.lowerBound).text) and "
                + text(limits.upperBound).text,
            concernsValue: true
        )
    }

    /// The number in `unknown(7)`, so that a condition can contain a value as it was printed.
    private static func unknownRaw(_ text: String) -> UInt64? {
        let start = PropertyValue.unknown + "("
        guard text.hasPrefix(start), text.hasSuffix(")") else { return nil }
        return UInt64(text.dropFirst(start.utf8.count).dropLast())
    }
}

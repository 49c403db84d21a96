import Base
package import Manifest
package import Radio
package import Store

/// A condition that a vehicle must meet before anything is done on it.
package enum Precondition: Sendable {
    /// A value that its module reports.
    case property(PropertyTest)
    /// The signal strength of its module, in dBm.
    case signal(Condition)
    /// A label of the fleet list; its value is nil when the list has none.
    case label(String, value: String?, Condition)

    /// The name of the signal in a manifest.
    package static let signalName = "signal"

    /// Whether the check needs the module to be heard.
    var needsModule: Bool {
        switch self {
        case .property, .signal: true
        case .label: false
        }
    }

    /// The order of the checks: the cheapest first, and those that need a link last.
    var cost: Int {
        switch self {
        case .label: 0
        case .signal: 1
        case .property: 2
        }
    }

    /// The manifest's name for the value that is checked.
    var name: String {
        switch self {
        case .property(let test): test.property
        case .signal: Self.signalName
        case .label(let name, _, _): Step.labelMark + name
        }
    }

    /// The requirement as a manifest writes it.
    var required: String {
        switch self {
        case .property(let test): test.description
        case .signal(let condition): "\(condition) dBm"
        case .label(_, _, let condition): condition.description
        }
    }

    /// The problem, when it can be found without the module.
    package var problemAhead: Problem? {
        guard case .label(_, let value, let condition) = self else { return nil }
        // A missing value is equal to no word, and so different from each.
        if condition.holds(for: Literal(value ?? "")) { return nil }
        return problem(value.map { $0.isEmpty ? "empty" : $0 } ?? "not given")
    }

    func problem(_ measured: String) -> Problem {
        Problem(check: name, measured: measured, required: required)
    }
}

extension [JobStep] {
    /// The first problem that is known without listening for the module, and what follows from it.
    var problemAhead: (problem: Problem, otherwise: Otherwise)? {
        for step in self {
            guard case .require(let preconditions, let otherwise) = step else { return nil }
            guard otherwise != .warn else { continue }
            if let problem = preconditions.lazy.compactMap(\.problemAhead).first {
                return (problem, otherwise)
            }
        }
        return nil
    }
}

extension Otherwise {
    /// How a vehicle ends when a precondition does not hold; nil when it continues.
    var ending: (outcome: Outcome, failure: FailureClass?)? {
        switch self {
        case .defer: (.deferred, nil)
        case .skip: (.skipped, nil)
        case .fail: (.failed, .rejected)
        case .warn: nil
        }
    }
}

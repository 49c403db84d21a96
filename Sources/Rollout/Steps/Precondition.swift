import Domain
package import Manifest
package import Modules
package import Reports

/// What must hold of a vehicle before anything is done on it.
package enum Precondition: Sendable {
    /// A value that its module reports.
    case property(PropertyTest)
    /// How strong its module is heard, in dBm.
    case signal(Condition)
    /// What the fleet list says of it; nil where it says nothing.
    case label(String, value: String?, Condition)

    /// What a manifest calls the signal.
    package static let signalName = "signal"

    /// Whether its module has to be heard to know.
    var needsModule: Bool {
        switch self {
        case .property, .signal: true
        case .label: false
        }
    }

    /// What costs nothing to look at comes first, and a link is made last.
    var cost: Int {
        switch self {
        case .label: 0
        case .signal: 1
        case .property: 2
        }
    }

    /// As a manifest calls what is looked at.
    var name: String {
        switch self {
        case .property(let test): test.property
        case .signal: Self.signalName
        case .label(let name, _, _): Step.labelMark + name
        }
    }

    /// As a manifest writes what is required.
    var required: String {
        switch self {
        case .property(let test): test.description
        case .signal(let condition): "\(condition) dBm"
        case .label(_, _, let condition): condition.description
        }
    }

    /// What is wrong, where it can be told without the module.
    package var problemAhead: Problem? {
        guard case .label(_, let value, let condition) = self else { return nil }
        // What the list leaves open is not what a word asks for, and is other than each.
        if condition.holds(for: Literal(value ?? "")) { return nil }
        return problem(value.map { $0.isEmpty ? "empty" : $0 } ?? "not given")
    }

    func problem(_ measured: String) -> Problem {
        Problem(check: name, measured: measured, required: required)
    }
}

extension [JobStep] {
    /// What stands against a vehicle before its module is so much as listened for, and what is to
    /// become of it.
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
    /// How a vehicle ends on which a precondition does not hold; nil when it goes on.
    var ending: (outcome: Outcome, failure: FailureClass?)? {
        switch self {
        case .defer: (.deferred, nil)
        case .skip: (.skipped, nil)
        case .fail: (.failed, .rejected)
        case .warn: nil
        }
    }
}

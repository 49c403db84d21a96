/// The result of a verb about a rollout as a whole.
package enum VerbAnswer: Sendable, Equatable {
    case done
    /// The state that was requested is already in force.
    case noChange(String)
    /// Nothing was changed.
    case refused(String)

    /// The answer to `pause` or `abort`; `isOver` means that the rollout is finished and no run works on it.
    init(to kind: Hold.Kind, under hold: Hold.Kind?, isOver: Bool) {
        self =
            switch (kind, hold) {
            case (.paused, .paused), (.aborted, .aborted), (.recalled, .recalled):
                .noChange("it is \(kind.rawValue) already")
            case (.paused, .aborted), (.paused, .recalled), (.aborted, .recalled):
                .refused("it is \(hold?.rawValue ?? "held")")
            case (.aborted, nil): isOver ? .refused("it is finished") : .done
            case (.paused, nil), (.aborted, .paused), (.recalled, _): .done
            }
    }

    /// The answer to `resume`.
    init(toResumeUnder hold: Hold.Kind?) {
        self =
            switch hold {
            case .paused: .done
            case .aborted: .refused(Hold.abortedForGood)
            case .recalled: .refused(Hold.recalledForGood)
            case nil: .noChange("it is not paused")
            }
    }
}

extension Hold {
    /// Why `resume` and `retry` of an aborted rollout are refused, and what to do instead.
    package static let abortedForGood =
        "it is aborted, and that is for good; `run --again` begins it again"

    /// The same for a rollout whose vehicles are brought back.
    package static let recalledForGood =
        "it is recalled, and that is for good: `rollback` brings its vehicles back; `run --again` "
        + "begins it again"

    /// Why a verb about an ended rollout is refused; nil where it may go on.
    package static func refusal(under kind: Kind?) -> String? {
        switch kind {
        case .aborted: abortedForGood
        case .recalled: recalledForGood
        case .paused, nil: nil
        }
    }
}

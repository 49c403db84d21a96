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
            case (.paused, .paused): .noChange("it is paused already")
            case (.paused, .aborted): .refused("it is aborted")
            case (.aborted, .aborted): .noChange("it is aborted already")
            case (.aborted, nil): isOver ? .refused("it is finished") : .done
            case (.paused, nil), (.aborted, .paused): .done
            }
    }

    /// The answer to `resume`.
    init(toResumeUnder hold: Hold.Kind?) {
        self =
            switch hold {
            case .paused: .done
            case .aborted: .refused(Hold.abortedForGood)
            case nil: .noChange("it is not paused")
            }
    }
}

extension Hold {
    /// Why `resume` and `retry` of an aborted rollout are refused, and what to do instead.
    package static let abortedForGood =
        "it is aborted, and that is for good; `run --again` begins it again"
}

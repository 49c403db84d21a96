/// Why a run ends, apart from the outcomes of its vehicles.
package enum RunEnding: Equatable, Sendable {
    /// Every vehicle has its verdict.
    case complete
    /// A signal asked for it.
    case stopped
    /// Another run asked for it.
    case replaced
    /// The window has closed, or the airtime is used up; the sentence says which.
    case workLeft(String)
    /// A gate or a person paused the rollout.
    case paused(String)
    case aborted(String)

    /// Of two endings that occur together, the one with the greater weight counts.
    package var weight: Int {
        switch self {
        case .complete: 0
        case .workLeft: 1
        case .replaced: 2
        case .paused: 3
        case .aborted: 4
        case .stopped: 5
        }
    }

    /// The ending of a run that was refused for a reason, or whose rollout is held at its end.
    ///
    /// `isWhole` says that every vehicle has a verdict: then a signal has cut nothing short, and what
    /// holds the rollout is what people have to know.
    package func under(_ refusal: RunEnding?, _ hold: Hold?, isWhole: Bool) -> RunEnding {
        let isIdle = self == .stopped && isWhole
        if let refusal { return weight > refusal.weight && !isIdle ? self : refusal }
        guard let hold else { return self }
        // A person and a gate may both have stopped it: then the hold has both reasons.
        switch (self, hold.kind) {
        case (.paused, .paused),
            (.stopped, .paused) where isIdle:
            return .paused(hold.reason)
        case (.aborted, .aborted), (.aborted, .recalled),
            (.stopped, .aborted) where isIdle, (.stopped, .recalled) where isIdle:
            return .aborted(hold.reason)
        case (.complete, _), (.stopped, _), (.replaced, _), (.workLeft, _), (.paused, _),
            (.aborted, _):
            return self
        }
    }

    /// The sentence for people; nil when the counts are enough.
    package var sentence: String? {
        switch self {
        case .complete, .stopped: nil
        case .replaced: "another run took over"
        case .workLeft(let why), .paused(let why), .aborted(let why): why
        }
    }
}

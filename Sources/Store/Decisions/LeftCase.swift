import Base

/// A vehicle that all machines at work have left, and on which none may still act.
struct LeftCase {
    let vehicle: VehicleID
    var isDoubtful = false
    var isIndebted = false
    var owesStep = false
    /// The verdicts of gateways that left it.
    var verdicts: [FleetEnd] = []

    /// How it ends: what is in doubt or owed on it decides first, then the verdicts.
    var end: FleetEnd {
        let verdict = verdicts.min {
            (Self.rank($0.outcome), $0.gateway) < (Self.rank($1.outcome), $1.gateway)
        }
        let (outcome, failure) = (outcome(by: verdict), failure(by: verdict))
        let isVerdict = verdict?.outcome == outcome
        return FleetEnd(
            vehicle: vehicle,
            outcome: outcome,
            failure: failure,
            sentence: isVerdict ? verdict?.sentence ?? "" : sentence,
            version: nil,
            gateway: isVerdict ? verdict?.gateway ?? "" : ""
        )
    }

    private func outcome(by verdict: FleetEnd?) -> Outcome {
        if isDoubtful { return .inDoubt }
        return isIndebted || owesStep ? .failed : verdict?.outcome ?? .unreachable
    }

    private func failure(by verdict: FleetEnd?) -> FailureClass? {
        if isDoubtful { return .inDoubt }
        guard isIndebted || owesStep else { return verdict.map(\.failure) ?? .unreachable }
        return switch verdict?.outcome {
        // A vehicle that was left alone has not failed by an act of this rollout.
        case .deferred, .skipped, .aborted: .unreachable
        case .failed: verdict?.failure
        case .succeeded, .alreadyCurrent, .rolledBack, .rejected, .timedOut, .inDoubt,
            .unreachable, nil:
            isIndebted ? .noReturn : .device
        }
    }

    private var sentence: String {
        if isDoubtful {
            return "its gateway began a command and has vanished: nobody knows whether it was "
                + "carried out; look at the vehicle, then retry or clear it"
        }
        if isIndebted || owesStep {
            return "what was begun on it is not proven, and no gateway at work has seen it "
                + "since"
        }
        return "not heard by any gateway at work; is it in the depot, charged, and not connected "
            + "to a phone?"
    }

    /// Verdicts in the order in which they decide.
    static let order: [Outcome] = [
        .inDoubt, .succeeded, .alreadyCurrent, .failed, .rolledBack, .rejected, .timedOut, .skipped,
        .deferred, .aborted, .unreachable,
    ]

    private static func rank(_ outcome: Outcome) -> Int {
        order.firstIndex(of: outcome) ?? order.count
    }
}

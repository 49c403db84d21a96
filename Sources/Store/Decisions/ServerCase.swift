import Base

/// What the journal knows of an action's vehicle since the action was taken.
package struct ServerWork: Sendable {
    /// The last execution, by any rollout; nil when no run has worked on the vehicle since.
    package var execution: ExecutionRecord?
    package var isRunOver: Bool
    package var debt: Debt?
    /// How often the vehicle has failed on one release.
    package var failures: Int

    package init(
        execution: ExecutionRecord?,
        isRunOver: Bool,
        debt: Debt?,
        failures: Int
    ) {
        self.execution = execution
        self.isRunOver = isRunOver
        self.debt = debt
        self.failures = failures
    }
}

/// What a server may be told of an action: what was proven, and nothing that was not.
package enum ServerCase: Sendable, Equatable {
    /// The module reported the version, twice, at rest.
    case success(String)
    /// It failed, and no later run will try it again.
    case failure(String)
    /// Everything else, also that nobody has reached the vehicle.
    case open(String)

    /// `limit` is the number of failures after which a vehicle is left alone; nil for none.
    package init(of action: ServerAction, _ work: ServerWork, quarantineAfter limit: Int?) {
        guard let version = action.version, action.image != nil else {
            self = .open(action.details ?? "it is refused here")
            return
        }
        if let debt = work.debt {
            // In tenths, so that a server that is told often does not hear of each packet.
            let share = debt.percent / 10 * 10
            self = .open(
                "an update to it was begun in \(debt.runName) and is not proven yet; the module has \(share) % of it"
            )
            return
        }
        guard let execution = work.execution else {
            self = .open("it waits for a run")
            return
        }
        guard let end = execution.end, work.isRunOver else {
            self = .open("run \(execution.run) is at work")
            return
        }
        let sentence = "run \(execution.run): \(end.outcome.rawValue): \(end.message)"
        switch end.outcome {
        case .succeeded, .alreadyCurrent:
            self =
                execution.versionAfter == version
                ? .success("run \(execution.run): the module reports \(version)")
                : .open(sentence)
        case .rolledBack, .failed, .rejected, .timedOut:
            let isForGood = Self.isForGood(end) || limit.map { work.failures >= $0 } ?? false
            // A run that went on with an older plan, or settled an older update, says nothing about this image.
            let isOfImage = execution.image.map { $0 == action.image } ?? true
            self =
                isForGood && isOfImage && execution.rollout == action.rollout
                ? .failure(sentence) : .open(sentence)
        case .unreachable, .deferred, .skipped, .aborted, .inDoubt: self = .open(sentence)
        }
    }

    /// Whether another attempt with the same image would end the same way.
    private static func isForGood(_ end: ExecutionRecord.End) -> Bool {
        if end.outcome == .rolledBack { return true }
        return switch end.failure {
        case .integrity, .rolledBack, .wrongVersion, .rejected: true
        case .transient, .unreachable, .device, .noReturn, .inDoubt, .internal, nil: false
        }
    }
}

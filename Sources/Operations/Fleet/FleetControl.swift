package import Commands
package import Domain
import Store

/// People's requests to a fleet, from any machine that reaches its database.
///
/// Every gateway obeys them before its next act; when this answers, they are in force there.
package struct FleetControl: Sendable {
    package let access: FleetAccess

    package init(access: FleetAccess) {
        self.access = access
    }

    /// The result of a request in the fleet.
    package enum Result {
        /// The complete answer.
        case whole(SteeringAnswer)
        /// The fleet's part; the machine's own journal has its own part.
        case share(FleetShare)
    }

    /// The vehicles that these selections may mean, as far as the fleet knows them.
    ///
    /// Those that are named are asked for by key; only a pattern needs all names.
    package func vehicles(
        _ selections: [VehicleSelection]
    ) async throws(CommandError) -> Set<VehicleID> {
        guard !selections.isEmpty else { return [] }
        let names = selections.compactMap { VehicleID($0.text) }
        let isWide = selections.contains(where: \.hasWildcards)
        return try await access.withTables { fleet throws(FleetError) in
            if isWide { return try await fleet.vehicles() }
            return try await fleet.known(names)
        }
    }

    /// The fleet's rollouts that are no orders, the one that was worked on last first.
    package func rollouts() async throws(CommandError) -> [String] {
        try await access.withTables { fleet throws(FleetError) in
            try await fleet.latestRollouts()
        }
    }

    package func perform(
        _ request: SteeringRequest,
        on vehicles: [VehicleID?]
    ) async throws(CommandError) -> Result {
        switch request.verb {
        case .pause, .abort, .resume: return try await hold(request)
        case .inhibit: return .whole(try await inhibit(request, vehicles))
        case .uninhibit:
            var share = FleetShare()
            share.known = Set(vehicles.compactMap(\.self))
            share.lifted = try await access.withTables { fleet throws(FleetError) in
                try await fleet.uninhibit(vehicles, by: request.author)
            }
            return .share(share)
        case .retry where request.vehicles.isEmpty: return try await retry(request)
        case .clear, .retry: return try await answer(request, vehicles)
        }
    }

    /// Retries all vehicles of a rollout that need not be named, on all gateways.
    ///
    /// A rollout that the fleet does not know belongs to this machine.
    private func retry(_ request: SteeringRequest) async throws(CommandError) -> Result {
        guard let name = request.rollout else { return .share(FleetShare()) }
        let (rearmed, isAtWork) = try await access.withTables {
            fleet throws(FleetError) -> (FleetRearmed, Bool) in
            let rearmed = try await fleet.retry(
                all: name,
                reason: request.reason ?? "",
                by: request.author
            )
            let isAtWork = try await fleet.gateways().contains {
                $0.rollout == name && !$0.isGone && $0.silence < LeaseTerms.standard.length
            }
            return (rearmed, isAtWork)
        }
        switch rearmed.answer {
        case nil: return .share(FleetShare())
        case .refused(let why), .noChange(let why):
            return .whole(
                SteeringAnswer("\(name): refused, \(why)", rollout: name, isRefused: true)
            )
        case .done: break
        }
        var share = FleetShare()
        share.rollout = name
        share.rearmed = Set(rearmed.vehicles.compactMap { VehicleID($0) })
        guard !rearmed.vehicles.isEmpty else {
            let doubtful = rearmed.doubtful.compactMap { VehicleID($0) }
            share.answer = SteeringAnswer(
                "\(name): no change, \(OperatorRequests.nothingToTake(doubtful))",
                rollout: name
            )
            return .share(share)
        }
        let who =
            rearmed.isPaused
            ? "after 'resume'"
            : isAtWork ? "by the gateways at work" : "by the next run of any gateway"
        let names = rearmed.vehicles.map(\.visible).joined(separator: ", ")
        share.answer = SteeringAnswer(
            "\(name): taken again \(who): \(names)",
            rollout: name,
            isTakenUpNow: isAtWork && !rearmed.isPaused
        )
        return .share(share)
    }

    /// Sets or lifts a hold; a rollout that the fleet does not know is this machine's own.
    private func hold(_ request: SteeringRequest) async throws(CommandError) -> Result {
        let reason = request.reason.map { ": \($0)" } ?? ""
        guard let name = request.rollout else { return .share(FleetShare()) }
        let answer = try await access.withTables { fleet throws(FleetError) -> VerbAnswer? in
            switch request.verb {
            case .resume: return try await fleet.resume(name, by: request.author)
            case .abort:
                return try await fleet.hold(
                    name,
                    .aborted,
                    reason: "aborted by request\(reason)",
                    by: request.author
                )
            case .pause, .retry, .inhibit, .uninhibit, .clear:
                return try await fleet.hold(
                    name,
                    .paused,
                    reason: "paused by request\(reason)",
                    by: request.author
                )
            }
        }
        switch answer {
        case nil: return .share(FleetShare())
        case .noChange(let why):
            return .whole(SteeringAnswer("\(name): no change, \(why)", rollout: name))
        case .refused(let why):
            return .whole(
                SteeringAnswer("\(name): refused, \(why)", rollout: name, isRefused: true)
            )
        case .done:
            let done =
                switch request.verb {
                case .resume:
                    "goes on, on every gateway: runs under way drain if they have begun to, and the "
                        + "next ones take it up"
                case .abort:
                    "aborted: no gateway begins anything new, and each finishes what it has"
                case .pause, .retry, .inhibit, .uninhibit, .clear:
                    "paused: no gateway begins anything new, and each finishes what it has"
                }
            return .whole(SteeringAnswer("\(name): \(done)", rollout: name, isTakenUpNow: true))
        }
    }

    private func inhibit(
        _ request: SteeringRequest,
        _ vehicles: [VehicleID?]
    ) async throws(CommandError) -> SteeringAnswer {
        let expires = try await access.withTables { fleet throws(FleetError) in
            try await fleet.inhibit(
                vehicles,
                reason: request.reason ?? "no reason was given",
                for: request.length,
                by: request.author
            )
        }
        let until = expires.map { "until \($0)" } ?? "until it is lifted"
        let names = vehicles.map { $0?.text.visible ?? "the depot" }.joined(separator: ", ")
        return SteeringAnswer("left alone by every gateway \(until): \(names)")
    }

    /// Settles vehicles by a person's answer; throws `busy` (75) while a gateway works on one to be
    /// cleared.
    private func answer(
        _ request: SteeringRequest,
        _ vehicles: [VehicleID?]
    ) async throws(CommandError) -> Result {
        var share = FleetShare()
        let chosen = vehicles.compactMap(\.self)
        guard !chosen.isEmpty else { return .share(share) }
        share.known = Set(chosen)
        let isClear = request.verb == .clear
        share.cleared = try await access.withTables { fleet throws(FleetError) in
            try await fleet.answer(
                chosen,
                named: Set(chosen).intersection(request.named),
                as: isClear ? IntentRecord.done : IntentRecord.failed,
                verb: isClear ? "clear" : "retry",
                by: request.author
            )
        }
        if isClear, let busy = share.cleared.atWork {
            throw CommandError(
                .busy,
                "\(busy.gateway.visible) is at work on \(busy.vehicle.visible): nothing was changed",
                hint: "say it again when its run has ended"
            )
        }
        guard !isClear else { return .share(share) }
        let named = Set(request.named.map(\.text))
        if let refused = share.cleared.refused.first(where: { named.contains($0.vehicle) }) {
            let name = refused.vehicle.visible
            let why =
                refused.why == "inhibited"
                ? "it is inhibited: `uninhibit` first"
                : "it is in quarantine: `clear \(name)` first"
            return .whole(SteeringAnswer("refused, \(name) is left: \(why)", isRefused: true))
        }
        let again = Set(share.cleared.again).subtracting(share.cleared.answered).sorted()
        let words = [("may be sent again", share.cleared.answered), ("taken again", again)]
            .filter { !$0.1.isEmpty }.map { words, names in
                "\(words) by any gateway: \(names.map(\.visible).joined(separator: ", "))"
            }
        share.answer = SteeringAnswer(
            words.isEmpty
                ? "no change, nothing is to be taken again" : words.joined(separator: "; ")
        )
        return .share(share)
    }
}

/// The fleet's part of a request, beside this machine's own journal.
package struct FleetShare {
    /// The vehicles that the request selects.
    var known: Set<VehicleID> = []
    var lifted = 0
    var cleared = FleetCleared()
    /// The rollout of a `retry` without names, and its vehicles that every gateway takes again.
    var rollout: String?
    var rearmed: Set<VehicleID> = []
    /// The answer when there is none about this machine.
    var answer: SteeringAnswer?

    init() {}

    /// Sentences about what was cleared in the fleet and not here.
    func sentences(beyond own: Cleared) -> [String] {
        let debts = Set(own.debts.map(\.vehicle.text))
        let said = Set(own.answered.map(\.text))
        var sentences = cleared.debts.filter { !debts.contains($0) }.map {
            "\($0.visible): its update is owed no more"
        }
        sentences += cleared.answered.filter { !said.contains($0) }.map {
            "\($0.visible): what was in doubt counts as done"
        }
        if own.owed.isEmpty {
            sentences += cleared.owed.map { "\($0.visible): no step is owed any more" }
        }
        return sentences
    }
}

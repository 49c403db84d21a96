import Base
import Commands
import Store

/// People's requests to a fleet, from any machine that reaches its database.
///
/// Every gateway obeys them before its next act; when this answers, they are in force there.
package struct FleetControl: Sendable {
    let access: FleetAccess

    package init(access: FleetAccess) {
        self.access = access
    }

    /// The result of a request in the fleet.
    enum Result {
        /// The complete answer, and how the rollout stands after it where that was changed.
        case whole(SteeringAnswer, FleetRollout? = nil)
        /// The fleet's part; the machine's own journal has its own part.
        case share(FleetShare)
    }

    /// The vehicles that these selections may mean, as far as the fleet knows them.
    ///
    /// Those that are named are asked for by key; only a pattern needs all names.
    func vehicles(
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
    func rollouts() async throws(CommandError) -> [String] {
        try await access.withTables { fleet throws(FleetError) in
            try await fleet.latestRollouts()
        }
    }

    func perform(
        _ request: SteeringRequest,
        on vehicles: [VehicleID?]
    ) async throws(CommandError) -> Result {
        switch request.verb {
        case .pause, .abort, .resume: return try await hold(request)
        case .inhibit: return .whole(try await inhibit(request, vehicles))
        case .uninhibit:
            var share = FleetShare()
            share.known = Set(vehicles.compactMap(\.self))
            share.lifted = try await access.withTables(as: .operator) { fleet throws(FleetError) in
                try await fleet.uninhibit(vehicles, by: request.author)
            }
            return .share(share)
        case .retry: return try await retry(request, vehicles.compactMap(\.self))
        case .clear: return try await clear(request, vehicles.compactMap(\.self))
        }
    }

    /// Tries vehicles again on all gateways: those that are selected, or all of a rollout that need not be named.
    ///
    /// A rollout that the fleet does not know belongs to this machine.
    private func retry(
        _ request: SteeringRequest,
        _ chosen: [VehicleID]
    ) async throws(CommandError) -> Result {
        var share = FleetShare()
        share.known = Set(chosen)
        let isWhole = request.vehicles.isEmpty
        guard isWhole ? request.rollout != nil : !chosen.isEmpty else { return .share(share) }
        let (rearmed, isAtWork) = try await access.withTables(as: .operator) {
            fleet throws(FleetError) -> (Rearmed?, Bool) in
            let rearmed = try await fleet.retry(
                request.rollout,
                among: isWhole ? nil : chosen,
                named: share.known.intersection(request.named),
                reason: request.reason ?? "",
                by: request.author
            )
            let rollouts = rearmed?.rollouts ?? []
            let isAtWork = try await fleet.gateways().contains {
                rollouts.contains($0.rollout ?? "") && !$0.isGone
                    && $0.silence < LeaseTerms.standard.length
            }
            return (rearmed, isAtWork)
        }
        guard let rearmed else { return .share(share) }
        let name = request.rollout.map { "\($0): " } ?? ""
        if let why = rearmed.refusal {
            return .whole(
                SteeringAnswer("\(name)refused, \(why)", rollout: request.rollout, isRefused: true)
            )
        }
        if isWhole {
            share.rollout = request.rollout
            share.rearmed = Set(rearmed.vehicles)
        }
        guard !rearmed.all.isEmpty else {
            let words = OperatorRequests.nothingToTake(rearmed.doubtful)
            share.answer = SteeringAnswer("\(name)no change, \(words)", rollout: request.rollout)
            return .share(share)
        }
        let isPaused = rearmed.hold == .paused
        let who =
            isPaused
            ? "after 'resume'"
            : isAtWork ? "by the gateways at work" : "by the next run of any gateway"
        share.answer = SteeringAnswer(
            "\(name)taken again \(who): \(rearmed.all.map(\.text.visible).joined(separator: ", "))",
            rollout: request.rollout,
            isTakenUpNow: isAtWork && !isPaused
        )
        return .share(share)
    }

    /// Sets or lifts a hold; a rollout that the fleet does not know is this machine's own.
    private func hold(_ request: SteeringRequest) async throws(CommandError) -> Result {
        let reason = request.reason.map { ": \($0)" } ?? ""
        guard let name = request.rollout else { return .share(FleetShare()) }
        let (answer, rollout) = try await access.withTables(as: .operator) {
            fleet throws(FleetError) -> (VerbAnswer?, FleetRollout?) in
            let answer: VerbAnswer?
            switch request.verb {
            case .resume: answer = try await fleet.resume(name, by: request.author)
            case .abort:
                answer = try await fleet.hold(
                    name,
                    .aborted,
                    reason: "aborted by request\(reason)",
                    by: request.author
                )
            case .pause, .retry, .inhibit, .uninhibit, .clear:
                answer = try await fleet.hold(
                    name,
                    .paused,
                    reason: "paused by request\(reason)",
                    by: request.author
                )
            }
            // What was answered is in force, whether this is read or not.
            return (answer, try? await fleet.rollout(name))
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
            return .whole(
                SteeringAnswer("\(name): \(done)", rollout: name, isTakenUpNow: true),
                rollout
            )
        }
    }

    private func inhibit(
        _ request: SteeringRequest,
        _ vehicles: [VehicleID?]
    ) async throws(CommandError) -> SteeringAnswer {
        let expires = try await access.withTables(as: .operator) { fleet throws(FleetError) in
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

    /// Throws `busy` (75) while a gateway works on a vehicle that has something to clear.
    private func clear(
        _ request: SteeringRequest,
        _ chosen: [VehicleID]
    ) async throws(CommandError) -> Result {
        var share = FleetShare()
        guard !chosen.isEmpty else { return .share(share) }
        share.known = Set(chosen)
        share.cleared = try await access.withTables(as: .operator) { fleet throws(FleetError) in
            try await fleet.clear(
                chosen,
                named: share.known.intersection(request.named),
                by: request.author
            )
        }
        if let busy = share.cleared.atWork {
            let gateway = (share.cleared.gateway ?? "a gateway").visible
            throw CommandError(
                .busy,
                "\(gateway) is at work on \(busy): nothing was changed",
                hint: "say it again when its run has ended"
            )
        }
        return .share(share)
    }
}

/// The fleet's part of a request, beside this machine's own journal.
struct FleetShare {
    /// The vehicles that the request selects.
    var known: Set<VehicleID> = []
    var lifted = 0
    var cleared = Cleared()
    /// The rollout of a `retry` without names, and its vehicles that every gateway takes again.
    var rollout: String?
    var rearmed: Set<VehicleID> = []
    /// The answer when there is none about this machine.
    var answer: SteeringAnswer?

    init() {}

    /// Sentences about what was cleared in the fleet and not here.
    func sentences(beyond own: Cleared) -> [String] {
        let debts = Set(own.debts.map(\.vehicle))
        var rest = cleared
        rest.debts.removeAll { debts.contains($0.vehicle) }
        rest.answered.removeAll(where: own.answered.contains)
        if !own.owed.isEmpty { rest.owed = [] }
        return rest.sentences
    }
}

extension Cleared {
    /// What was cleared, for people.
    var sentences: [String] {
        debts.map { "\($0.vehicle): its update to \($0.title) is owed no more" }
            + answered.map { "\($0): what was in doubt counts as done" }
            + owed.map { "\($0.vehicle): `\($0.action)` is owed no more" }
    }
}

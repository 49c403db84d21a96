package import Commands
package import Domain
import Journal
import Postgres

/// What people set for a fleet, from any machine that reaches its database.
///
/// Every gateway obeys it before its next act; what is answered here is in force there.
package struct FleetControl: Sendable {
    package let access: FleetAccess

    package init(access: FleetAccess) {
        self.access = access
    }

    /// What a request came to in the fleet.
    package enum Result {
        /// All there is to it.
        case whole(SteeringAnswer)
        /// The machine's own journal has its share in it.
        case share(FleetShare)
    }

    package func vehicles() async throws(CommandError) -> Set<VehicleID> {
        try await access.withDatabase { fleet throws(FleetError) in try await fleet.vehicles() }
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
            share.lifted = try await access.withDatabase { fleet throws(FleetError) in
                try await fleet.uninhibit(vehicles, by: request.author)
            }
            return .share(share)
        case .clear, .retry: return .share(try await answer(request, vehicles))
        }
    }

    /// A rollout that the fleet does not know is this machine's own.
    private func hold(_ request: SteeringRequest) async throws(CommandError) -> Result {
        let reason = request.reason.map { ": \($0)" } ?? ""
        let (name, answer) = try await access.withDatabase {
            fleet throws(FleetError) -> (String?, FleetAnswer) in
            let known =
                if let named = request.rollout {
                    try await fleet.rollout(named)
                } else { try await fleet.lastRollout() }
            guard let name = known?.name else { return (nil, .unknown) }
            switch request.verb {
            case .resume: return (name, try await fleet.resume(name, by: request.author))
            case .abort:
                return (
                    name,
                    try await fleet.hold(
                        name,
                        .aborted,
                        reason: "aborted by request\(reason)",
                        by: request.author
                    )
                )
            case .pause, .retry, .inhibit, .uninhibit, .clear:
                return (
                    name,
                    try await fleet.hold(
                        name,
                        .paused,
                        reason: "paused by request\(reason)",
                        by: request.author
                    )
                )
            }
        }
        guard let name else { return .share(FleetShare()) }
        switch answer {
        case .unknown: return .share(FleetShare())
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
        let expires = request.length.map { RealTime().wallTime.advanced(by: $0) }
        try await access.withDatabase { fleet throws(FleetError) in
            try await fleet.inhibit(
                vehicles,
                reason: request.reason ?? "no reason was given",
                expires: expires,
                by: request.author
            )
        }
        let until = expires.map { "until \($0)" } ?? "until it is lifted"
        let names = vehicles.map { $0?.text.visible ?? "the depot" }.joined(separator: ", ")
        return SteeringAnswer("left alone by every gateway \(until): \(names)")
    }

    /// A person's word on vehicles; refused with 75 while a gateway is at work on one to be cleared.
    private func answer(
        _ request: SteeringRequest,
        _ vehicles: [VehicleID?]
    ) async throws(CommandError) -> FleetShare {
        var share = FleetShare()
        let chosen = vehicles.compactMap(\.self)
        guard !chosen.isEmpty else { return share }
        share.known = Set(chosen)
        let isClear = request.verb == .clear
        share.cleared = try await access.withDatabase { fleet throws(FleetError) in
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
        if !isClear, !share.cleared.answered.isEmpty {
            let names = share.cleared.answered.map(\.visible).joined(separator: ", ")
            share.answer = SteeringAnswer("may be sent again by any gateway: \(names)")
        }
        return share
    }
}

/// What became of a request in the fleet, beside this machine's own journal.
package struct FleetShare {
    /// Vehicles that were meant.
    var known: Set<VehicleID> = []
    var lifted = 0
    var cleared = FleetCleared()
    /// What to say when there is nothing to be said of this machine.
    var answer: SteeringAnswer?

    init() {}

    /// What was cleared there and not here.
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

import Base
import Store

/// What people say on a gateway: it holds for the fleet, and for the gateway's own journal.
extension FleetNightLife {
    func say(
        _ word: NightStory.Word,
        on gateway: FleetNightGateway,
        isInside: Bool,
        _ doings: FleetNightDoings
    ) async throws {
        let fleet = try ground.database(simulation, over: gateway.line)
        do {
            try await say(word, gateway, fleet, isInside, doings)
            doings.with { if isInside { $0.account.said.append(word) } }
        } catch let error as FleetError {
            // Nothing was changed, and anyone who said it knows that.
            doings.say("\(gateway.name): \(word.title): \(error)")
        }
        await fleet.close()
    }

    private func say(
        _ word: NightStory.Word,
        _ gateway: FleetNightGateway,
        _ fleet: FleetDatabase,
        _ isInside: Bool,
        _ doings: FleetNightDoings
    ) async throws {
        let (author, now) = ("anna", gateway.clock.wallTime)
        let journal = gateway.journal
        func hold(_ kind: Hold.Kind) async throws {
            guard let known = try await fleet.lastRollout() else { return }
            _ = try await fleet.hold(known.name, kind, reason: "said", by: author)
        }
        func inhibit(_ vehicle: VehicleID?) async throws {
            try await fleet.inhibit([vehicle], reason: "said", for: nil, by: author)
        }
        func uninhibit(_ vehicle: VehicleID?) async throws {
            _ = try await fleet.uninhibit([vehicle], by: author)
            _ = try await journal.uninhibit(vehicle)
        }
        switch word {
        case .pause: try await hold(.paused)
        case .abort: try await hold(.aborted)
        case .resume:
            guard let known = try await fleet.lastRollout() else { return }
            _ = try await fleet.resume(known.name, by: author)
        case .inhibitDepot: try await inhibit(nil)
        case .inhibit(let vehicle): try await inhibit(try Self.id(vehicle))
        case .uninhibitDepot: try await uninhibit(nil)
        case .uninhibit(let vehicle): try await uninhibit(try Self.id(vehicle))
        case .clearDepot: _ = try await journal.clearFailures(of: nil)
        // What the images are called is a matter of lives of one machine.
        case .recallImages, .liftRecalls: return
        case .retryAll: _ = try await retry([], gateway, isInside)
        case .retry(let vehicle):
            let id = try Self.id(vehicle)
            let there = try await fleet.retry(nil, among: [id], named: [id], by: author)
            let here = try await retry([id], gateway, isInside)
            if there?.answered.isEmpty == false || here {
                doings.with { $0.account.sentAgain.append(vehicle) }
            }
        case .clear(let vehicle):
            let id = try Self.id(vehicle)
            let there = try await fleet.clear([id], named: [id], by: author)
            guard there.atWork == nil else { return }
            let here = try await journal.clear(
                [id],
                named: [id],
                whileHeld: { isInside },
                by: author,
                at: now
            )
            doings.with { state in
                state.account.cleared.append(vehicle)
                if !there.answered.isEmpty || !here.answered.isEmpty {
                    state.account.seenTo.append(vehicle)
                }
            }
        }
    }

    /// In the gateway's own journal; tells whether a doubt was answered.
    private func retry(
        _ named: [VehicleID],
        _ gateway: FleetNightGateway,
        _ isInside: Bool
    ) async throws -> Bool {
        let journal = gateway.journal
        guard let rollout = try await journal.lastRollout()?.rollout,
            try await journal.hold(on: rollout)?.kind.isForGood != true
        else { return false }
        let known = Set(try await journal.executions(rollout: rollout).map(\.vehicle))
        guard named.allSatisfy(known.contains) else { return false }
        var quarantined: Set<VehicleID> = []
        if let limit = story.policy.quarantine {
            quarantined = Set(try await journal.failures(atLeast: limit).map(\.vehicle))
        }
        let rearmed = try await journal.retry(
            rollout,
            named,
            among: named.isEmpty ? nil : Set(named),
            whileHeld: { isInside },
            quarantined: quarantined,
            tellingRun: isInside,
            by: "anna",
            at: gateway.clock.wallTime
        )
        return !rearmed.answered.isEmpty
    }

    private static func id(_ vehicle: Int) throws -> VehicleID {
        guard let id = VehicleID(NightDepot.name(vehicle)) else {
            throw NightDepot.Mistake(description: "no id")
        }
        return id
    }
}

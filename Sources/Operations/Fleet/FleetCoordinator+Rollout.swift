package import Base
import Manifest
package import Rollout
package import Store
import Synchronization

// The rollout that all gateways go through together.

extension FleetCoordinator {
    // MARK: Following

    package func follow(
        waitingFor vehicles: [VehicleID],
        counts: Bool
    ) async throws(JournalError) {
        state.withLock { $0.asked = (vehicles, counts) }
        try await lookWhenDue()
    }

    /// One look at the rollout for all that this gateway waits for.
    private func lookWhenDue() async throws(JournalError) {
        let now = time.now
        let (isDue, asked, known) = state.withLock { state in
            let isDue = !state.isAway && state.nextLook.map { now >= $0 } ?? true
            if isDue { state.nextLook = now.advanced(by: FleetDatabase.lookPause) }
            return (isDue, state.asked, state.recalls)
        }
        guard isDue else { return }
        let history = try await journal.fleetHistory()
        let glance: FleetGlance?
        var recalls: [Recall]?
        do throws(FleetError) {
            glance = try await fleet.glance(
                at: rollout,
                asking: asked.vehicles,
                counts: asked.counts,
                for: holder
            )
            if known == nil || glance?.recalls != known { recalls = try await fleet.recalls() }
        } catch { return isWaited(for: error.sentence) }
        state.withLock { state in
            state.glance = Glance(history: history, seen: glance)
            state.isWaveDue = glance?.isLookDue ?? false
        }
        if let error = try await post.follow(rollout, glance?.rollout, recalls) {
            return isWaited(for: error.sentence)
        }
        state.withLock { $0.recalls = glance?.recalls }
    }

    // MARK: One rollout

    package var wave: Int? { part.wave }

    package func look() async throws(JournalError) -> SharedNews? {
        try await lookWhenDue()
        let (glance, place) = state.withLock { state in
            defer { state.glance = nil }
            // The news waits until the database knows that this gateway is back: what others ended in
            // the meantime is queued again by then.
            let isComingBack = state.place == .takesPart && !state.isPlaceReported
            return (isComingBack || state.isAway ? nil : state.glance, state.place)
        }
        guard let glance, part.wave != nil else { return nil }
        guard let seen = glance.seen, seen.rollout.beginning == part.beginning,
            !state.withLock({ $0.isReplaced })
        else {
            let why =
                switch glance.seen?.rollout.beginning {
                case nil: "the fleet does not have the rollout any more"
                case part.beginning?: Self.replaced(holder)
                case _?: "another gateway has begun the rollout again"
                }
            return SharedNews(wave: part.wave ?? 0, ended: [], opened: [], drain: why)
        }
        let drain = seen.mustDrain ? "a person asked this gateway to take nothing more" : nil
        // A gateway that waits for its window only asks whether it is to end its part.
        guard place != .waits else {
            return SharedNews(
                wave: seen.rollout.wave,
                ended: [],
                opened: [],
                drain: drain
            )
        }
        // Another history counts its changes from another start, and has forgotten changes: each vehicle that is open
        // there is news.
        let changes = state.withLock { state in
            if state.history != glance.history {
                (state.history, state.changes) = (glance.history, -1)
                hearing.reportsAgain()
            }
            return state.changes
        }
        let news: FleetNews
        do throws(FleetError) {
            news = try await fleet.news(of: seen, since: changes, for: holder)
        } catch {
            isWaited(for: error.sentence)
            return nil
        }
        state.withLock { $0.changes = seen.changes }
        if !news.ended.isEmpty {
            try await settleAccounts(of: Set(news.ended.map(\.vehicle)))
            try await adoptDoubts(of: news.ended.filter { $0.outcome == .inDoubt }.map(\.vehicle))
        }
        return SharedNews(
            wave: seen.rollout.wave,
            ended: news.ended,
            opened: news.opened,
            busy: seen.busy,
            underWay: seen.underWay,
            favoured: seen.favoured,
            drain: drain
        )
    }

    package func looksAgain(atAll: Bool) {
        state.withLock { state in
            if atAll { state.changes = 0 }
            state.nextLook = nil
        }
    }

    package func hears(_ signals: [VehicleID: Int]) async { await hearing.hears(signals) }

    package func failed(
        on serial: Serial,
        of vehicle: VehicleID,
        signal: Int?,
        isLost: Bool
    ) async -> String? {
        guard let epoch = epoch(of: serial) else { return nil }
        let lease = FleetLease(serial: serial, epoch: epoch)
        return await hearing.failed(lease, vehicle, signal: signal, isLost: isLost)
    }

    /// Removes debts here that others have settled.
    private func settleAccounts(of vehicles: Set<VehicleID>) async throws(JournalError) {
        for record in try await journal.fleetAccounts() where vehicles.contains(record.vehicle) {
            let accounts: FleetAccounts
            do throws(FleetError) {
                accounts = try await fleet.accounts(of: record.vehicle, on: record.serial)
            } catch { return }
            try await adopt(accounts, in: record, isHeld: false)
        }
    }

    /// Takes over the doubts about vehicles: without them their verdict would not stay valid here.
    private func adoptDoubts(of vehicles: [VehicleID]) async throws(JournalError) {
        for vehicle in vehicles {
            guard let record = try await journal.execution(rollout: rollout, vehicle: vehicle)
            else { continue }
            let accounts: FleetAccounts
            do throws(FleetError) {
                accounts = try await fleet.accounts(of: vehicle, on: record.serial)
            } catch { return }
            try await adopt(accounts, in: record, isHeld: true)
        }
    }

    package func leave(_ left: [LeftVehicle]) async {
        state.withLock { state in
            let again = Set(left.map(\.vehicle))
            state.left = state.left.filter { !again.contains($0.vehicle) } + left
        }
        await reportLeft()
    }

    func reportLeft() async {
        while true {
            let left = state.withLock { Array($0.left.prefix(FleetDatabase.mostLeftAtOnce)) }
            if left.isEmpty { return }
            do throws(FleetError) {
                try await fleet.leave(
                    left,
                    in: rollout,
                    beginning: part.beginning,
                    as: holder
                )
            } catch { return }
            let reported = Dictionary(left.map { ($0.vehicle, $0) }) { $1 }
            state.withLock { $0.left.removeAll { reported[$0.vehicle] == $0 } }
        }
    }

    /// Inhibits that people set on this machine apply in addition to those of the fleet.
    ///
    /// Failures are counted by the fleet only: without its answer no vehicle is in quarantine until a
    /// right to it is asked for.
    package func leftAlone(
        _ releases: [VehicleID: SHA256Digest],
        quarantineAfter limit: Int?,
        at wall: WallTime
    ) async throws(JournalError) -> LeftAlone {
        var left = try await local.leftAlone(releases, quarantineAfter: nil, at: wall)
        do throws(FleetError) {
            let known = Set(left.inhibits.map(\.vehicle))
            left.inhibits += try await fleet.inhibits().filter { !known.contains($0.vehicle) }
            left.recalls += try await fleet.recalls()
            guard let limit else { return left }
            for found in try await fleet.quarantined(releases, after: limit) {
                left.quarantined[found.vehicle] = (found.count, found.message)
            }
        } catch {
            isWaited(for: error.sentence)
        }
        return left
    }

    package var silence: String? {
        let now = time.now
        let isOver = state.withLock { state in
            state.place != .waits
                && state.awaySince.map { $0.duration(to: now) >= Self.patience } ?? false
        }
        guard isOver else { return nil }
        return "the fleet's database has not answered for \(Self.patience.brief)"
    }

    package func abort(_ vehicles: [VehicleID], _ why: String) async {
        guard part.wave != nil else { return }
        // Without an answer the next run of any gateway reports them.
        do throws(FleetError) {
            try await fleet.abort(
                vehicles,
                of: rollout,
                beginning: part.beginning,
                because: why
            )
        } catch {}
    }

    package func stepAside(forGood: Bool) async {
        await take(forGood ? .drains : .waits)
    }

    package func comeBack() async {
        guard state.withLock({ $0.place == .waits }) else { return }
        // While it waited for its window it did not need the database: its patience starts now.
        let now = time.now
        state.withLock { if $0.awaySince != nil { $0.awaySince = now } }
        await take(.takesPart)
    }

    private func take(_ place: Participation) async {
        state.withLock { ($0.place, $0.isPlaceReported) = (place, false) }
        await reportPlace()
    }

    func reportPlace() async {
        let place = state.withLock { $0.isPlaceReported ? nil : $0.place }
        guard let place else { return }
        do throws(FleetError) {
            switch place {
            case .takesPart where part.isPartial: break
            case .takesPart:
                try await fleet.comeBack(to: rollout, beginning: part.beginning, as: holder)
            case .waits, .drains: try await fleet.stepAside(holder)
            }
        } catch { return }
        state.withLock { if $0.place == place { ($0.isPlaceReported, $0.nextLook) = (true, nil) } }
    }

    /// Whether the last look at the rollout found that one gateway is to look at the wave; once for each look.
    func takeWaveDue() -> Bool {
        state.withLock { state in
            defer { state.isWaveDue = false }
            return state.isWaveDue
        }
    }

    /// Advances the waves: one gateway looks for all of them, and one that ends its run for itself.
    func advance(atEnd: Bool = false) async {
        guard part.wave != nil, !part.isPartial,
            state.withLock({ state in
                guard !state.isAdvancing, !state.isAway, state.place != .waits else { return false }
                state.isAdvancing = true
                return true
            })
        else { return }
        do throws(FleetError) {
            // In a rehearsal the time between two looks is no time at the server.
            let isDue =
                if atEnd || part.isRehearsal { true } else {
                    try await fleet.takeLook(
                        at: rollout,
                        beginning: part.beginning,
                        every: FleetDatabase.lookShare
                    )
                }
            if isDue { try await bringOn() }
        } catch {}
        state.withLock { $0.isAdvancing = false }
    }

    /// How long a wave has been over, by the server's clock, which is the same for all gateways; in a
    /// rehearsal by simulated time.
    private func soaked(_ wave: FleetWave) -> Duration {
        guard part.isRehearsal else { return wave.soaked }
        let now = time.now
        return state.withLock { state in
            let known = state.soaking.flatMap { $0.wave == wave.number ? $0.since : nil }
            state.soaking = (wave.number, known ?? now)
            return (known ?? now).duration(to: now)
        }
    }

    private func bringOn() async throws(FleetError) {
        let wave = try await fleet.endedWave(
            of: rollout,
            beginning: part.beginning,
            counting: part.rules.pause?.classes ?? []
        )
        guard let wave else { return }
        let rules = part.rules
        var stage = WaveStep.Stage.ended(wave.tally, soaked: soaked(wave))
        while true {
            switch WaveStep(
                after: wave.number,
                isLast: wave.isLast,
                stage,
                rules.advance,
                rules.between
            ) {
            case .soak: return
            case .stop(let why):
                return try await fleet.stop(
                    rollout,
                    beginning: part.beginning,
                    after: wave.number,
                    reason: why
                )
            case .advance, .finish:
                _ = try await fleet.advance(rollout, beginning: part.beginning, from: wave)
                return
            case .check:
                let isOurs = try await fleet.takeCheck(
                    of: rollout,
                    beginning: part.beginning,
                    after: wave.number,
                    as: holder
                )
                guard isOurs else { return }
                let failure = await part.check(wave.number)
                // A program that was ended with the run gave no result for the wave.
                guard !Task.isCancelled else { return }
                stage = .checked(failure: failure)
            }
        }
    }
}

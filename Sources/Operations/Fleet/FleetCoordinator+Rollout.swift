package import Base
import Manifest
package import Rollout
package import Store
import Synchronization

// The rollout that all gateways go through together.

extension FleetCoordinator {
    // MARK: Following

    package func follow() async throws(JournalError) {
        let now = time.now
        let isDue = state.withLock { state in
            guard !state.isAway, state.nextLook.map({ now >= $0 }) ?? true else { return false }
            state.nextLook = now.advanced(by: FleetDatabase.lookPause)
            return true
        }
        guard isDue else { return }
        if let error = try await post.follow(rollout) {
            isWaited(for: error.sentence)
        }
    }

    // MARK: One rollout

    package var wave: Int? { part.wave }

    package func look() async throws(JournalError) -> SharedNews? {
        let now = time.now
        let place: Participation? = state.withLock { state in
            // The news waits until the database knows that this gateway is back: what others ended in
            // the meantime is queued again by then.
            let isComingBack = state.place == .takesPart && !state.isPlaceReported
            guard !isComingBack, !state.isAway, state.nextNews.map({ now >= $0 }) ?? true else {
                return nil
            }
            let pause = state.place == .waits ? Self.waitingPause : FleetDatabase.lookPause
            state.nextNews = now.advanced(by: pause)
            return state.place
        }
        guard let place, part.wave != nil else { return nil }
        if state.withLock({ $0.isReplaced }) {
            return SharedNews(wave: part.wave ?? 0, ended: [], opened: [], mustDrain: true)
        }
        // Another history counts its changes from another start, and has forgotten changes: each vehicle that is open
        // there is news.
        let history = try await journal.fleetHistory()
        let changes = state.withLock { state in
            if state.history != history {
                (state.history, state.changes) = (history, -1)
                hearing.reportsAgain()
            }
            return state.changes
        }
        // A gateway that waits for its window only asks whether it is to end its part.
        let isWaiting = place == .waits
        let news: FleetNews?
        var places: (busy: [VehicleID], favoured: [VehicleID]) = ([], [])
        do throws(FleetError) {
            news = try await fleet.news(
                of: rollout,
                beginning: part.beginning,
                since: isWaiting ? .max : changes,
                for: holder
            )
            if !isWaiting {
                places = try await fleet.places(in: rollout, beginning: part.beginning, for: holder)
            }
        } catch {
            isWaited(for: error.sentence)
            return nil
        }
        guard let news else {
            return SharedNews(wave: part.wave ?? 0, ended: [], opened: [], mustDrain: true)
        }
        if !isWaiting { state.withLock { $0.changes = news.changes } }
        if !news.ended.isEmpty {
            try await settleAccounts(of: Set(news.ended.map(\.vehicle)))
            try await adoptDoubts(of: news.ended.filter { $0.outcome == .inDoubt }.map(\.vehicle))
        }
        return SharedNews(
            wave: news.wave,
            ended: news.ended,
            opened: news.opened,
            busy: places.busy,
            favoured: places.favoured,
            mustDrain: news.mustDrain
        )
    }

    package func looksAgain(atAll: Bool) {
        state.withLock { state in
            if atAll { state.changes = 0 }
            state.nextNews = nil
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
        state.withLock { if $0.place == place { $0.isPlaceReported = true } }
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

import Base
import Store
import Synchronization

/// A run's records of vehicles that other machines work on, when they share the rollout.
final class SharedPart: Sendable {
    private struct State {
        /// Vehicles that another machine has, or that must wait.
        var parking = Parking()
        /// Verdicts of others on vehicles that this run has not ended.
        var ends: [Int: FleetEnd] = [:]
        /// Vehicles that this machine has listened for long enough, and those of them that are not reported yet.
        var missed: Set<Int> = []
        var unreportedMissed: [Int] = []
        /// Vehicles that this machine leaves to the others, with its own verdict.
        var left: [Int: Left] = [:]
        /// Whether it was reported that others are waited for.
        var isTold = false
    }

    struct Left: Sendable {
        let closing: Closing
        let problems: [Problem]
        var isReported = false
    }

    private let state = Mutex(State())
    private let places: [VehicleID: Int]

    init(_ jobs: [VehicleJob]) {
        var places: [VehicleID: Int] = [:]
        for (index, job) in jobs.enumerated() { places[job.vehicle] = index }
        self.places = places
    }

    func index(of vehicle: VehicleID) -> Int? { places[vehicle] }

    /// Parks a vehicle; true for the first one, for which the wait is reported.
    func park(_ vehicle: Int, _ why: Waiting, at now: Moment) -> Bool {
        state.withLock { state in
            state.parking.park(vehicle, why, at: now)
            defer { state.isTold = true }
            return !state.isTold
        }
    }

    func isParked(_ vehicle: Int) -> Bool { state.withLock { $0.parking.has(vehicle) } }

    /// The parked vehicles that are to be tried again.
    func due(at now: Moment) -> [(vehicle: Int, why: Waiting)] {
        state.withLock { $0.parking.due(at: now) }
    }

    /// What the next look is to answer.
    func ask(_ jobs: [VehicleJob]) -> (vehicles: [VehicleID], counts: Bool) {
        let (vehicles, counts) = state.withLock { $0.parking.ask() }
        return (vehicles.map { jobs[$0].vehicle }, counts)
    }

    /// Stores which vehicles others work on, and which have ended.
    func look(_ news: SharedNews, at now: Moment) {
        let busy = Set(news.busy.compactMap { places[$0] })
        let favoured = Set(news.favoured.compactMap { places[$0] })
        state.withLock {
            $0.parking.look(
                busy: busy,
                count: news.underWay,
                favoured: favoured,
                hasEnds: !news.ended.isEmpty,
                at: now
            )
        }
    }

    /// A vehicle of this run has ended.
    func hasEnded(at now: Moment) { state.withLock { $0.parking.ended(at: now) } }

    func note(_ end: FleetEnd) {
        guard let index = places[end.vehicle] else { return }
        state.withLock { $0.ends[index] = end }
    }

    func forgetEnd(of vehicle: Int) {
        state.withLock {
            $0.ends[vehicle] = nil
            $0.parking.leave(vehicle)
            $0.missed.remove(vehicle)
            $0.left[vehicle] = nil
        }
    }

    func leave(_ vehicle: Int, _ left: Left) {
        state.withLock {
            $0.parking.leave(vehicle)
            $0.left[vehicle] = left
        }
    }

    func left(_ vehicle: Int) -> Left? { state.withLock { $0.left[vehicle] } }

    /// Vehicles that were left here and not reported to the others yet.
    func takeUnreported() -> [(vehicle: Int, closing: Closing)] {
        state.withLock { state in
            let unreported = state.left.filter { !$0.value.isReported }.sorted { $0.key < $1.key }
            for (vehicle, _) in unreported { state.left[vehicle]?.isReported = true }
            return unreported.map { ($0.key, $0.value.closing) }
        }
    }

    var ends: [(vehicle: Int, end: FleetEnd)] {
        state.withLock { $0.ends.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }
    }

    func miss(_ vehicle: Int) {
        state.withLock {
            if $0.missed.insert(vehicle).inserted { $0.unreportedMissed.append(vehicle) }
        }
    }

    func takeUnreportedMissed() -> [Int] {
        state.withLock { state in
            defer { state.unreportedMissed = [] }
            return state.unreportedMissed.filter { state.missed.contains($0) }
        }
    }
}

// Vehicles, waves and holds that other machines work on, too.

extension RunSession {
    /// Ends a vehicle without an attempt; nil when it was left to the other machines instead.
    func close(
        _ vehicle: Int,
        _ closing: Closing,
        _ problems: [Problem] = []
    ) async throws(JournalError) -> Verdict? {
        guard try await !leave(vehicle, closing, problems) else { return nil }
        return try await conclude(
            vehicle,
            closing.outcome,
            closing.failure,
            closing.message,
            problems
        )
    }

    /// Another machine has the vehicle, or it must wait: it is tried again.
    func park(_ vehicle: Int, _ why: Waiting) async throws(JournalError) {
        if case .nearer = why, shell.with({ $0.scheduler.dispatch.hasOthers }) {
            // It stays in the queue, behind all others.
            ended(vehicle, nil, nil, touched: false)
            return try await takeUp(vehicle, after: why)
        }
        let isNews = shared?.park(vehicle, why, at: depot.time.now) ?? false
        ended(vehicle, nil, nil, touched: false)
        if isNews {
            let sentence = why.sentence
            notice(.waiting, vehicle: run.jobs[vehicle].vehicle, "\(sentence); it is tried again")
        }
    }

    /// The vehicle is begun again, at once or after it has waited.
    func takeUp(_ vehicle: Int, after why: Waiting? = nil) async throws(JournalError) {
        let record = try await progress.execution(of: vehicle)
        let debt = try await depot.journal.debt(of: run.jobs[vehicle].serial)
        shell.with { state in
            switch why {
            case .lost:
                // It is begun here again only when it is heard again.
                state.scheduler.again(vehicle, attempts: record.attempt, isOpen: false)
            case .nearer, .held, .full, .other, nil:
                if case .nearer = why { state.scheduler.isNearer(elsewhere: vehicle) }
                state.scheduler.again(
                    vehicle,
                    attempts: record.attempt,
                    isOpen: debt != nil,
                    hasWaited: true
                )
            }
        }
        shell.advance()
        shell.bell.ring()
    }

    /// How well this machine hears vehicles, by its best adapter.
    func signals(_ vehicles: [Int]) -> [VehicleID: Int] {
        shell.with { state in
            var signals: [VehicleID: Int] = [:]
            for vehicle in vehicles {
                let heard = state.scheduler.dispatch.vehicles[vehicle].signals.values.max()
                signals[run.jobs[vehicle].vehicle] = heard
            }
            return signals
        }
    }

    /// This machine does not hear the vehicle: another one may.
    func miss(_ vehicle: Int) -> Bool {
        guard let shared, !run.schedule.isPartial else { return false }
        shared.miss(vehicle)
        return true
    }

    /// Reports the vehicles that were not heard, in one go: after a search they are most of those that others hear.
    func reportMissed() async {
        guard let missed = shared?.takeUnreportedMissed(), !missed.isEmpty else { return }
        await depot.coordinator.leave(missed.map { LeftVehicle(run.jobs[$0].vehicle) })
    }

    /// Leaves a vehicle to the other machines: it ends as another machine ends it, or once all have left it.
    ///
    /// False when no other machine takes part.
    func leave(
        _ vehicle: Int,
        _ closing: Closing,
        _ problems: [Problem] = []
    ) async throws(JournalError) -> Bool {
        guard let shared, !run.schedule.isPartial, progress.refusal == nil else { return false }
        let closing = try await self.closing(of: vehicle, closing)
        shared.leave(vehicle, SharedPart.Left(closing: closing, problems: problems))
        shell.with {
            $0.actions += $0.scheduler.ended(
                vehicle,
                nil,
                nil,
                touched: false,
                at: depot.time.now
            )
        }
        return true
    }

    /// Reports what was left here, after the news has shown that the others have not ended it.
    private func reportLeft() async {
        guard let unreported = shared?.takeUnreported(), !unreported.isEmpty else { return }
        await depot.coordinator.leave(
            unreported.map { vehicle, closing in
                LeftVehicle(
                    run.jobs[vehicle].vehicle,
                    closing.outcome,
                    closing.failure,
                    closing.message
                )
            }
        )
    }

    /// What others have ended stands in the last line of this run, too: a pause may have been seen before the verdict
    /// that caused it.
    func lookBack() async throws(JournalError) {
        guard let shared else { return }
        depot.coordinator.looksAgain(atAll: false)
        guard let news = try await depot.coordinator.look() else { return }
        for end in news.ended { shared.note(end) }
        for (vehicle, end) in shared.ends where mayAdopt(vehicle) { try await adopt(vehicle, end) }
    }

    /// The run ends before the others have left these vehicles: this machine's own verdict counts.
    func closeLeft() async throws(JournalError) {
        guard let shared else { return }
        for vehicle in run.jobs.indices {
            guard let left = shared.left(vehicle) else { continue }
            try await conclude(vehicle, left)
        }
    }

    /// The database has not answered for too long: the vehicles that wait for others are deferred.
    private func giveUpOnOthers(_ why: String) async throws(JournalError) {
        guard let shared, !run.schedule.isPartial else { return }
        for vehicle in run.jobs.indices where mayAdopt(vehicle) && !progress.hasEnded(vehicle) {
            let left =
                shared.left(vehicle)
                ?? SharedPart.Left(
                    closing: Closing(.deferred, .transient, "\(why); a later run tries again"),
                    problems: []
                )
            if shared.left(vehicle) == nil { shared.leave(vehicle, left) }
            await reportLeft()
            try await conclude(vehicle, left)
        }
        shell.advance()
        shell.bell.ring()
    }

    private func conclude(_ vehicle: Int, _ left: SharedPart.Left) async throws(JournalError) {
        shared?.forgetEnd(of: vehicle)
        let record = try await progress.execution(of: vehicle)
        if let own = record.end, own.outcome == left.closing.outcome {
            progress.note(vehicle, own.outcome)
            return skip(vehicle, own.outcome, own.failure, touched: record.acted)
        }
        let verdict = try await conclude(
            vehicle,
            left.closing.outcome,
            left.closing.failure,
            left.closing.message,
            left.problems
        )
        try await depot.events.save(in: depot.journal)
        skip(vehicle, verdict.outcome, verdict.failure, touched: record.acted)
    }

    /// Processes what others have done since the last look, and tries parked vehicles again.
    func lookAround() async throws(JournalError) {
        guard let shared else { return }
        var favoured: [VehicleID] = []
        if let news = try await depot.coordinator.look() {
            if let why = news.drain {
                shell.with { $0.actions += $0.scheduler.drain(.workLeft(why)) }
            }
            shared.look(news, at: depot.time.now)
            favoured = news.favoured
            for end in news.ended { shared.note(end) }
            for vehicle in news.opened { try await reopen(vehicle) }
            shell.with { $0.actions += $0.scheduler.follow(news.wave) }
        }
        for (vehicle, end) in shared.ends where mayAdopt(vehicle) {
            try await adopt(vehicle, end)
        }
        await reportLeft()
        if let why = depot.coordinator.silence { try await giveUpOnOthers(why) }
        for (vehicle, why) in shared.due(at: depot.time.now) {
            try await takeUp(vehicle, after: why)
        }
        if !favoured.isEmpty {
            let favoured = favoured.compactMap { shared.index(of: $0) }
            shell.with { state in
                for vehicle in favoured { state.scheduler.isFavoured(vehicle) }
            }
        }
    }

    /// The verdicts on these vehicles were removed in this journal: those that the other machines keep come back.
    ///
    /// Returns how many of the vehicles are tried again.
    func lookAgain(
        at vehicles: [VehicleID],
        _ shared: SharedPart
    ) async throws(JournalError) -> Int {
        depot.coordinator.looksAgain(atAll: true)
        try await lookAround()
        return vehicles.count { vehicle in
            shared.index(of: vehicle).map { progress.outcome(of: $0) == nil } ?? false
        }
    }

    private func mayAdopt(_ vehicle: Int) -> Bool {
        if shared?.isParked(vehicle) == true { return true }
        return shell.with { state in
            switch state.scheduler.dispatch.vehicles[vehicle].phase {
            // A vehicle that has ended here may have ended elsewhere since: the last verdict counts.
            case .closed, .queued, .ended: true
            case .holding, .resting, .asking: false
            }
        }
    }

    /// Another machine has ended the vehicle: its verdict is used here, too.
    func adopt(_ vehicle: Int, _ end: FleetEnd) async throws(JournalError) {
        let left = shared?.left(vehicle)
        shared?.forgetEnd(of: vehicle)
        if let left, left.closing.outcome == end.outcome {
            return try await conclude(vehicle, left)
        }
        let record = try await progress.execution(of: vehicle)
        if let own = record.end, own.outcome == end.outcome {
            // It may have been queued again in the meantime, and ended as before.
            progress.note(vehicle, own.outcome)
            skip(vehicle, own.outcome, own.failure)
        } else {
            let verdict = try await conclude(
                vehicle,
                end.outcome,
                end.failure,
                end.gateway.isEmpty ? end.sentence : "\(end.gateway): \(end.sentence)",
                version: end.version
            )
            try await depot.events.save(in: depot.journal)
            skip(vehicle, verdict.outcome, verdict.failure)
        }
        shell.advance()
        shell.bell.ring()
    }

    /// A vehicle that had ended, or that this machine has left, is open again: a person wants it to be tried, or the
    /// others have forgotten its end.
    private func reopen(_ vehicle: VehicleID) async throws(JournalError) {
        guard let index = shared?.index(of: vehicle),
            progress.outcome(of: index) != nil || shared?.left(index)?.isReported == true
        else { return }
        shared?.forgetEnd(of: index)
        let record = try await progress.execution(of: index)
        let debt = try await depot.journal.debt(of: run.jobs[index].serial)
        progress.taken(again: index)
        shell.with {
            $0.scheduler.again(index, attempts: record.attempt, isOpen: debt != nil)
        }
    }
}

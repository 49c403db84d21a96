import Base
package import Commands
package import Manifest
import Show
import Store

/// Writes people's requests into the journal: the only way for commands, pages and programs.
package struct OperatorRequests: Sendable {
    let state: String
    /// Vehicles of manifests that were named.
    var listed: [PlannedVehicle] = []
    /// The fleet of this machine, if any: requests apply to all its gateways.
    var fleet: FleetControl?

    package init(state: String, listed: [PlannedVehicle] = [], fleet: FleetControl? = nil) {
        self.state = state
        self.listed = listed
        self.fleet = fleet
    }

    /// Carries a request out; a refusal is an answer, too.
    package func perform(_ request: SteeringRequest) async throws(CommandError) -> SteeringAnswer {
        try await withJournal { journal, holder throws(CommandError) in
            try await perform(request, journal, holder)
        }
    }

    /// Carries a request out unless that was done under its key before; gives the same answer both
    /// times.
    ///
    /// The key is on disk before anything is changed. The key of a request that failed is removed,
    /// so that it may be sent again.
    package func perform(
        _ request: SteeringRequest,
        once key: RequestKey
    ) async throws(CommandError) -> KeyedAnswer {
        try await withJournal { journal, holder throws(CommandError) in
            let reply = Reply(author: request.author, key: key.text, body: key.body)
            do throws(JournalError) {
                if let known = try await journal.reserve(reply) {
                    guard known.body == key.body else { return .otherRequest }
                    guard !known.isUnderWay else { return .nobodyKnows }
                    return .document(status: known.status, text: known.document)
                }
            } catch { throw refusal(error) }
            let answer: SteeringAnswer
            do throws(CommandError) {
                answer = try await perform(request, journal, holder)
            } catch {
                try? await journal.forget(reply)
                throw error
            }
            let (status, value) = answer.document(of: request)
            do throws(JournalError) {
                try await journal.keep(reply.answered(status, value.text))
            } catch { throw refusal(error) }
            return .document(status: status, text: value.text)
        }
    }

    func withJournal<R: Sendable>(
        _ body: (Journal, LockHolder?) async throws(CommandError) -> R
    ) async throws(CommandError) -> R {
        let thread = try ThreadExecutor.working("journal")
        let result = await open(thread, body)
        thread.stop()
        return try result.get()
    }

    private func open<R: Sendable>(
        _ thread: ThreadExecutor,
        _ body: (Journal, LockHolder?) async throws(CommandError) -> R
    ) async -> Result<R, CommandError> {
        let (journal, holder): (Journal, LockHolder?)
        do throws(CommandError) { (journal, holder) = try await opened(thread) } catch {
            return .failure(error)
        }
        let result: Result<R, CommandError>
        do throws(CommandError) {
            result = .success(try await body(journal, holder))
        } catch { result = .failure(error) }
        await journal.close()
        return result
    }

    /// The journal of the runs; a request makes none, because no run would look for it there.
    ///
    /// What is set for a fleet is in its database, so that a machine on which nothing has run needs no journal.
    private func opened(
        _ thread: ThreadExecutor
    ) async throws(CommandError) -> (Journal, LockHolder?) {
        do throws(JournalError) {
            let directory = try? StateDirectory.existing(at: state)
            guard let directory, directory.hasJournal else {
                guard fleet != nil else { throw JournalError(.missing, "open", words: state) }
                return (try await Journal.inMemory(executor: thread), nil)
            }
            let journal = try await Journal.open(directory: directory.path, executor: thread)
            return (journal, directory.holder())
        } catch { throw CommandError(reading: error, in: state) }
    }

    /// The request, about the rollout of this machine when it names none: another machine's is
    /// meant only by name.
    ///
    /// The answer is a refusal that lists the rollouts to choose from.
    private func named(
        _ request: SteeringRequest,
        _ journal: Journal,
        _ fleet: FleetControl
    ) async throws(CommandError) -> (SteeringRequest, SteeringAnswer?) {
        guard request.rollout == nil, request.verb.takesRollout, request.vehicles.isEmpty else {
            return (request, nil)
        }
        do throws(JournalError) {
            if let run = try await journal.lastRollout(), !run.isOrder {
                return (request.naming(run.rollout), nil)
            }
        } catch { throw refusal(error) }
        let names = try await fleet.rollouts()
        guard !names.isEmpty else { return (request, nil) }
        let shown = names.prefix(Self.mostNames).map(\.visible).joined(separator: ", ")
        let more = names.count > Self.mostNames ? " and others" : ""
        return (
            request,
            SteeringAnswer(
                "refused, no rollout has run on this machine: name one of the fleet's with "
                    + "--rollout: \(shown)\(more)",
                isRefused: true
            )
        )
    }

    private static let mostNames = 8

    private func perform(
        _ request: SteeringRequest,
        _ journal: Journal,
        _ holder: LockHolder?
    ) async throws(CommandError) -> SteeringAnswer {
        var (request, others) = (request, FleetShare())
        if let fleet {
            let (about, refusal) = try await named(request, journal, fleet)
            if let refusal { return refusal }
            request = about
            var vehicles: [VehicleID?] = []
            if request.verb.takesVehicles {
                let known = try await fleet.vehicles(request.vehicles)
                let (chosen, unknown) = try await chosenHere(request, journal, known)
                if let unknown { return unknown }
                vehicles = chosen
            }
            switch try await fleet.perform(request, on: vehicles) {
            case .whole(let answer, let rollout):
                if let rollout { await follow(rollout, in: journal) }
                return answer
            case .share(let share): others = share
            }
        }
        if let answer = others.answer, let rollout = others.rollout {
            // Here too, so that an active run on this machine notices immediately.
            do throws(JournalError) {
                try await rearm(others.rearmed, rollout, request, journal, holder)
            } catch { throw refusal(error) }
            return answer
        }
        do throws(JournalError) {
            switch request.verb {
            case .inhibit: return try await inhibit(request, journal, holder)
            case .uninhibit: return try await uninhibit(request, journal, others)
            case .clear: return try await clear(request, journal, others)
            case .pause, .resume, .abort, .retry:
                return try await steer(request, journal, holder, others)
            }
        } catch { throw refusal(error) }
    }

    /// Carries out what is about a rollout of this machine.
    private func steer(
        _ request: SteeringRequest,
        _ journal: Journal,
        _ holder: LockHolder?,
        _ others: FleetShare
    ) async throws(JournalError) -> SteeringAnswer {
        let named = request.rollout
        let run =
            named == nil
            ? try await journal.lastRollout() : try await journal.lastRun(rollout: named)
        guard let run, case let rollout = run.rollout else {
            if let answer = others.answer { return answer }
            throw JournalError(.missing, "request", words: unknown(named))
        }
        if fleet == nil, try await journal.isOfFleet(run: run.number) {
            return SteeringAnswer(Self.fleetIsMissing(rollout), isRefused: true)
        }
        let isAtWork = holder?.rollout == rollout
        switch request.verb {
        case .pause: return try await hold(request, journal, .paused, rollout, isAtWork)
        case .abort: return try await hold(request, journal, .aborted, rollout, isAtWork)
        case .resume:
            return SteeringAnswer(
                try await journal.resume(rollout, saying: request.saying(rollout: rollout)),
                rollout,
                isAtWork
                    ? "goes on: the run under way drains if it has begun to, and the next run takes it up"
                    : "goes on with the next run",
                isAtWork
            )
        case .retry, .inhibit, .uninhibit, .clear: break
        }
        let answer = try await retry(request, journal, rollout, isAtWork)
        // The vehicles are unknown here, or there was nothing to do for them here.
        guard let wide = others.answer, answer.isRefused || !answer.isTakenUpNow else {
            return answer
        }
        return wide
    }

    /// Has the journal of a machine that took part show what people have set in the fleet.
    ///
    /// It is in force whether that succeeds or not: the next run does it, too.
    private func follow(_ rollout: FleetRollout, in journal: Journal) async {
        do throws(JournalError) {
            guard try await journal.fleetMark(of: rollout.name) != nil else { return }
            try await journal.follow(rollout.name, rollout.mark, rollout.hold)
        } catch {}
    }

    /// What is set in this journal alone is undone by what the fleet has.
    private static func fleetIsMissing(_ rollout: String) -> String {
        "refused, the last run of \(rollout) was one of a fleet, and nothing says where its database is: name it with "
            + "--fleet, in YARDMASTER_FLEET or in \(FleetAccess.file)"
    }

    /// Removes the verdicts here that were removed for every gateway of the fleet.
    private func rearm(
        _ vehicles: Set<VehicleID>,
        _ rollout: String,
        _ request: SteeringRequest,
        _ journal: Journal,
        _ holder: LockHolder?
    ) async throws(JournalError) {
        let isAtWork = holder?.rollout == rollout
        _ = try await journal.retry(
            rollout,
            [],
            among: vehicles,
            whileHeld: isHeld,
            quarantined: [],
            tellingRun: isAtWork,
            by: request.author,
            at: RealTime().wallTime,
            saying: request.saying(rollout: rollout)
        )
    }

    private func retry(
        _ request: SteeringRequest,
        _ journal: Journal,
        _ rollout: String,
        _ isAtWork: Bool
    ) async throws(JournalError) -> SteeringAnswer {
        let now = try await present(in: journal)
        let record = try await journal.rollout(rollout)
        let known = Set(try await journal.executions(rollout: rollout).map(\.vehicle))
        let (chosen, unmet) = chosen(request, in: rollout, known)
        if let unmet { return SteeringAnswer(unmet, rollout, "", false) }
        let named = request.named.filter(known.contains)
        var quarantined: Set<VehicleID> = []
        let plan = record.flatMap { PlanArchive(state: state).plan($0.plan, of: rollout) }
        if let limit = plan?.rollout.quarantineAfter {
            quarantined = Set(try await journal.failures(atLeast: limit).map(\.vehicle))
        }
        let rearmed = try await journal.retry(
            rollout,
            named,
            among: request.vehicles.isEmpty ? nil : chosen,
            whileHeld: isHeld,
            quarantined: quarantined,
            tellingRun: isAtWork,
            by: request.author,
            at: now,
            saying: request.saying(rollout: rollout, vehicles: chosen.sorted())
        )
        if let why = rearmed.refusal {
            return SteeringAnswer(.refused(why), rollout, "", false)
        }
        let again = rearmed.all
        guard !again.isEmpty else {
            return SteeringAnswer(
                .noChange(Self.nothingToTake(rearmed.doubtful.sorted())),
                rollout,
                "",
                false
            )
        }
        let names = again.map(\.text.visible).joined(separator: ", ")
        let who =
            rearmed.hold == .paused
            ? "after 'resume'" : isAtWork ? "by the run under way" : "by the next run"
        return SteeringAnswer(.done, rollout, "taken again \(who): \(names)", isAtWork)
    }

    /// The vehicles of a rollout that a request means; else the answer to it.
    private func chosen(
        _ request: SteeringRequest,
        in rollout: String,
        _ known: Set<VehicleID>
    ) -> (Set<VehicleID>, VerbAnswer?) {
        var ground = KnownVehicles(state: state).ground(ofRollout: rollout)
        ground.others = known
        var chosen: Set<VehicleID> = []
        for pattern in request.vehicles {
            let found: Set<VehicleID>
            do throws(CommandError) {
                found = try ground.vehicles(pattern).intersection(known)
            } catch { return ([], .refused(error.answer)) }
            guard !found.isEmpty else {
                let text = pattern.text.visible
                return pattern.isPattern
                    ? ([], .refused("it has no vehicle \(text)"))
                    : ([], .noChange("\(text) selects no vehicle now"))
            }
            chosen.formUnion(found)
        }
        return (chosen, nil)
    }

    /// Why `retry` changes nothing, and how a doubt is answered.
    static func nothingToTake(_ doubtful: [VehicleID]) -> String {
        guard let first = doubtful.first else { return "nothing is to be taken again" }
        return "nothing is to be taken again; a doubt is answered by name only: \(names(doubtful)) "
            + "(`retry \(first)` when it was not carried out, `clear \(first)` when it was)"
    }

    private func hold(
        _ request: SteeringRequest,
        _ journal: Journal,
        _ kind: Hold.Kind,
        _ rollout: String,
        _ isAtWork: Bool
    ) async throws(JournalError) -> SteeringAnswer {
        let verb = kind.rawValue
        let hold = Hold(
            kind,
            rollout,
            reason: request.reason.map { "\(verb) by request: \($0)" }
                ?? "\(verb) by request",
            author: request.author,
            at: RealTime().wallTime
        )
        return SteeringAnswer(
            try await journal.set(
                hold,
                isAtWork: isAtWork,
                saying: request.saying(rollout: rollout)
            ),
            rollout,
            isAtWork
                ? "\(verb): the run under way begins nothing new and finishes what it has"
                : "\(verb): the next run begins nothing",
            isAtWork
        )
    }

    /// The operation of an error for a request that has to wait until the run has ended.
    private static let besideWork = "clear beside a run"

    private func unknown(_ named: String?) -> String {
        let here = named.map { "no rollout \($0.visible) has run here" } ?? "nothing has run here"
        guard fleet != nil else { return here }
        return here + ", and the fleet knows " + (named == nil ? "no rollout" : "none of that name")
    }

    /// The error for people; when no rollout of that name has run here, an input is missing and the
    /// journal is in order.
    func refusal(_ error: JournalError) -> CommandError {
        if error.operation == Self.besideWork {
            return CommandError(
                .busy,
                error.words,
                hint: "say it again when the run has ended; 'yardmaster status' shows it"
            )
        }
        guard error.kind == .missing else { return CommandError(error) }
        return CommandError(
            .inputMissing,
            error.words,
            hint: fleet == nil
                ? "name the rollout with --rollout and its directory with --state"
                : "'yardmaster status' lists the fleet's rollouts, each once a run on a gateway has begun it"
        )
    }

    /// The present by which inhibitions end.
    private func present(in journal: Journal) async throws(JournalError) -> WallTime {
        let now = RealTime().wallTime
        return try await journal.look { view throws(JournalError) in try view.present(now) }
    }

    private func inhibit(
        _ request: SteeringRequest,
        _ journal: Journal,
        _ holder: LockHolder?
    ) async throws(JournalError) -> SteeringAnswer {
        let now = RealTime().wallTime
        let present = try await present(in: journal)
        let expires = request.length.map { present.advanced(by: $0) }
        let reason = request.reason ?? "no reason was given"
        let (chosen, unknown) = try await chosen(request, journal)
        if let unknown { return unknown }
        for vehicle in chosen {
            try await journal.inhibit(
                Inhibit(
                    vehicle,
                    reason: reason,
                    expires: expires,
                    author: request.author,
                    at: now
                ),
                listed: listed.first { $0.id == vehicle }.map { ListedVehicle($0.id, $0.serial) },
                saying: request.saying(vehicles: [vehicle])
            )
        }
        let until = expires.map { "until \($0)" } ?? "until it is lifted"
        let busy = holder != nil ? try await journal.vehiclesAtWork() : []
        let late = chosen.compactMap(\.self).filter(busy.contains)
        let remark =
            late.isEmpty
            ? ""
            : "; a run is at work on \(late.map(\.text.visible).joined(separator: ", ")): it "
                + "finishes the step it is at and does no further one"
        return SteeringAnswer("left alone \(until): \(Self.names(chosen))\(remark)")
    }

    private func uninhibit(
        _ request: SteeringRequest,
        _ journal: Journal,
        _ others: FleetShare
    ) async throws(JournalError) -> SteeringAnswer {
        let (chosen, unknown) = try await chosen(request, journal, others.known)
        if let unknown { return unknown }
        // This includes inhibits from before the machine belonged to a fleet.
        var lifted = others.lifted > 0 ? chosen : []
        for vehicle in chosen {
            let saying = request.saying(vehicles: [vehicle])
            let isLifted = try await journal.uninhibit(vehicle, saying: saying)
            if isLifted, !lifted.contains(vehicle) { lifted.append(vehicle) }
        }
        let present = try await present(in: journal)
        let depot = try await journal.look { view throws(JournalError) in
            try view.inhibits(at: present).first { $0.vehicle == nil }
        }
        let word = depot == nil ? "takes part again" : "no longer inhibited"
        let remark = depot.map { depot in
            "; the depot is still left alone: \(depot.reason.visible), `uninhibit --all` lifts that"
        }
        return SteeringAnswer(
            (lifted.isEmpty
                ? "no change, nothing was inhibited: \(Self.names(chosen))"
                : "\(word): \(Self.names(lifted))") + (remark ?? "")
        )
    }

    private func clear(
        _ request: SteeringRequest,
        _ journal: Journal,
        _ others: FleetShare
    ) async throws(JournalError) -> SteeringAnswer {
        let (chosen, unknown) = try await chosen(request, journal, others.known)
        if let unknown { return unknown }
        let named = chosen.compactMap(\.self)
        guard !named.isEmpty else {
            let count = try await journal.clearFailures(of: nil, saying: request.saying())
            return SteeringAnswer("failures forgotten: \(count)")
        }
        let cleared = try await journal.clear(
            named,
            named: Set(request.named),
            whileHeld: isHeld,
            by: request.author,
            at: RealTime().wallTime,
            saying: request.saying(vehicles: named)
        )
        if let vehicle = cleared.atWork {
            let words = "a run is at work on \(vehicle): nothing was changed"
            throw JournalError(.busy, Self.besideWork, words: words)
        }
        var sentences = cleared.sentences + others.sentences(beyond: cleared)
        let failures = max(cleared.failures, others.cleared.failures)
        if failures > 0 { sentences.append("failures forgotten: \(failures)") }
        if sentences.isEmpty {
            sentences.append("no change, nothing to clear: \(Self.names(chosen))")
        }
        sentences += cleared.stillInDoubt.map { "\($0): still in doubt, name it in full to answer" }
        return SteeringAnswer(sentences.joined(separator: "\n"))
    }

    /// Whether a run has the state directory at this moment; asked in the transaction that answers,
    /// because a run may begin a step while the request is prepared.
    private var isHeld: @Sendable () -> Bool {
        let state = state
        return { (try? StateDirectory.existing(at: state))?.holder() != nil }
    }

    /// The vehicles that are selected by id or pattern among all known ones; nil for the depot.
    ///
    /// Returns a refusal when one is unknown.
    private func chosenHere(
        _ request: SteeringRequest,
        _ journal: Journal,
        _ others: Set<VehicleID>
    ) async throws(CommandError) -> ([VehicleID?], SteeringAnswer?) {
        do throws(JournalError) {
            return try await chosen(request, journal, others)
        } catch { throw refusal(error) }
    }

    private func chosen(
        _ request: SteeringRequest,
        _ journal: Journal,
        _ others: Set<VehicleID> = []
    ) async throws(JournalError) -> ([VehicleID?], SteeringAnswer?) {
        guard !request.vehicles.isEmpty else { return ([nil], nil) }
        // Labels and endings are those of the last rollout, and of manifests that are named.
        var ground = KnownVehicles(state: state).ground(ofRollout: nil)
        ground.others.formUnion(try await journal.vehicles())
        ground.others.formUnion(others)
        ground.planned += listed
        var chosen: [VehicleID] = []
        for pattern in request.vehicles {
            let found: [VehicleID]
            do throws(CommandError) {
                found = try ground.vehicles(pattern).sorted()
            } catch {
                return ([], SteeringAnswer(error.answer, isRefused: true))
            }
            guard !found.isEmpty else {
                guard pattern.isPattern else {
                    return (
                        [],
                        SteeringAnswer("no change, \(pattern.text.visible) selects no vehicle now")
                    )
                }
                return (
                    [],
                    SteeringAnswer(
                        "there is no vehicle \(pattern.text.visible) in any rollout here; "
                            + "name a manifest that lists it with --manifest",
                        isRefused: true
                    )
                )
            }
            for vehicle in found where !chosen.contains(vehicle) { chosen.append(vehicle) }
        }
        return (chosen, nil)
    }

    private static func names(_ vehicles: [VehicleID?]) -> String {
        vehicles.map { $0?.text.visible ?? "the depot" }.joined(separator: ", ")
    }
}

extension SteeringAnswer {
    /// The answer of a verb on a rollout; `done` is the sentence when it changed something.
    fileprivate init(_ answer: VerbAnswer, _ rollout: String, _ done: String, _ isTakenUpNow: Bool)
    {
        switch answer {
        case .done:
            self.init("\(rollout): \(done)", rollout: rollout, isTakenUpNow: isTakenUpNow)
        case .noChange(let why):
            self.init("\(rollout): no change, \(why)", rollout: rollout)
        case .refused(let why):
            self.init("\(rollout): refused, \(why)", rollout: rollout, isRefused: true)
        }
    }
}

extension SteeringRequest {
    /// The record for the journal, under its author's name.
    fileprivate func saying(rollout: String? = nil, vehicles: [VehicleID?] = []) -> Saying {
        Saying(
            verb.rawValue,
            rollout: rollout,
            vehicles: vehicles.compactMap(\.self),
            reason: reason ?? "",
            author: author,
            at: RealTime().wallTime
        )
    }
}

extension CommandError {
    /// The error as one answer.
    fileprivate var answer: String { hint.map { "\(sentence); \($0)" } ?? sentence }
}

import Base
package import Commands
import Glibc
import Images
package import Manifest
package import Show
import Store

/// Sends notices about the ends of runs; radio work never waits for it.
package struct NoticeSender: Sendable {
    /// The time limit for sending one notice.
    static let patience = Duration.seconds(10)
    /// The time limit for all notices at the end of a run.
    static let endPatience = Duration.seconds(30)
    /// For this time, no other process takes the entry.
    private static let claim = Duration.seconds(60)

    let state: String
    let context: Context
    /// The policy of a manifest.
    package var own: NotifyPolicy?
    /// The flags of the run's command line.
    private let given: PlaceFlags

    /// `given`: the flags of the run's command line, for a run of a fleet that only they name.
    package init(
        state: String,
        context: Context,
        own: NotifyPolicy? = nil,
        given: PlaceFlags = PlaceFlags()
    ) {
        self.state = state
        self.context = context
        self.own = own
        self.given = given
    }

    /// The result of sending one notice.
    package struct Result: Sendable {
        let entry: OutboxEntry
        /// Nil when the notice arrived.
        package let failure: String?
        let isGivenUp: Bool
    }

    // MARK: Targets

    /// All targets that this user may read; the commands for notices also report a list that this
    /// user may not read.
    package func policy() throws(CommandError) -> NotifyPolicy {
        let found = try lists.find()
        if let unread = found.unread {
            context.console.note("yardmaster: warning: \(unread); its targets are ignored\n")
        }
        return found.policy
    }

    private var lists: NotifyLists { NotifyLists(state: state, own: own) }

    /// The notices about the end of a run; an invalid list stops nothing.
    ///
    /// A rehearsal gets here only when its notices are asked for.
    func wishes(
        run: Int,
        of rollout: String,
        exitCode: Int,
        failed: Int,
        isRehearsal: Bool
    ) -> [OutboxWish] {
        do throws(CommandError) {
            let found = try lists.find()
            if let unread = found.unread, !isRehearsal {
                context.console.note(
                    "yardmaster: warning: \(unread); its targets get no notice of run \(run)\n"
                )
            }
            return NotifyPlan.wishes(
                found.policy,
                run: run,
                of: rollout,
                NotifyPlan.kinds(exitCode: exitCode, needsPerson: failed > 0),
                pause: exitCode == 12 ? pause(of: rollout) : nil
            )
        } catch {
            context.console.note("yardmaster: warning: no notice was sent: \(error.sentence)\n")
            return []
        }
    }

    /// Identifies a pause; the same pause after further vehicles has another key.
    private func pause(of rollout: String) -> String? {
        let (now, holder) = (RealTime().wallTime, StateDirectoryHolder.current(state))
        let found = try? JournalReader(directory: state).read { view throws(JournalError) in
            (
                try view.rollout(rollout), try view.hold(on: rollout),
                try RolloutSnapshot(of: rollout, in: view, holder: holder, at: now)
            )
        }
        guard case (let record?, let hold?, let snapshot)? = found else { return nil }
        let vehicles = VehicleCounts(
            snapshot.standings(of: snapshot.executions).map { $0.verdict?.outcome }
        )
        let done = [vehicles.count(.ok), vehicles.count(.failed)].map { "\($0)" }
        return "pause-\(record.began)-\(hold.made.milliseconds)-" + done.joined(separator: "-")
    }

    // MARK: Sending

    /// Sends notices that are due, within the time limit; returns the results.
    package func deliver(within limit: Duration, only key: String? = nil) async -> [Result] {
        guard let world = context.reach.postage else { return [] }
        do throws(CommandError) {
            let thread = try ThreadExecutor.working("notify")
            let results = await Courier(self, in: world, executor: thread).deliver(
                within: limit,
                only: key
            )
            thread.stop()
            return try results.get()
        } catch {
            context.console.note("yardmaster: warning: no notice was sent: \(error.sentence)\n")
            return []
        }
    }

    /// Called at the end of a run: notices that did not arrive are reported as warnings.
    func deliverAtEnd() async {
        guard let found = try? lists.find(), !found.policy.targets.isEmpty else { return }
        for result in await deliver(within: Self.endPatience) {
            guard let failure = result.failure else { continue }
            let rest = result.isGivenUp ? "given up" : "'yardmaster notify send' tries again"
            context.console.note(
                "yardmaster: warning: \(result.entry.target) was not notified: \(failure); \(rest)\n"
            )
        }
    }

    /// Blocks while it waits for servers and programs, so it has a thread of its own.
    private actor Courier {
        private let notices: NoticeSender
        private let world: RealWorld
        private nonisolated let executor: ThreadExecutor
        private var lists: [String: NotifyLists.Found] = [:]

        nonisolated var unownedExecutor: UnownedSerialExecutor {
            executor.asUnownedSerialExecutor()
        }

        init(_ notices: NoticeSender, in world: RealWorld, executor: ThreadExecutor) {
            self.notices = notices
            self.world = world
            self.executor = executor
        }

        func deliver(
            within limit: Duration,
            only key: String?
        ) async -> Swift.Result<[Result], CommandError> {
            do throws(JournalError) {
                let journal = try await Journal.open(directory: notices.state, executor: executor)
                let results = await deliver(journal, within: limit, only: key)
                await journal.close()
                return .success(results)
            } catch { return .failure(CommandError(error)) }
        }

        private func deliver(
            _ journal: Journal,
            within limit: Duration,
            only key: String?
        ) async -> [Result] {
            var results: [Result] = []
            let end = RealTime().now.advanced(by: limit)
            var last: Int64 = 0
            do throws(JournalError) {
                while RealTime().now < end {
                    let now = RealTime().wallTime
                    let entry = try await journal.takeOutbox(
                        after: last,
                        at: now,
                        until: now.advanced(by: NoticeSender.claim),
                        only: key
                    )
                    guard let entry else { break }
                    last = entry.id
                    results.append(try await deliver(entry, journal))
                }
            } catch {
                notices.context.console.note("yardmaster: warning: no notice was sent: \(error)\n")
            }
            return results
        }

        private func deliver(
            _ entry: OutboxEntry,
            _ journal: Journal
        ) async throws(JournalError) -> Result {
            let problem: Problem?
            if let notice = try await notice(of: entry, journal) {
                problem = await notices.tell(notice, entry, found(for: entry), in: world)
            } else {
                problem = Problem("its subject is no longer in the journal", isFinal: true)
            }
            let now = RealTime().wallTime
            guard let problem else {
                try await journal.delivered(entry.id, at: now)
                return Result(entry: entry, failure: nil, isGivenUp: false)
            }
            let pause =
                problem.isFinal
                ? nil : NotifyPlan.pause(after: entry.attempts, made: entry.made, at: now)
            try await journal.undelivered(
                entry.id,
                because: problem.sentence,
                again: pause.map { now.advanced(by: $0) }
            )
            return Result(entry: entry, failure: problem.sentence, isGivenUp: pause == nil)
        }

        /// The text that was made at the first attempt.
        private func notice(
            of entry: OutboxEntry,
            _ journal: Journal
        ) async throws(JournalError) -> NotifyNotice? {
            if let body = entry.body {
                return (try? JSONValue(json: body)).flatMap { NotifyNotice($0) }
            }
            guard let notice = notices.notice(of: entry) else { return nil }
            try await journal.word(entry.id, notice.json.text)
            return notice
        }

        /// The lists together with the rollout's own targets; nil while one of them is invalid.
        private func found(for entry: OutboxEntry) -> NotifyLists.Found? {
            let name = entry.rollout ?? ""
            if let known = lists[name] { return known }
            var notices = notices
            notices.own = notices.own ?? notices.manifestPolicy(of: name)
            let found = try? notices.lists.find()
            lists[name] = found
            return found
        }
    }

    /// Why a notice did not arrive.
    private struct Problem {
        let sentence: String
        /// Another attempt would have the same result.
        let isFinal: Bool

        init(_ sentence: String, isFinal: Bool = false) {
            self.sentence = sentence.visible
            self.isFinal = isFinal
        }
    }

    /// The policy in the stored plan of a rollout.
    private func manifestPolicy(of rollout: String) -> NotifyPolicy? {
        let record = try? JournalReader(directory: state).read { view throws(JournalError) in
            try view.rollout(rollout)
        }
        guard let record else { return nil }
        return PlanArchive(state: state).plan(record.plan, of: rollout)?.notify
    }

    private func tell(
        _ notice: NotifyNotice,
        _ entry: OutboxEntry,
        _ found: NotifyLists.Found?,
        in world: RealWorld
    ) async -> Problem? {
        guard let found else { return Problem("a list of targets is not right") }
        guard let target = found.policy.target(entry.target) else {
            // A user who may read that list can still send it.
            if let unread = found.unread { return Problem("\(unread)") }
            return Problem("it is no longer in any list", isFinal: true)
        }
        let id = "\(notice.host)-\(entry.key)-\(entry.target)"
        var secrets = NotifyMessage.Secrets()
        let address: WebAddress?
        do throws(CommandError) {
            if case .webhook(_, key: let key?) = target.way {
                secrets.key = try secret(key, of: target)
            }
            if let token = target.token {
                secrets.token = try secret(token, of: target)
            }
            address = try self.address(of: target)
        } catch {
            return Problem(([error.sentence] + error.causes).joined(separator: ": "))
        }
        let message = NotifyMessage(notice, to: target, id: id, at: RealTime().wallTime, secrets)
        switch message {
        case .mail(let text):
            let program = found.policy.sendmail ?? "/usr/sbin/sendmail"
            return Self.problem(world.program([program, "-t", "-i"]), text)
        case .program(let input):
            guard case .program(let words) = target.way else { return nil }
            return Self.problem(world.program(words), input)
        case .web(let path, let headers, let body):
            guard let address = address?.adding(path) else {
                return Problem("its address is not valid", isFinal: true)
            }
            var settings = FetchSettings()
            settings.connectTimeout = .seconds(5)
            settings.redirects = 0
            let error = await world.post(
                to: address,
                headers: headers.map { ($0.name, $0.value) },
                body: Array(body.utf8)
            ).send(within: Self.patience, at: RealTime().wallTime, settings: settings)
            return error.map { Self.problem($0, at: address) }
        }
    }

    private static func problem(_ program: FedProgram, _ input: String) -> Problem? {
        switch program.run(input, within: patience) {
        case .ended(0): nil
        case .ended(let code): Problem("\(program.words[0]) ended with \(code)" + sandboxed)
        case .cut(let why): Problem(why)
        case .absent(let why): Problem(why, isFinal: true)
        }
    }

    /// What keeps a program from the rights of another user, which many mail programs need.
    private static var sandboxed: String {
        let status = (try? TextFile.read(path: "/proc/self/status", limit: 65_536)) ?? []
        return String(decoding: status, as: UTF8.self).contains("NoNewPrivs:\t1")
            ? "; the unit's sandbox denies it the rights of another user (see docs/operations.md)"
            : ""
    }

    /// Only the server's host: a person who knows the address could send to it.
    private static func problem(_ error: DownloadError, at address: WebAddress) -> Problem {
        let isFinal =
            switch error {
            case .status(let code, _): !([408, 425, 429].contains(code) || code >= 500)
            case .redirected, .weakerRedirect, .tooManyRedirects, .configuration: true
            case .noFile, .file, .unreachable, .cut, .tooSlow, .tls, .badAnswer, .webPage, .tooLong,
                .wrongLength, .proxy, .noLibrary, .cancelled:
                false
            }
        return Problem("\(address.host): \(error)", isFinal: isFinal)
    }

    private func secret(
        _ reference: SecretReference,
        of target: NotifyTarget
    ) throws(CommandError) -> Secret {
        try SecretSource(context: context).read(reference, of: "the target \(target.name)")
            .withBytes { bytes in Secret(Array(bytes.prefix { $0 != 0x0A && $0 != 0x0D })) }
    }

    private func address(of target: NotifyTarget) throws(CommandError) -> WebAddress? {
        let address: NotifyAddress
        switch target.way {
        case .mail, .program: return nil
        case .webhook(let to, _): address = to
        case .ntfy(let to), .alertmanager(let to), .healthcheck(let to): address = to
        }
        switch address {
        case .url(let text): return WebAddress(text, allowsHTTP: true)
        case .secret(let reference):
            let text = try secret(reference, of: target)
                .withBytes { String(decoding: $0, as: UTF8.self) }
            // The content of a reference was not checked before.
            return WebAddress(text)
        }
    }

    // MARK: Content

    /// Made from the journal in its current state.
    private func notice(of entry: OutboxEntry) -> NotifyNotice? {
        guard let rollout = entry.rollout, let number = entry.run,
            let kind = NotifyKind(rawValue: entry.kind)
        else { return nil }
        let (now, holder) = (RealTime().wallTime, StateDirectoryHolder.current(state))
        let found = try? JournalReader(directory: state).read { view throws(JournalError) in
            let run = try view.run(number)
            return (
                run,
                // A run that was cut off has no end, and was silent long before this was noticed.
                kind == .silent ? try run.map(view.lastSign) : nil,
                try RolloutSnapshot(of: rollout, in: view, holder: holder, at: now)
            )
        }
        guard case (let run?, let sign, let snapshot)? = found else { return nil }
        let plan = KnownVehicles(state: state).plan(of: snapshot)
        return NotifyNotice(
            kind,
            of: run,
            snapshot,
            plan,
            zone: ZoneSource.shown(plan, context),
            manifest: PlanArchive(state: state).manifest(of: rollout),
            flags: given.elsewhere(state),
            made: sign ?? entry.made
        )
    }

    /// The name of this machine.
    package static var host: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "localhost" }
        return String(
            decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) },
            as: UTF8.self
        )
    }
}

import Base
import CLinux
import Commands
import Glibc
package import Operations
import Rollout
import Show
import Store
import Synchronization

/// Answers the requests to `serve`, from the journal or from the fleet's database; requests of
/// people go through the `ControlQueue`.
///
/// An answer is cached until the journal has changed: many readers cost no more than one. While a
/// run writes, an answer is cached for ten times as long as it took to make.
package final class LivePages: Sendable {
    /// A cached answer.
    private struct Kept: Sendable {
        let status: Int
        let type: String
        let body: [UInt8]
        let tag: String
        let mark: JournalMark
        let made: Moment
        let cost: Duration
    }

    private struct State: Sendable {
        var kept: [String: Kept] = [:]
        var bytes = 0
        var mark: JournalMark?
        var change = 0
        /// When a change of the fleet was last announced.
        var announced: Moment?
        /// Whether a client got an answer that is older than the journal.
        var isBehind = false
        /// Metrics of runs that have ended, which never change.
        var metrics: [Int: [MetricsText.Family]] = [:]
        /// The status of a rollout, for other pages of the same rollout.
        var status: KnownStatus?
        /// The link figures of runs that have ended.
        var trends: [Int: RunTrend] = [:]
    }

    private struct KnownStatus: Sendable {
        let rollout: String?
        let mark: JournalMark
        let made: Moment
        let status: RolloutStatus
    }

    private static let mostKept = 64
    private static let mostBytes = 8 << 20
    /// An answer that took longer has read a lot.
    private static let costly = Duration.milliseconds(100)
    /// How long an answer is right: relative times for a minute; a fleet's database does not
    /// announce its changes, so it is asked again sooner.
    private var longest: Duration { looks == nil ? .seconds(60) : .seconds(5) }

    private let journal: StandingJournal
    private let host: LiveHost
    private let context: Context
    package let gate: LiveGate
    let queue: ControlQueue
    /// Nil on a machine that belongs to no fleet.
    private let looks: LookQueue?
    private let state = Mutex(State())

    package init(
        _ journal: StandingJournal,
        _ host: LiveHost,
        _ gate: LiveGate,
        _ queue: ControlQueue,
        _ looks: LookQueue? = nil,
        _ context: Context
    ) {
        self.looks = looks
        self.journal = journal
        self.host = host
        self.gate = gate
        self.queue = queue
        self.context = context
    }

    /// The viewer's rights, which determine the form of a page.
    private struct Look: Sendable {
        var isOpen: Bool
        var mayAct = false
        /// Nil when signing in is not required.
        var isSignedIn: Bool?

        /// Identifies the form of a page in the cache.
        var key: String {
            (isOpen ? "o" : "p") + (mayAct ? "a" : "-") + (isSignedIn.map { $0 ? "s" : "n" } ?? "-")
        }
    }

    /// The number of the last change; nil when nothing has changed since the last call.
    package func change() -> Int? {
        let mark = JournalMark(journal.state)
        let now = RealTime().now
        return state.withLock { state in
            let isDue =
                looks != nil && state.announced.map { $0.duration(to: now) >= longest } ?? true
            guard state.mark != mark || state.isBehind || isDue else { return nil }
            state.mark = mark
            state.announced = now
            state.isBehind = false
            state.change += 1
            return state.change
        }
    }

    // MARK: One request

    /// `checksHost` is false for sockets that no browser can reach.
    package func answer(_ request: WebRequest, checksHost: Bool) -> WebAnswer {
        let viewer = gate.viewer(request)
        let isSent = request.method == "POST"
        if case .anybody = viewer, isSent {
            return notAllowed(
                request,
                "GET, HEAD",
                "Only reading is possible here",
                "Use GET or HEAD."
            )
        }
        guard isSent || ((request.method == "GET" || request.method == "HEAD") && !request.hasBody)
        else {
            return notAllowed(
                request,
                "GET, HEAD",
                "Only reading is possible here",
                "Use GET or HEAD."
            )
        }
        guard !checksHost || host.takes(request.host) else {
            return refusal(
                request,
                421,
                "This is not served under this name",
                "Use localhost, or start 'yardmaster serve' with --host NAME."
            )
        }
        let route: LiveRoute
        do throws(LiveRoute.Fault) {
            route = try LiveRoute(request.target)
        } catch { return nowhere(error, request) }
        let isFree = [.health, .style, .script, .description].contains(route)
        if let answer = stranger(viewer, route, request), !isFree { return answer }
        if case .closed(let error) = viewer, !isFree {
            context.console.note(error.text)
            return isForPrograms(route)
                ? document(503, error) : refusal(503, "Nobody is admitted", error.sentence)
        }
        if isSent { return post(request, route, viewer) }
        switch route {
        case .session, .act(.some): return personal(route, viewer)
        case .leaving, .act(nil), .requests:
            return notAllowed(
                request,
                "POST",
                "There is nothing to read here",
                "It accepts requests."
            )
        case .page, .document, .description, .changes, .health, .metrics, .style, .script: break
        }
        if case .nobody = viewer, !isFree {
            return isForPrograms(route)
                ? document(401, CommandError(.usage, "send a token: 'Authorization: Bearer TOKEN'"))
                : personal(401, LiveActPage.signIn())
        }
        return read(route, request, viewer)
    }

    /// The answer for an address that leads nowhere.
    private func nowhere(_ fault: LiveRoute.Fault, _ request: WebRequest) -> WebAnswer {
        let (status, title, sentence) =
            switch fault {
            case .target: (400, "This is not an address", "It cannot be read.")
            case .unknown: (404, "There is nothing here", "This address is unknown.")
            case .query(let name):
                (400, "This query is not valid", "The value of '\(name.visible)' cannot be used.")
            }
        return refusal(request, status, title, sentence)
    }

    /// Programs get a document, people a page.
    private func refusal(
        _ request: WebRequest,
        _ status: Int,
        _ title: String,
        _ sentence: String
    ) -> WebAnswer {
        guard request.target.hasPrefix("/api/") else { return refusal(status, title, sentence) }
        let message = title.prefix(1).lowercased() + title.dropFirst()
        let kind: CommandError.Kind = status == 404 ? .inputMissing : .usage
        return document(status, CommandError(kind, message, hint: sentence))
    }

    /// The answer to a request with an unknown token, which is noted; nil for all others.
    private func stranger(
        _ viewer: LiveGate.Viewer,
        _ route: LiveRoute,
        _ request: WebRequest
    ) -> WebAnswer? {
        switch viewer {
        case .anybody, .nobody, .person, .closed: return nil
        case .unknown:
            note(unknownTokenAt: request)
            return isForPrograms(route)
                ? document(401, CommandError(.usage, "this token is not known"))
                : personal(401, LiveActPage.signIn(fault: "This token is not known."))
        case .late:
            return isForPrograms(route)
                ? document(429, CommandError(.usage, Self.late))
                : personal(429, LiveActPage.signIn(fault: Self.late))
        }
    }

    static let late = "too many unknown tokens were sent; try again in a minute"

    /// One line for each of the tokens that are looked at, without the token.
    func note(unknownTokenAt request: WebRequest) {
        let path = request.target.prefix { $0 != "?" }.prefix(200)
        context.console.note(
            "yardmaster serve: an unknown token was sent: \(request.method.visible) "
                + "\(String(path).visible)\n"
        )
    }

    private func isForPrograms(_ route: LiveRoute) -> Bool {
        switch route {
        case .document, .description, .changes, .metrics, .requests: true
        case .page, .health, .style, .script, .session, .leaving, .act: false
        }
    }

    private func read(
        _ route: LiveRoute,
        _ request: WebRequest,
        _ viewer: LiveGate.Viewer
    ) -> WebAnswer {
        var look = Look(isOpen: request.accept.contains("application/openmetrics-text"))
        var cache = "no-cache"
        if case .person(let person, let session) = viewer {
            look.mayAct = person.mayAct && session != nil
            look.isSignedIn = true
            cache = "private, no-cache"
        }
        if route == .changes {
            guard request.method == "GET" else {
                return .whole(
                    status: 200,
                    headers: Self.headers("text/event-stream", cache: cache),
                    body: []
                )
            }
            var reader: String?
            if case .person(let person, _) = viewer { reader = person.reader }
            return .events(
                headers: Self.headers("text/event-stream", cache: cache) + [
                    (name: "X-Accel-Buffering", value: "no")
                ],
                reader: reader
            )
        }
        let kept = kept(route, look, key: look.key + request.target)
        let tagged = Self.headers(kept.type, cache: cache) + [(name: "ETag", value: kept.tag)]
        if kept.status == 200, let known = request.validator, Self.names(kept.tag, in: known) {
            return .whole(status: 304, headers: tagged, body: [])
        }
        return .whole(status: kept.status, headers: tagged, body: kept.body)
    }

    /// A change that was made here must be visible immediately.
    func forget() {
        state.withLock { state in
            state.kept = [:]
            state.bytes = 0
            state.status = nil
        }
    }

    /// The current status; pages, filters and documents of one rollout share it.
    private func status(of rollout: String?) throws(CommandError) -> RolloutStatus {
        let mark = JournalMark(journal.state)
        let now = RealTime().now
        let known = state.withLock { state -> RolloutStatus? in
            if let known = state.status, known.rollout == rollout, known.mark == mark,
                known.made.duration(to: now) < longest
            {
                return known.status
            }
            // Two of a large rollout would need too much memory.
            state.status = nil
            return nil
        }
        if let known { return known }
        let status = try lookAt(rollout)
        state.withLock {
            $0.status = KnownStatus(rollout: rollout, mark: mark, made: now, status: status)
        }
        return status
    }

    private func lookAt(_ rollout: String?) throws(CommandError) -> RolloutStatus {
        guard let looks else {
            var status = try journal.status(of: rollout)
            ZoneSource.addWindow(to: &status, context)
            return status
        }
        return try looks.ask { (standings) throws(CommandError) in
            try await standings.status(of: rollout)
        }
    }

    private func history(
        of rollout: String?,
        _ count: Int
    ) throws(CommandError) -> (history: RunList, zone: Zone) {
        guard let looks else { return try journal.history(of: rollout, count: count, context) }
        return try looks.ask { (standings) throws(CommandError) in
            try await standings.history(of: rollout, count: count)
        }
    }

    /// A run, of which a run of this machine alone is read in pieces.
    private func run(
        _ wish: RunWish
    ) throws(CommandError) -> (shown: ShownRun, story: RunStory, zone: Zone) {
        guard let looks else { return try journal.run(wish, context) }
        let (shown, zone) = try looks.ask { (standings) throws(CommandError) in
            try await standings.run(wish)
        }
        return (shown, shown.story, zone)
    }

    private static func names(_ tag: String, in list: String) -> Bool {
        list.split(separator: ",").contains { item in
            let item = item.drop { $0 == " " }
            return item == "*" || item == tag || item == "W/" + tag
        }
    }

    private func kept(_ route: LiveRoute, _ look: Look, key: String) -> Kept {
        let time = RealTime()
        let mark = JournalMark(journal.state)
        let found = state.withLock { $0.kept[key] }
        if let found {
            let age = found.made.duration(to: time.now)
            let isSame = found.mark == mark && age < longest
            if isSame { return found }
            if age < max(.seconds(1), found.cost * 10) {
                // This client gets an outdated answer, so a further change is announced to it.
                state.withLock { $0.isBehind = true }
                return found
            }
        }
        let began = time.now
        let (status, type, body) = make(route, look)
        let made = time.now
        // Memory of a large rollout is not kept for the next one.
        if began.duration(to: made) > Self.costly { memory_give_back() }
        let fresh = Kept(
            status: status,
            type: type,
            body: body,
            tag: "\"\(SHA256.digest(of: body).description.prefix(32))\"",
            mark: mark,
            made: made,
            cost: began.duration(to: made)
        )
        state.withLock { state in
            if state.kept.count >= Self.mostKept || state.bytes + body.count > Self.mostBytes {
                state.kept = [:]
                state.bytes = 0
            }
            if let old = state.kept.updateValue(fresh, forKey: key) {
                state.bytes -= old.body.count
            }
            state.bytes += body.count
        }
        return fresh
    }

    // MARK: Making answers

    private func make(_ route: LiveRoute, _ look: Look) -> (Int, String, [UInt8]) {
        switch route {
        case .changes, .session, .leaving, .act, .requests: return (500, "text/plain", [])
        case .health: return (200, "text/plain; charset=utf-8", Array("ok\n".utf8))
        case .style:
            return (200, "text/css; charset=utf-8", Array((HTMLStyle.sheet.text + "\n").utf8))
        case .script:
            return (200, "text/javascript; charset=utf-8", Array(LiveFrame.script.utf8))
        case .description:
            return (200, "application/json", Array(OpenAPIDocument.text.utf8))
        case .metrics:
            let type =
                look.isOpen
                ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                : "text/plain; version=0.0.4; charset=utf-8"
            do throws(CommandError) {
                let text = MetricsText.text(try metrics()) + (look.isOpen ? "# EOF\n" : "")
                return (200, type, Array(text.utf8))
            } catch { return (503, "text/plain; charset=utf-8", Array(error.text.utf8)) }
        case .document(let subject):
            do throws(CommandError) {
                var bytes = try document(subject).bytes
                bytes.append(0x0A)
                return (200, "application/json", bytes)
            } catch {
                return (Self.status(error), "application/json", error.document.bytes + [0x0A])
            }
        case .page(let subject):
            do throws(CommandError) {
                let (frame, zone) = try page(subject, look)
                let text = frame.text(
                    made: zone.text(RealTime().wallTime),
                    isSignedIn: look.isSignedIn
                )
                return (200, Self.html, Array(text.utf8))
            } catch {
                let sentence = LiveFrame.refusal("There is nothing to show", error.sentence)
                return (Self.status(error), Self.html, Array(sentence.utf8))
            }
        }
    }

    private func document(_ subject: LiveSubject) throws(CommandError) -> JSONValue {
        switch subject {
        case .rollouts, .vehicles: return try status(of: nil).json
        case .rollout(let name): return try status(of: name).json
        case .vehicle(let vehicle): return try story(of: vehicle).story.json
        case .morning(let since, let days):
            return try morning(since, days).page.json
        case .history(let rollout, let count):
            return try history(of: rollout, count).history.json
        case .comparison(let before, let after):
            return try journal.comparison(before, after, context).comparison.json
        case .trends: throw CommandError(.inputMissing, "trends are available as a page only")
        case .run: throw CommandError(.inputMissing, "a run is available as a page only")
        }
    }

    private func page(
        _ subject: LiveSubject,
        _ look: Look
    ) throws(CommandError) -> (LiveFrame, Zone) {
        func page(_ zone: Zone) -> LivePage { LivePage(mayAct: look.mayAct, time: zone.screen()) }
        switch subject {
        case .rollouts, .rollout:
            var name: String?
            if case .rollout(let asked) = subject { name = asked }
            let status = try status(of: name)
            let zone = zone(of: status)
            return (page(zone).rollout(status), zone)
        case .vehicles(let filter):
            let status = try status(of: filter.rollout)
            let zone = zone(of: status)
            return (page(zone).vehicles(status, filter), zone)
        case .vehicle(let vehicle):
            let (story, zone) = try story(of: vehicle)
            return (page(zone).vehicle(story), zone)
        case .morning(let since, let days):
            let (morning, zone) = try morning(since, days)
            return (page(zone).morning(morning), zone)
        case .comparison(let before, let after):
            // The events of two large runs need as much memory as a rollout's vehicles.
            state.withLock { $0.status = nil }
            let (comparison, list, zone) = try journal.comparison(before, after, context)
            return (page(zone).comparison(comparison, list), zone)
        case .trends(let rollout, let count):
            let (trends, zone) = try trends(rollout, count)
            return (page(zone).trends(trends, of: rollout, isPartOfFleet: looks != nil), zone)
        case .history(let rollout, let count):
            let (list, zone) = try history(of: rollout, count)
            return (page(zone).history(list, of: rollout), zone)
        case .run(let wish):
            // The events of a large run need as much memory as a rollout's vehicles.
            state.withLock { $0.status = nil }
            let (shown, story, zone) = try run(wish)
            return (page(zone).run(shown, story), zone)
        }
    }

    private func story(
        of vehicle: VehicleID
    ) throws(CommandError) -> (story: Show.VehicleStory, zone: Zone) {
        state.withLock { $0.status = nil }
        guard let looks else { return try journal.story(of: vehicle, context) }
        return try looks.ask { (standings) throws(CommandError) in
            try await standings.story(of: vehicle)
        }
    }

    private func morning(
        _ since: String?,
        _ days: Int
    ) throws(CommandError) -> (page: MorningPage, zone: Zone) {
        // It reads all rollouts; more than one at the same time would need too much memory.
        state.withLock { $0.status = nil }
        guard let looks else { return try journal.morning(since: since, days: days, context) }
        return try looks.ask(isLong: true) { (standings) throws(CommandError) in
            try await standings.morning(since: since, days: days)
        }
    }

    /// The link figures of the last runs, the newest first; runs that have ended are read once.
    private func trends(
        _ rollout: String?,
        _ count: Int
    ) throws(CommandError) -> ([RunTrend], Zone) {
        let (list, zone): (RunList, Zone)
        do throws(CommandError) {
            (list, zone) = try journal.history(of: rollout, count: count, context)
        } catch {
            // A machine that only looks at its fleet has no journal.
            guard looks != nil, error.kind == .inputMissing else { throw error }
            return ([], .utc)
        }
        var trends: [RunTrend] = []
        for row in list.rows {
            if let known = state.withLock({ $0.trends[row.run.number] }) {
                trends.append(known)
                continue
            }
            let trend = try journal.read { view throws(JournalError) in
                RunTrend(row, try view.radio(ofRun: row.run.number))
            }
            if row.run.end != nil { state.withLock { $0.trends[row.run.number] = trend } }
            trends.append(trend)
        }
        return (trends, zone)
    }

    private func zone(of status: RolloutStatus) -> Zone {
        ZoneSource.shown(status.plan, context)
    }

    /// The status of each rollout, and the content of the metrics file of its last run.
    private func metrics() throws(CommandError) -> [MetricsText.Family] {
        var families = try fleetMetrics()
        let briefs: [RolloutStatus.Brief]
        do throws(CommandError) { briefs = try status(of: nil).briefs } catch {
            // `yardmaster_fleet_up` shows that nothing answers.
            guard looks != nil else { throw error }
            return families
        }
        for brief in briefs {
            families += MetricsText.standing(brief)
            let ended: (run: Int?, success: WallTime?)
            do throws(CommandError) { ended = try journal.lastEnded(of: brief.run.rollout) } catch {
                // Nothing has run on this machine.
                guard looks != nil else { throw error }
                continue
            }
            let (last, success) = ended
            guard let last else { continue }
            if let known = state.withLock({ $0.metrics[last] }) {
                families += known
                continue
            }
            // Its events together with the vehicles of a rollout would need too much memory.
            state.withLock { $0.status = nil }
            memory_give_back()
            let story = try journal.story(ofRun: last)
            let made = MetricsText.families(story) { _ in success.map(MetricsText.stamp) }
            state.withLock { $0.metrics[last] = made }
            families += made
        }
        return families
    }

    private func fleetMetrics() throws(CommandError) -> [MetricsText.Family] {
        guard let looks, let name = looks.address else { return [] }
        let gateways: [FleetGateway]?
        do throws(CommandError) {
            gateways = try looks.ask { (standings) throws(CommandError) in
                try await standings.gateways()
            }
        } catch { gateways = nil }
        return [GatewayMetrics.up(name, gateways != nil)]
            + (gateways.map { GatewayMetrics.families($0) } ?? [])
    }

    // MARK: Refusals

    static let html = "text/html; charset=utf-8"

    static func status(_ error: CommandError) -> Int {
        switch error.kind {
        case .inputMissing: 404
        case .usage: 400
        case .manifest, .unavailable, .cannotCreate, .cannotWrite, .busy, .trust, .configuration,
            .internal:
            503
        }
    }

    func refusal(_ status: Int, _ title: String, _ sentence: String) -> WebAnswer {
        .whole(
            status: status,
            headers: Self.headers(Self.html, cache: "no-cache"),
            body: Array(LiveFrame.refusal(title, sentence).utf8)
        )
    }

    func notAllowed(
        _ request: WebRequest,
        _ methods: String,
        _ title: String,
        _ sentence: String
    ) -> WebAnswer {
        let answer = refusal(request, 405, title, sentence)
        guard case .whole(let status, let headers, let body) = answer else { return answer }
        return .whole(
            status: status,
            headers: headers + [(name: "Allow", value: methods)],
            body: body
        )
    }

    /// The headers of every answer: pages show names that were received over the air, and these
    /// must not be active.
    static func headers(_ type: String, cache: String) -> [(name: String, value: String)] {
        [
            (name: "Content-Type", value: type),
            (
                name: "Content-Security-Policy",
                value:
                    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
                    + "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
            ),
            (name: "X-Content-Type-Options", value: "nosniff"),
            (name: "X-Frame-Options", value: "DENY"),
            // With "no-referrer", browsers would not state that a form comes from one of our pages.
            (name: "Referrer-Policy", value: "same-origin"),
            (name: "Cross-Origin-Resource-Policy", value: "same-origin"),
            (name: "Cross-Origin-Opener-Policy", value: "same-origin"),
            (name: "Cache-Control", value: cache),
            (name: "Vary", value: "Authorization, Cookie"),
        ]
    }
}

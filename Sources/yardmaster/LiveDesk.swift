import Commands
import Digests
import Domain
import Glibc
import Journal
import Operations
import Reports
import Synchronization
import Web
import Wire

/// Answers what `serve` is asked, from the journal alone.
///
/// An answer is kept until the journal has changed: many who look cost no more than one. While a run
/// writes, an answer stays for ten times as long as it took to make.
final class LiveDesk: Sendable {
    /// An answer as it was made.
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
        /// Somebody was given an answer that the journal has left behind.
        var isBehind = false
        /// Metrics of runs that have ended, which never change.
        var metrics: [Int: [MetricsText.Family]] = [:]
    }

    private static let mostKept = 64
    private static let mostBytes = 16 << 20
    /// What is said of a time in the future or the past is true for so long.
    private static let longest = Duration.seconds(60)

    private let journal: StandingJournal
    private let host: LiveHost
    private let context: Context
    private let state = Mutex(State())

    init(_ journal: StandingJournal, _ host: LiveHost, _ context: Context) {
        self.journal = journal
        self.host = host
        self.context = context
    }

    /// The number of the last change when there was one since it was asked last.
    func change() -> Int? {
        let mark = JournalMark(journal.state)
        return state.withLock { state in
            guard state.mark != mark || state.isBehind else { return nil }
            state.mark = mark
            state.isBehind = false
            state.change += 1
            return state.change
        }
    }

    // MARK: One request

    /// `checksHost` is false for sockets that no browser can reach.
    func answer(_ request: WebRequest, checksHost: Bool) -> WebAnswer {
        guard request.method == "GET" || request.method == "HEAD", !request.hasBody else {
            let refused = Self.refusal(405, "Only reading is possible here", "Use GET or HEAD.")
            guard case .whole(_, let headers, let body) = refused else { return refused }
            return .whole(
                status: 405,
                headers: headers + [(name: "Allow", value: "GET, HEAD")],
                body: body
            )
        }
        guard !checksHost || host.takes(request.host) else {
            return Self.refusal(
                421,
                "This is not served under that name",
                "Ask for localhost, or have 'yardmaster serve --host NAME' know the name."
            )
        }
        let route: LiveRoute
        do throws(LiveRoute.Fault) {
            route = try LiveRoute(request.target)
        } catch {
            switch error {
            case .target:
                return Self.refusal(400, "That is no address", "It cannot be read.")
            case .unknown:
                return Self.refusal(404, "There is nothing here", "Nobody knows this address.")
            case .query(let name):
                return Self.refusal(
                    400,
                    "That is no question",
                    "What is asked with '\(name.visible)' cannot be answered."
                )
            }
        }
        let isOpen = request.accept.contains("application/openmetrics-text")
        if route == .changes {
            guard request.method == "GET" else {
                return .whole(
                    status: 200,
                    headers: Self.headers("text/event-stream"),
                    body: []
                )
            }
            return .events(
                headers: Self.headers("text/event-stream") + [
                    (name: "X-Accel-Buffering", value: "no")
                ]
            )
        }
        let kept = kept(route, isOpen, key: (isOpen ? "o" : "p") + request.target)
        let tagged = Self.headers(kept.type) + [(name: "ETag", value: kept.tag)]
        if kept.status == 200, let known = request.validator, Self.names(kept.tag, in: known) {
            return .whole(status: 304, headers: tagged, body: [])
        }
        return .whole(status: kept.status, headers: tagged, body: kept.body)
    }

    private static func names(_ tag: String, in list: String) -> Bool {
        list.split(separator: ",").contains { item in
            let item = item.drop { $0 == " " }
            return item == "*" || item == tag || item == "W/" + tag
        }
    }

    private func kept(_ route: LiveRoute, _ isOpen: Bool, key: String) -> Kept {
        let time = RealTime()
        let mark = JournalMark(journal.state)
        let found = state.withLock { $0.kept[key] }
        if let found {
            let age = found.made.duration(to: time.now)
            let isSame = found.mark == mark && age < Self.longest
            if isSame { return found }
            if age < max(.seconds(1), found.cost * 10) {
                // Whoever was given it is told once more.
                state.withLock { $0.isBehind = true }
                return found
            }
        }
        let began = time.now
        let (status, type, body) = make(route, isOpen)
        let made = time.now
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

    // MARK: Making

    private func make(_ route: LiveRoute, _ isOpen: Bool) -> (Int, String, [UInt8]) {
        switch route {
        case .changes: return (500, "text/plain", [])
        case .health: return (200, "text/plain; charset=utf-8", Array("ok\n".utf8))
        case .style: return (200, "text/css; charset=utf-8", Array(LiveFrame.style.utf8))
        case .script:
            return (200, "text/javascript; charset=utf-8", Array(LiveFrame.script.utf8))
        case .metrics:
            let type =
                isOpen
                ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                : "text/plain; version=0.0.4; charset=utf-8"
            do throws(CommandError) {
                let text = MetricsText.text(try metrics()) + (isOpen ? "# EOF\n" : "")
                return (200, type, Array(text.utf8))
            } catch { return (503, "text/plain; charset=utf-8", Array(error.text.utf8)) }
        case .document(let subject):
            do throws(CommandError) {
                return (200, "application/json", try document(subject).bytes + [0x0A])
            } catch {
                return (Self.status(error), "application/json", error.document.bytes + [0x0A])
            }
        case .page(let subject):
            do throws(CommandError) {
                let (frame, zone) = try page(subject)
                let text = frame.text(made: zone.text(RealTime().wallTime))
                return (200, Self.html, Array(text.utf8))
            } catch {
                let sentence = LiveFrame.refusal("There is nothing to show", error.sentence)
                return (Self.status(error), Self.html, Array(sentence.utf8))
            }
        }
    }

    private func document(_ subject: LiveSubject) throws(CommandError) -> JSONValue {
        switch subject {
        case .rollouts, .vehicles: return try journal.status(of: nil).json
        case .rollout(let name): return try journal.status(of: name).json
        case .vehicle(let vehicle): return try journal.story(of: vehicle, context).story.json
        case .morning(let since, let days):
            return try journal.morning(since: since, days: days, context).page.json
        case .history(let rollout, let count):
            return try journal.history(of: rollout, count: count, context).history.json
        }
    }

    private func page(_ subject: LiveSubject) throws(CommandError) -> (LiveFrame, Zone) {
        switch subject {
        case .rollouts: return try rollout(nil)
        case .rollout(let name): return try rollout(name)
        case .vehicles(let filter):
            let status = try journal.status(of: filter.rollout)
            let zone = zone(of: status)
            return (LiveVehiclesPage(status, filter, time: zone.text).frame, zone)
        case .vehicle(let vehicle):
            let (story, zone) = try journal.story(of: vehicle, context)
            return (LiveVehiclePage(story, time: zone.text).frame, zone)
        case .morning(let since, let days):
            let (page, zone) = try journal.morning(since: since, days: days, context)
            let body = MorningHTML(page, time: zone.text).body
            return (LiveFrame(.morning, "What to do", body), zone)
        case .history(let rollout, let count):
            let (list, zone) = try journal.history(of: rollout, count: count, context)
            return (LiveHistoryPage(list, of: rollout, time: zone.text).frame, zone)
        }
    }

    private func rollout(_ name: String?) throws(CommandError) -> (LiveFrame, Zone) {
        let status = try journal.status(of: name)
        let zone = zone(of: status)
        return (LiveRolloutPage(status, time: zone.text).frame, zone)
    }

    private func zone(of status: RolloutStatus) -> Zone {
        status.plan.flatMap { try? ZoneSource.zone(of: $0, context) } ?? .utc
    }

    /// Of each rollout how it stands, and what the metrics file of its last run would have.
    private func metrics() throws(CommandError) -> [MetricsText.Family] {
        let status = try journal.status(of: nil)
        var families: [MetricsText.Family] = []
        for brief in status.briefs {
            families.append(MetricsText.standing(brief.run.rollout, brief.counts))
            let (last, success) = try journal.lastEnded(of: brief.run.rollout)
            guard let last else { continue }
            if let known = state.withLock({ $0.metrics[last] }) {
                families += known
                continue
            }
            let story = try journal.story(ofRun: last)
            let made = MetricsText.families(story) { _ in success.map(MetricsText.stamp) }
            state.withLock { $0.metrics[last] = made }
            families += made
        }
        return families
    }

    // MARK: Refusing

    private static let html = "text/html; charset=utf-8"

    private static func status(_ error: CommandError) -> Int {
        switch error.kind {
        case .inputMissing: 404
        case .usage: 400
        default: 503
        }
    }

    private static func refusal(_ status: Int, _ title: String, _ sentence: String) -> WebAnswer {
        .whole(
            status: status,
            headers: headers(html),
            body: Array(LiveFrame.refusal(title, sentence).utf8)
        )
    }

    /// What every answer has: names that come over the air are shown here, and nothing of them may act.
    private static func headers(_ type: String) -> [(name: String, value: String)] {
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
            (name: "Referrer-Policy", value: "no-referrer"),
            (name: "Cross-Origin-Resource-Policy", value: "same-origin"),
            (name: "Cross-Origin-Opener-Policy", value: "same-origin"),
            (name: "Cache-Control", value: "no-cache"),
        ]
    }
}

package import Base

/// How many links an adapter works with: one at first, more while they bring more bytes, fewer when
/// they break.
///
/// More links are a trial. It succeeds when the links that were there before are not so much slower
/// that nothing was won, and fails when that is so or two links were lost. Up to the first failure
/// the number doubles, and trials are short; from then on one link at a time is tried, after a rest.
/// Only links on which image bytes are confirmed are compared: one that searches, restarts or
/// settles says nothing about the adapter.
package struct LinkQuota: Sendable {
    private enum State {
        /// The number has proven itself; a trial may begin at this moment. Next: `trying`.
        case proven(rests: Moment)
        /// More links than `proven` are tried, since this moment, beside so many that sent before.
        /// Next: `proven`.
        case trying(since: Moment, senders: Int, lost: Int)
    }

    /// What is confirmed of one link's image.
    private struct Transfer {
        /// Where the current span began for it, and its last progress.
        var mark: (bytes: Int, at: Moment)
        var last: (bytes: Int, at: Moment)
        /// Bytes a second before the trial, or in the span before this one.
        var usual: Double?
    }

    /// How long the links are watched before a decision, before the first failure and after it.
    private static let firstSpan = Duration.seconds(2)
    private static let laterSpan = Duration.seconds(4)
    /// A trial in which nothing could be compared, or a single link was lost, succeeds.
    private static let longestTrial = Duration.seconds(20)
    /// No trial is shorter: an adapter with too many links drops the first one only after some seconds.
    ///
    /// Before the first failure a trial of this length succeeds when all its links had work and none
    /// was lost.
    private static let leastTrial = Duration.seconds(6)
    /// The pause after a failed trial; it doubles with each one in a row.
    package static let rest = Duration.seconds(60)
    private static let longestRest = Duration.seconds(600)
    /// Losses that end a trial, and those that lower a proven number, in this time.
    private static let lossesInTrial = 2
    private static let losses = 3
    private static let lossesTime = Duration.seconds(30)
    /// The least growth that pays for further links.
    private static let gain = 1.05
    /// Links that fall to this share of what they brought have too many beside them.
    private static let fall = 0.5

    /// The most that people, or the radio's limits, allow.
    package let most: Int
    /// The number of links to use now.
    package private(set) var links: Int
    /// The largest number that has proven itself.
    package private(set) var proven: Int
    private var state = State.proven(rests: Moment(nanoseconds: 0))
    private var nextRest = LinkQuota.rest
    private var doubles: Bool
    private var spanBegan: Moment?
    /// Since when all links have had work, and there was more.
    private var fullSince: Moment?
    private var transfers: [Int: Transfer] = [:]
    /// The links that broke lately, when the number had proven itself.
    private var broken: [(link: Int, at: Moment)] = []
    private var lastRefusal: Moment?

    /// Begins with what was learned before, or with one link.
    package init(most: Int, from learned: Int = 1) {
        self.most = max(1, most)
        links = min(max(1, learned), self.most)
        proven = links
        doubles = links == 1
    }

    // MARK: Events

    /// A link shows something, beside this many others.
    ///
    /// Returns true when the adapter may have too many.
    package mutating func take(
        _ sign: LinkSign,
        of link: Int,
        beside others: Int,
        at now: Moment
    ) -> Bool {
        switch sign {
        case .confirmed(let bytes):
            confirmed(bytes, by: link, at: now)
            return false
        case .lost: return lost(link, beside: others, at: now)
        case .refused:
            refused(beside: others, at: now)
            return true
        }
    }

    private mutating func confirmed(_ bytes: Int, by link: Int, at now: Moment) {
        guard var transfer = transfers[link], bytes >= transfer.last.bytes else {
            transfers[link] = Transfer(mark: (bytes, now), last: (bytes, now))
            return
        }
        transfer.last = (bytes, now)
        transfers[link] = transfer
    }

    /// A link is over, or waits.
    package mutating func ended(_ link: Int) { transfers[link] = nil }

    private mutating func lost(_ link: Int, beside others: Int, at now: Moment) -> Bool {
        transfers[link] = nil
        guard others > 0 else { return false }
        // It is one of those that are to end.
        guard others < links else { return true }
        if case .trying(let since, let senders, let lost) = state {
            state = .trying(since: since, senders: senders, lost: lost + 1)
            if lost + 1 >= Self.lossesInTrial { giveBack(to: proven, at: now) }
            return true
        }
        broken.removeAll { $0.at.duration(to: now) > Self.lossesTime }
        broken.append((link, now))
        // One module that always loses its link is itself the cause; the first loss can be the adapter's.
        guard Set(broken.map(\.link)).count > 1 else { return broken.count == 1 }
        if broken.count >= Self.losses { giveBack(to: links - 1, at: now) }
        return true
    }

    private mutating func refused(beside others: Int, at now: Moment) {
        guard others < links else { return }
        let isRepeated = lastRefusal.map { $0.duration(to: now) < Self.lossesTime } ?? false
        lastRefusal = now
        let number = min(others, links - 1)
        if case .trying = state {
            giveBack(to: max(proven, number), at: now)
        } else if isRepeated {
            // A single refusal may be due to a link that had not ended yet.
            giveBack(to: number, at: now)
        }
    }

    private mutating func giveBack(to number: Int, at now: Moment) {
        guard links > 1 else { return }
        links = max(1, number)
        proven = min(proven, links)
        doubles = false
        broken = []
        // Those that are too many end only where they may, and slow the others until then.
        for link in transfers.keys { transfers[link]?.usual = nil }
        if case .proven(let rests) = state, rests > now { return }
        state = .proven(rests: now.advanced(by: nextRest))
        nextRest = min(nextRest * 2, Self.longestRest)
    }

    // MARK: Decisions

    /// Decides at the end of each span; `isFull` is true when there is work for a further link.
    package mutating func look(at now: Moment, isFull: Bool) {
        fullSince = isFull ? fullSince ?? now : nil
        guard let began = spanBegan else { return spanBegan = now }
        guard began.duration(to: now) >= span else { return }
        spanBegan = now
        let rates = takeRates(at: now)
        let sent = pairs(rates)
        switch state {
        case .trying(let since, let senders, let lost):
            let (before, after) = sent
            // What the links would bring now, for each byte that they brought before.
            let growth = Double(rates.count) / Double(max(1, senders)) * after / max(1, before)
            let compares = before > 0 && rates.count > senders
            if compares, growth < Self.gain { return giveBack(to: proven, at: now) }
            let shows = compares && rates.count > proven
            guard hasLasted(since, lost: lost, shows: shows, at: now) else { return }
            proven = links
            nextRest = Self.rest
            state = .proven(rests: now)
        case .proven:
            let isLess = sent.before > 0 && sent.after < sent.before * Self.fall
            if isLess, rates.count > 1, links > 1 { return giveBack(to: links - 1, at: now) }
            if !rates.isEmpty { proven = links }
        }
        remember(rates)
        guard case .proven(let rests) = state, isFull, rests <= now, links < most,
            !rates.isEmpty
        else { return }
        fullSince = nil
        links = min(most, doubles ? links * 2 : links + 1)
        state = .trying(since: now, senders: rates.count, lost: 0)
    }

    private var span: Duration { doubles ? Self.firstSpan : Self.laterSpan }

    /// Whether a trial is long enough; `shows` is true when more links send than had proven
    /// themselves.
    private func hasLasted(_ since: Moment, lost: Int, shows: Bool, at now: Moment) -> Bool {
        let lasted = since.duration(to: now)
        if lasted >= Self.longestTrial { return true }
        // The first link that is dropped is seldom the last.
        guard lost == 0 else { return false }
        if shows { return lasted >= Self.leastTrial }
        guard doubles, let fullSince else { return false }
        return max(since, fullSince).duration(to: now) >= Self.leastTrial
    }

    /// Bytes a second of the links that sent over the whole span, which ends now.
    private mutating func takeRates(at now: Moment) -> [Int: Double] {
        var rates: [Int: Double] = [:]
        for (link, transfer) in transfers {
            let took = transfer.mark.at.duration(to: transfer.last.at)
            if took >= span / 2 {
                let bytes = transfer.last.bytes - transfer.mark.bytes
                rates[link] = Double(bytes) / (took / .seconds(1))
            }
            if transfer.last.at.duration(to: now) >= span {
                transfers[link] = nil
            } else {
                transfers[link]?.mark = transfer.last
            }
        }
        return rates
    }

    /// The sums of the usual rates and of the present ones, of links that have both.
    private func pairs(_ rates: [Int: Double]) -> (before: Double, after: Double) {
        var (before, after) = (0.0, 0.0)
        for (link, rate) in rates {
            guard let usual = transfers[link]?.usual else { continue }
            before += usual
            after += rate
        }
        return (before, after)
    }

    private mutating func remember(_ rates: [Int: Double]) {
        for (link, rate) in rates { transfers[link]?.usual = rate }
    }
}

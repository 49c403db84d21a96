package import Base

/// Decides which vehicle gets which adapter next, from facts alone, without clock and radio.
///
/// A vehicle is identified by its index in the rollout's list. Vehicles under way come before new
/// ones, so that begun work is finished, except where `isShort` says so; among new ones, first those that were left in the middle
/// of an update, then those that other machines leave to this one, and last those that another
/// machine hears better; then those with the strongest signal, then those with the fewest attempts,
/// then by place in the list.
///
/// A turn is one of an adapter's links, except where a restarting module is searched for beside the
/// links: then the vehicle asks for a link when it has found its module.
package struct Dispatch: Sendable {
    /// The state of a vehicle.
    package enum Phase: Equatable, Sendable {
        /// Not yet let in by its wave. Next: `queued`, `ended`.
        case closed
        /// Waits to be begun. Next: `holding`, `ended`.
        case queued
        /// Has a turn on an adapter. Next: `resting`, `ended`.
        case holding(adapter: Int, since: Moment)
        /// Under way without an adapter: its module restarts, or a pause passes. Next: `asking`.
        case resting
        /// Under way and in line. Next: `holding`, `ended`.
        case asking(AirtimeNeed)
        case ended
    }

    /// When a vehicle is begun, according to earlier runs.
    package enum Precedence: Int, Comparable, Sendable {
        case now
        /// It has failed before: it must not delay the others.
        case afterTheOthers
        /// It is done: checked once more when nothing else is left.
        case atTheEnd

        package static func < (left: Precedence, right: Precedence) -> Bool {
            left.rawValue < right.rawValue
        }
    }

    /// How other machines affect the place of a vehicle in the queue.
    package enum Turn: Int, Comparable, Sendable {
        /// Other machines leave it to this one.
        case first
        case usual
        /// Another machine hears it better.
        case last

        package static func < (left: Turn, right: Turn) -> Bool { left.rawValue < right.rawValue }
    }

    package struct Vehicle: Sendable {
        package var phase = Phase.closed
        /// Whether an earlier run left it in the middle of an update: begun even when it was not
        /// heard.
        package var isOpen = false
        package var precedence = Precedence.now
        /// How many attempts an earlier run made.
        package var attempts = 0
        /// Whether its advertisements identify it; if not, it is begun unheard.
        package var isAudible = true
        /// How strongly each adapter hears it, in dBm.
        package var signals: [Int: Int] = [:]
        package var turn = Turn.usual
        /// How much time of adapters it has used.
        package var airtime = Duration.zero
        /// How much of that it has searched for its module beside the links.
        package var searched = Duration.zero
        package var lastAdapter: Int?
        /// Whether its turn is one without a link: it searches for its module, or waits for a link.
        package var isSearching = false

        package init() {}

        package var isHeard: Bool { !signals.isEmpty }

        package var isUnderWay: Bool {
            switch phase {
            case .holding, .resting, .asking: true
            case .closed, .queued, .ended: false
            }
        }
    }

    package struct Adapter: Sendable {
        package let name: String
        package var isUsable = true
        /// How many links it may have, and the number that was last reported as proven.
        package fileprivate(set) var quota: LinkQuota
        fileprivate var told: Int
        package var holders = 0
        /// How many of the holders have no link.
        package var searchers = 0
        package var isListening = false
        /// Whether it has scanned since it became available.
        package var hasListened = false
        /// How long it has listened for vehicles that were not heard yet.
        package var listened = Duration.zero
        /// The time in which executions had turns on it.
        package var busy = Duration.zero
        package var busySince: Moment?
        /// The periods of such turns; a short pause does not separate two of them.
        package var spans: [(from: Moment, to: Moment)] = []

        package init(name: String, quota: LinkQuota) {
            self.name = name
            self.quota = quota
            told = quota.proven
        }

        fileprivate var links: Int { holders - searchers }
        fileprivate var hasFreeLink: Bool { links < quota.links }
        /// Whether a further vehicle may search beside the links.
        ///
        /// An adapter with a single link does one thing at a time.
        fileprivate var hasFreeEar: Bool { searchers < quota.links - 1 }

        private static let shortPause = Duration.seconds(1)

        fileprivate mutating func note(busyFrom from: Moment, to end: Moment) {
            if let last = spans.last, last.to.duration(to: from) < Self.shortPause {
                spans[spans.count - 1].to = end
            } else {
                spans.append((from, end))
            }
        }
    }

    package enum Grant: Equatable, Sendable {
        /// Begin this vehicle on this adapter.
        case begin(vehicle: Int, adapter: Int)
        /// Continue this vehicle on this adapter.
        case goOn(vehicle: Int, adapter: Int)
        /// Let this vehicle, which has a turn on this adapter, make a link.
        case link(vehicle: Int, adapter: Int)
    }

    package private(set) var vehicles: [Vehicle]
    package private(set) var adapters: [Adapter]
    /// The most links of an adapter.
    private let linksPerAdapter: Int
    /// How many paid in earlier runs, by the adapter's name.
    private let learned: [String: Int]
    /// If false, a vehicle keeps its adapter through all waits: for comparison in the benchmark.
    private let overlaps: Bool
    /// The most vehicles under way for each link: more would wait with their work half done.
    private static let underWayPerLink = 8
    /// With fewer for each link, whole updates would be left for the end of a wave.
    private static let leastUnderWayPerLink = 4

    private var ready: [Heap<Candidate>]
    /// Vehicles that are begun unheard, on any adapter.
    private var readyAnywhere = Heap<Candidate>()
    private var line: [Asking] = []
    /// Vehicles that have found their module, and wait for a link of the adapter of their turn.
    private var found: [Int] = []
    private var nextTicket = 0
    package var underWay: Int { active.count }
    /// Vehicles under way.
    package private(set) var active: Set<Int> = []
    private var spent = Duration.zero
    /// More than any depot has: means no limit.
    package static let mostEver = 1_000
    package private(set) var queued = 0
    /// Vehicles among the queued ones that another machine hears better.
    private var lastOnes = 0
    private var endedCount = 0
    /// Vehicles that were not begun yet, whether they were let in or not.
    package var toCome: Int { vehicles.count - endedCount - underWay }
    /// Vehicles that were let in and not heard yet.
    package private(set) var unheard = 0

    package init(
        _ vehicles: [Vehicle],
        adapters: [String],
        linksPerAdapter: Int,
        learned: [String: Int] = [:],
        overlaps: Bool = true
    ) {
        self.vehicles = vehicles
        self.adapters = []
        self.linksPerAdapter = linksPerAdapter
        self.learned = learned
        self.overlaps = overlaps
        ready = []
        for name in adapters { _ = plugged(name) }
    }

    /// A vehicle that waits to be begun; the least one is first.
    private struct Candidate: Comparable, Sendable {
        let vehicle: Int
        let isOpen: Bool
        let turn: Turn
        let precedence: Precedence
        let signal: Int
        let attempts: Int

        init(_ vehicle: Int, _ facts: Vehicle, signal: Int) {
            self.vehicle = vehicle
            self.signal = signal
            isOpen = facts.isOpen
            turn = facts.turn
            precedence = facts.precedence
            attempts = facts.attempts
        }

        static func < (left: Candidate, right: Candidate) -> Bool {
            if left.isOpen != right.isOpen { return left.isOpen }
            if left.turn != right.turn { return left.turn < right.turn }
            if left.precedence != right.precedence { return left.precedence < right.precedence }
            if left.signal != right.signal { return left.signal > right.signal }
            if left.attempts != right.attempts { return left.attempts < right.attempts }
            return left.vehicle < right.vehicle
        }
    }

    /// A vehicle under way that wants an adapter.
    private struct Asking: Comparable, Sendable {
        let vehicle: Int
        let need: AirtimeNeed
        let ticket: Int

        static func < (left: Asking, right: Asking) -> Bool {
            (left.need, left.ticket) < (right.need, right.ticket)
        }
    }
}

// MARK: Vehicles

extension Dispatch {
    /// The wave of a vehicle has begun.
    package mutating func letIn(_ vehicle: Int) {
        guard vehicles[vehicle].phase == .closed else { return }
        vehicles[vehicle].phase = .queued
        queued += 1
        if vehicles[vehicle].turn == .last { lastOnes += 1 }
        line(up: vehicle)
    }

    /// The vehicle leaves its wave before it was begun, and is let in again with another one.
    package mutating func shut(_ vehicle: Int) {
        guard vehicles[vehicle].phase == .queued else { return }
        unqueue(vehicle)
        if !vehicles[vehicle].isHeard, !needsNoCall(vehicles[vehicle]) { unheard -= 1 }
        vehicles[vehicle].phase = .closed
    }

    private mutating func line(up vehicle: Int) {
        let facts = vehicles[vehicle]
        func candidate(_ signal: Int) -> Candidate { Candidate(vehicle, facts, signal: signal) }
        if facts.isOpen || !facts.isAudible {
            readyAnywhere.insert(candidate(facts.signals.values.max() ?? .min))
        } else if facts.isHeard {
            for (adapter, signal) in facts.signals.sorted(by: { $0.key < $1.key }) {
                ready[adapter].insert(candidate(signal))
            }
        } else {
            unheard += 1
        }
    }

    private mutating func unqueue(_ vehicle: Int) {
        queued -= 1
        if vehicles[vehicle].turn == .last { lastOnes -= 1 }
    }

    /// Another machine hears the vehicle better; it is not in the queue at the moment.
    package mutating func isNearer(elsewhere vehicle: Int) {
        guard vehicles[vehicle].phase != .queued else { return }
        vehicles[vehicle].turn = .last
    }

    /// Other machines leave the vehicle to this one.
    package mutating func isFavoured(_ vehicle: Int) {
        guard vehicles[vehicle].phase == .queued, vehicles[vehicle].isHeard,
            vehicles[vehicle].turn != .first
        else { return }
        if vehicles[vehicle].turn == .last { lastOnes -= 1 }
        vehicles[vehicle].turn = .first
        // Its older places in the heaps are dropped once it is begun.
        line(up: vehicle)
    }

    /// Whether there are vehicles to begin that no other machine is known to hear better.
    package var hasOthers: Bool { queued - unheard - lastOnes > 0 }

    /// The signal that other machines are compared with; nil for a vehicle that is begun here in
    /// any case.
    package func nearness(of vehicle: Int) -> Nearness? {
        guard !vehicles[vehicle].isOpen, let signal = vehicles[vehicle].signals.values.max() else {
            return nil
        }
        return Nearness(signal: signal, hasOthers: hasOthers)
    }

    /// Whether the vehicle may be begun without having been heard.
    private func needsNoCall(_ vehicle: Vehicle) -> Bool { vehicle.isOpen || !vehicle.isAudible }

    /// An adapter has heard the vehicle's module.
    package mutating func heard(_ vehicle: Int, on adapter: Int, signal: Int) {
        let wasHeard = vehicles[vehicle].isHeard
        guard vehicles[vehicle].signals.updateValue(signal, forKey: adapter) == nil,
            vehicles[vehicle].phase == .queued, !needsNoCall(vehicles[vehicle])
        else { return }
        if !wasHeard { unheard -= 1 }
        let facts = vehicles[vehicle]
        ready[adapter].insert(Candidate(vehicle, facts, signal: signal))
    }

    /// The vehicle waits without an adapter.
    package mutating func gaveBack(_ vehicle: Int, at now: Moment) {
        guard overlaps, case .holding(let adapter, let since) = vehicles[vehicle].phase else {
            return
        }
        vehicles[vehicle].phase = .resting
        release(adapter, since, by: vehicle, at: now)
    }

    /// The vehicle wants to continue; true when it has an adapter already.
    package mutating func asks(_ vehicle: Int, _ need: AirtimeNeed) -> Bool {
        switch vehicles[vehicle].phase {
        case .holding: return true
        case .resting:
            vehicles[vehicle].phase = .asking(need)
            let asking = Asking(vehicle: vehicle, need: need, ticket: nextTicket)
            nextTicket += 1
            line.insert(asking, at: line.firstIndex { asking < $0 } ?? line.count)
            return false
        case .closed, .queued, .asking, .ended:
            return false
        }
    }

    /// The vehicle wants to make a link; true when its turn has one.
    package mutating func asksForLink(_ vehicle: Int) -> Bool {
        guard vehicles[vehicle].isSearching else { return true }
        found.append(vehicle)
        return false
    }

    /// The vehicle leaves the line because it is to stop.
    ///
    /// If it has found its module, its turn counts as a link, which may be one too many for a moment.
    package mutating func leavesLine(_ vehicle: Int) {
        if case .holding(let adapter, _) = vehicles[vehicle].phase { link(vehicle, on: adapter) }
        guard case .asking = vehicles[vehicle].phase else { return }
        line.removeAll { $0.vehicle == vehicle }
        vehicles[vehicle].phase = .resting
    }

    /// The vehicle no longer needs an adapter.
    package mutating func ended(_ vehicle: Int, at now: Moment) {
        switch vehicles[vehicle].phase {
        case .holding(let adapter, let since):
            release(adapter, since, by: vehicle, at: now)
        case .asking:
            line.removeAll { $0.vehicle == vehicle }
        case .resting: break
        case .queued:
            unqueue(vehicle)
            if !vehicles[vehicle].isHeard, !needsNoCall(vehicles[vehicle]) { unheard -= 1 }
        case .closed, .ended: break
        }
        active.remove(vehicle)
        if vehicles[vehicle].phase != .ended { endedCount += 1 }
        vehicles[vehicle].phase = .ended
    }

    /// A vehicle that has ended is to be begun again, once it is let in.
    package mutating func again(
        _ vehicle: Int,
        attempts: Int,
        isOpen: Bool,
        hasWaited: Bool = false
    ) {
        guard vehicles[vehicle].phase == .ended else { return }
        vehicles[vehicle].attempts = attempts
        vehicles[vehicle].isOpen = isOpen
        if !hasWaited {
            vehicles[vehicle].precedence = .now
            vehicles[vehicle].turn = .usual
            // It may have moved since it was heard.
            vehicles[vehicle].signals = [:]
        }
        vehicles[vehicle].phase = .closed
        endedCount -= 1
    }

    private mutating func release(_ adapter: Int, _ since: Moment, by vehicle: Int, at now: Moment)
    {
        vehicles[vehicle].airtime += since.duration(to: now)
        spent += since.duration(to: now)
        if vehicles[vehicle].isSearching { vehicles[vehicle].searched += since.duration(to: now) }
        found.removeAll { $0 == vehicle }
        search(false, vehicle, on: adapter)
        adapters[adapter].holders -= 1
        adapters[adapter].quota.ended(vehicle)
        if adapters[adapter].holders == 0, let from = adapters[adapter].busySince {
            adapters[adapter].busy += from.duration(to: now)
            adapters[adapter].busySince = nil
            adapters[adapter].note(busyFrom: from, to: now)
        }
    }

    private mutating func search(_ isSearching: Bool, _ vehicle: Int, on adapter: Int) {
        guard vehicles[vehicle].isSearching != isSearching else { return }
        vehicles[vehicle].isSearching = isSearching
        adapters[adapter].searchers += isSearching ? 1 : -1
    }

    private mutating func hold(_ adapter: Int, by vehicle: Int, at now: Moment) {
        vehicles[vehicle].phase = .holding(adapter: adapter, since: now)
        vehicles[vehicle].lastAdapter = adapter
        adapters[adapter].holders += 1
        if adapters[adapter].holders == 1 { adapters[adapter].busySince = now }
    }

    /// How much time of adapters all vehicles have used up to now.
    package func totalAirtime(at now: Moment) -> Duration {
        active.reduce(spent) { sum, vehicle in
            guard case .holding(_, let since) = vehicles[vehicle].phase else { return sum }
            return sum + since.duration(to: now)
        }
    }

    /// How much time of adapters the vehicle has used up to now.
    package func airtime(of vehicle: Int, at now: Moment) -> Duration {
        guard case .holding(_, let since) = vehicles[vehicle].phase else {
            return vehicles[vehicle].airtime
        }
        return vehicles[vehicle].airtime + since.duration(to: now)
    }

    /// How much of that time others could not use: a search beside the links costs none of them.
    package func linkTime(of vehicle: Int, at now: Moment) -> Duration {
        airtime(of: vehicle, at: now) - vehicles[vehicle].searched
    }
}

// MARK: Adapters

extension Dispatch {
    package mutating func lost(_ adapter: Int) { adapters[adapter].isUsable = false }

    package mutating func found(_ adapter: Int) { adapters[adapter].isUsable = true }

    /// An adapter was plugged in; it has heard no vehicle yet.
    package mutating func plugged(_ name: String) -> Int {
        let quota = LinkQuota(most: linksPerAdapter, from: learned[name] ?? 1)
        adapters.append(Adapter(name: name, quota: quota))
        ready.append(Heap<Candidate>())
        return adapters.count - 1
    }

    package mutating func listens(_ adapter: Int) { adapters[adapter].isListening = true }

    package mutating func listened(_ adapter: Int, for duration: Duration) {
        adapters[adapter].isListening = false
        adapters[adapter].listened += duration
        if duration >= .seconds(1) { adapters[adapter].hasListened = true }
    }

    /// Vehicles are to be heard that were not listened for until now.
    mutating func listensFromNowOn() {
        for adapter in adapters.indices { adapters[adapter].listened = .zero }
    }

    /// Adapters that may begin to listen: none has a holder, and there is something to hear, or the
    /// adapter has not scanned yet.
    package func idleEars() -> [Int] {
        guard queued > 0 else { return [] }
        return adapters.indices.filter {
            adapters[$0].isUsable && adapters[$0].holders == 0 && !adapters[$0].isListening
                && (!adapters[$0].hasListened || hasToHear($0))
        }
    }

    /// Whether a vehicle was not heard yet, or this adapter has heard none of those that wait.
    ///
    /// In the second case other adapters have heard all of them, but may be busy for a long time.
    package func hasToHear(_ adapter: Int) -> Bool {
        unheard > 0 || queued > 0 && !isReady(readyAnywhere) && !isReady(ready[adapter])
    }

    /// Whether there is work for an adapter that listens.
    package func hasWork(_ adapter: Int, mayBegin: Bool) -> Bool {
        if line.contains(where: { canUse($0.vehicle, adapter) }) { return true }
        return mayBegin && (isReady(readyAnywhere) || isReady(ready[adapter]))
    }

    private func isReady(_ heap: Heap<Candidate>) -> Bool {
        heap.first.map { vehicles[$0.vehicle].phase == .queued } ?? false
    }

    /// Vehicles that were never heard although every adapter has listened this long.
    package func missing(after limit: Duration) -> [Int] {
        let usable = adapters.filter(\.isUsable)
        guard unheard > 0, !usable.isEmpty, usable.allSatisfy({ $0.listened >= limit }) else {
            return []
        }
        return vehicles.indices.filter {
            let vehicle = vehicles[$0]
            return vehicle.phase == .queued && !vehicle.isHeard && !needsNoCall(vehicle)
        }
    }

    /// Vehicles that wait to be begun.
    package var waiting: [Int] { vehicles.indices.filter { vehicles[$0].phase == .queued } }

    /// The adapter of a vehicle's turn, or of its last one.
    package func adapter(of vehicle: Int) -> Int? { vehicles[vehicle].lastAdapter }
}

// MARK: Links

extension Dispatch {
    /// The link of the vehicle's turn shows something; true when its adapter may have too many.
    package mutating func shows(_ vehicle: Int, _ sign: LinkSign, at now: Moment) -> Bool {
        guard case .holding(let adapter, _) = vehicles[vehicle].phase else { return false }
        let others = adapters[adapter].links - 1
        return adapters[adapter].quota.take(sign, of: vehicle, beside: others, at: now)
    }

    /// Whether the vehicle has a turn, on an adapter with too many links.
    package func isExcess(_ vehicle: Int) -> Bool {
        guard case .holding(let adapter, _) = vehicles[vehicle].phase,
            !vehicles[vehicle].isSearching
        else { return false }
        return adapters[adapter].links > adapters[adapter].quota.links
    }

    /// Lets each adapter decide on its links; returns those of which something new is proven.
    package mutating func look(at now: Moment, mayBegin: Bool) -> [Int] {
        adapters.indices.filter { index in
            let isFull = !adapters[index].hasFreeLink && hasWork(index, mayBegin: mayBegin)
            adapters[index].quota.look(at: now, isFull: isFull)
            let proven = adapters[index].quota.proven
            defer { adapters[index].told = proven }
            return proven != adapters[index].told
        }
    }
}

// MARK: Grants

extension Dispatch {
    /// The most vehicles under way: with more, modules would wait in the middle of an update.
    package var mostUnderWay: Int { usableLinks * Self.underWayPerLink }

    private var usableLinks: Int {
        adapters.reduce(0) { $1.isUsable ? $0 + $1.quota.links : $0 }
    }

    /// Whether so few vehicles are under way that a new one comes before a module that only has to be
    /// watched until it settles.
    ///
    /// Only such modules are left at the end of a wave then, which takes less time than whole updates.
    /// An adapter with a single link finishes what it has begun.
    private func isShort(of adapter: Int) -> Bool {
        adapters[adapter].quota.links > 1
            && underWay < usableLinks * Self.leastUnderWayPerLink
    }

    /// Grants free links; at most `mostUnderWay` vehicles may be under way afterwards.
    package mutating func grants(at now: Moment, mostUnderWay: Int) -> [Grant] {
        tidy()
        var grants = linksOfLostAdapters()
        let most = min(mostUnderWay, self.mostUnderWay)
        while true {
            let free = adapters.indices.filter {
                adapters[$0].isUsable && !adapters[$0].isListening
                    && (adapters[$0].hasFreeLink || adapters[$0].hasFreeEar)
            }
            let order = free.sorted {
                (adapters[$0].holders, $0) < (adapters[$1].holders, $1)
            }
            var grant: Grant?
            for adapter in order where grant == nil { grant = next(on: adapter, most) }
            guard let grant else { return grants }
            perform(grant, at: now)
            grants.append(grant)
        }
    }

    /// Grants links of adapters that do not work: the vehicles learn it when they connect.
    private mutating func linksOfLostAdapters() -> [Grant] {
        let lost = found.compactMap { vehicle -> (vehicle: Int, adapter: Int)? in
            guard let adapter = vehicles[vehicle].lastAdapter, !adapters[adapter].isUsable else {
                return nil
            }
            return (vehicle, adapter)
        }
        for (vehicle, adapter) in lost { link(vehicle, on: adapter) }
        return lost.map { .link(vehicle: $0.vehicle, adapter: $0.adapter) }
    }

    private mutating func link(_ vehicle: Int, on adapter: Int) {
        found.removeAll { $0 == vehicle }
        search(false, vehicle, on: adapter)
    }

    /// Whether a turn for this need begins without a link.
    private func searches(_ need: AirtimeNeed, on adapter: Int) -> Bool {
        switch need {
        // The module restarts, and nobody knows for how long.
        case .settling: adapters[adapter].hasFreeEar
        // A bootloader does not wait forever: a link is kept for it.
        case .bootloader, .next, .search: false
        }
    }

    private func next(on adapter: Int, _ most: Int) -> Grant? {
        let hasFreeLink = adapters[adapter].hasFreeLink
        let fit = line.filter {
            (hasFreeLink || searches($0.need, on: adapter)) && canUse($0.vehicle, adapter)
        }
        let waiting = hasFreeLink ? found.first { vehicles[$0].lastAdapter == adapter } : nil
        let new = hasFreeLink && underWay < most ? candidate(for: adapter) : nil
        if let new, isShort(of: adapter), onlyWantToSettle(fit, on: adapter) {
            return .begin(vehicle: new.vehicle, adapter: adapter)
        }
        if let waiting, fit.first?.need != .bootloader {
            return .link(vehicle: waiting, adapter: adapter)
        }
        if let first = fit.first {
            // Among equal ones, prefer a vehicle that was on this adapter before: its host
            // remembers the module.
            let same = fit.first {
                $0.need == first.need && vehicles[$0.vehicle].lastAdapter == adapter
            }
            return .goOn(vehicle: (same ?? first).vehicle, adapter: adapter)
        }
        return new.map { .begin(vehicle: $0.vehicle, adapter: adapter) }
    }

    private func candidate(for adapter: Int) -> Candidate? {
        [readyAnywhere.first, ready[adapter].first].compactMap { $0 }.min()
    }

    /// Whether all those in the line want to settle, and need a link for that.
    ///
    /// New ones do not come before another attempt: it would wait for as long as there are any.
    private func onlyWantToSettle(_ line: [Asking], on adapter: Int) -> Bool {
        line.allSatisfy { $0.need == .settling && !searches($0.need, on: adapter) }
    }

    /// A vehicle continues on an adapter that has heard it, or on any adapter when none has.
    private func canUse(_ vehicle: Int, _ adapter: Int) -> Bool {
        let facts = vehicles[vehicle]
        if facts.signals[adapter] != nil || facts.lastAdapter == adapter { return true }
        let known = facts.signals.keys.contains { adapters[$0].isUsable }
        let last = facts.lastAdapter.map { adapters[$0].isUsable } ?? false
        return !known && !last
    }

    private mutating func perform(_ grant: Grant, at now: Moment) {
        switch grant {
        case .goOn(let vehicle, let adapter):
            if case .asking(let need) = vehicles[vehicle].phase {
                search(searches(need, on: adapter), vehicle, on: adapter)
            }
            line.removeAll { $0.vehicle == vehicle }
            hold(adapter, by: vehicle, at: now)
        case .link(let vehicle, let adapter):
            if case .holding(_, let since) = vehicles[vehicle].phase {
                vehicles[vehicle].searched += since.duration(to: now)
            }
            link(vehicle, on: adapter)
        case .begin(let vehicle, let adapter):
            unqueue(vehicle)
            vehicles[vehicle].turn = .usual
            active.insert(vehicle)
            hold(adapter, by: vehicle, at: now)
        }
        tidy()
    }

    /// Removes candidates that were begun or have ended elsewhere from the heads of the heaps.
    private mutating func tidy() {
        for index in ready.indices {
            while let first = ready[index].first, vehicles[first.vehicle].phase != .queued {
                _ = ready[index].takeFirst()
            }
        }
        while let first = readyAnywhere.first, vehicles[first.vehicle].phase != .queued {
            _ = readyAnywhere.takeFirst()
        }
    }
}

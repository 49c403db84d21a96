package import Base
package import Manifest
package import Store

/// All decisions of a run: waves, gates, turns, budgets and the window.
///
/// It is a value: its methods take events, and `step` returns the actions that are due.
package struct Scheduler: Sendable {
    package enum Action: Equatable, Sendable {
        case begin(vehicle: Int, adapter: Int)
        case goOn(vehicle: Int, adapter: Int)
        /// Listen on an idle adapter for vehicles that were not heard yet.
        case listen(adapter: Int)
        /// The vehicle was not heard, and the listening time is over.
        case giveUp(vehicle: Int)
        /// No adapter works, and the waiting time is over.
        case putOff(vehicle: Int)
        /// The vehicle has used up its airtime.
        case timeOut(vehicle: Int)
        case waveBegan(Int, vehicles: Int)
        case waveEnded(Int)
        case replaced(Int, by: Int, wave: Int)
        case check(wave: Int)
        /// Outside the window: nothing is begun before this time.
        case waiting(until: WallTime)
        case windowOpened(until: WallTime)
        /// Nothing new is begun from now on.
        case drain(RunEnding)
        /// Vehicles under way are to stop at their next safe point.
        case stopAll
        /// Vehicles under way are to be cut off.
        case cutAll
        /// The window's times of this index have opened, or they have closed while others are open:
        /// then their vehicles under way are to stop at their next safe point.
        case own(times: Int, isOpen: Bool)
        /// This many links of the adapter have proven themselves.
        case learned(adapter: Int, links: Int)
    }

    /// Limits that do not change during a run.
    package struct Limits: Sendable {
        /// How long all adapters listen before an unheard vehicle is unreachable.
        package var patience = Duration.seconds(120)
        /// How long they listen before another one takes its place in a wave.
        package var canaryPatience = Duration.seconds(30)
        package var airtime = AirtimeBudget()
        package var window: RunWindow?

        package init() {}
    }

    private enum Mode: Equatable {
        /// Before the window's first opening; `told` when the wait was reported.
        case waiting(told: Bool)
        case working
        case draining(RunEnding)
    }

    package private(set) var dispatch: Dispatch
    package private(set) var board: WaveBoard
    private let limits: Limits
    private var mode: Mode
    private var hasBegun = false
    private var timedOut: Set<Int> = []
    /// Vehicles that were given up, each once: one that another machine may hear stays in its
    /// place.
    private var gaveUp: Set<Int> = []
    private var windowEnd: WallTime?
    private var windowOpens: WallTime?
    private var clocks: [WindowClock]
    /// Vehicles that were let in while their own times are closed.
    private var held: Set<Int> = []
    /// When the times of one of them open.
    private var heldUntil: WallTime?
    /// The latest time at which vehicles that were not heard are given up.
    private var searchEnd: WallTime?

    package init(_ dispatch: Dispatch, _ board: WaveBoard, _ limits: Limits) {
        self.dispatch = dispatch
        self.board = board
        self.limits = limits
        clocks = limits.window?.times.map { WindowClock($0) } ?? []
        mode = limits.window == nil ? .working : .waiting(told: false)
    }

    package var ending: RunEnding? {
        guard case .draining(let ending) = mode else { return nil }
        return ending
    }

    /// Whether nothing is left to do, or nothing may be begun and nothing is under way.
    package var isOver: Bool {
        guard dispatch.underWay == 0, !dispatch.adapters.contains(where: \.isListening) else {
            return false
        }
        if case .draining = mode { return true }
        return hasBegun && board.phase == .finished
    }

    /// Whether an adapter that listens should stop: it has work, or nothing may be begun.
    package func isWanted(_ adapter: Int) -> Bool {
        guard mode == .working || dispatch.underWay > 0 else { return true }
        return dispatch.hasWork(adapter, mayBegin: mayBegin)
    }

    private var mayBegin: Bool {
        mode == .working
            && dispatch.underWay
                < min(board.headroom(most: Dispatch.mostEver), dispatch.mostUnderWay)
    }

    // MARK: Events

    package mutating func heard(_ vehicle: Int, on adapter: Int, signal: Int) {
        dispatch.heard(vehicle, on: adapter, signal: signal)
    }

    package mutating func gaveBack(_ vehicle: Int, at now: Moment) {
        dispatch.gaveBack(vehicle, at: now)
    }

    package mutating func asks(_ vehicle: Int, _ need: AirtimeNeed) -> Bool {
        dispatch.asks(vehicle, need)
    }

    package mutating func asksForLink(_ vehicle: Int) -> Bool { dispatch.asksForLink(vehicle) }

    package mutating func leavesLine(_ vehicle: Int) { dispatch.leavesLine(vehicle) }

    package mutating func shows(_ vehicle: Int, _ sign: LinkSign, at now: Moment) -> Bool {
        dispatch.shows(vehicle, sign, at: now)
    }

    package mutating func listened(_ adapter: Int, for duration: Duration) {
        dispatch.listened(adapter, for: duration)
    }

    package mutating func lost(_ adapter: Int) { dispatch.lost(adapter) }

    /// No adapter has worked for too long: vehicles that wait to be begun are put off.
    package func withoutAdapters() -> [Action] {
        mode == .working ? dispatch.waiting.map { .putOff(vehicle: $0) } : []
    }

    package mutating func found(_ adapter: Int) { dispatch.found(adapter) }

    package mutating func plugged(_ name: String) -> Int { dispatch.plugged(name) }

    /// Counts a verdict that is about to be written; returns how the run ends when it trips the
    /// gate.
    package mutating func counts(
        _ vehicle: Int,
        _ outcome: Outcome,
        _ failure: FailureClass?,
        touched: Bool
    ) -> RunEnding? {
        switch board.counts(vehicle, outcome, failure, touched: touched) {
        case .pause(let why): .paused(why)
        case .abort(let why): .aborted(why)
        case .letIn, .replace, .ended, .check, nil: nil
        }
    }

    /// A vehicle has its verdict, or (with nil) was stopped at a safe point.
    package mutating func ended(
        _ vehicle: Int,
        _ outcome: Outcome?,
        _ failure: FailureClass?,
        touched: Bool,
        at now: Moment
    ) -> [Action] {
        dispatch.ended(vehicle, at: now)
        held.remove(vehicle)
        guard let outcome else { return [] }
        return perform(board.verdict(vehicle, outcome, failure, touched: touched))
    }

    /// A vehicle that had its verdict is tried again, in its wave.
    ///
    /// A vehicle that only waited (`hasWaited`) keeps the signals that were heard.
    package mutating func again(
        _ vehicle: Int,
        attempts: Int,
        isOpen: Bool,
        hasWaited: Bool = false
    ) {
        switch mode {
        case .draining: return
        case .waiting, .working: break
        }
        board.again(vehicle)
        timedOut.remove(vehicle)
        gaveUp.remove(vehicle)
        dispatch.again(vehicle, attempts: attempts, isOpen: isOpen, hasWaited: hasWaited)
        // A wave that has not begun lets it in when it begins.
        if hasBegun, board.wave(of: vehicle) <= board.wave { letIn(vehicle) }
    }

    /// Another machine hears the vehicle better: it comes after all others.
    package mutating func isNearer(elsewhere vehicle: Int) {
        dispatch.isNearer(elsewhere: vehicle)
    }

    /// Other machines leave the vehicle to this one: it is begun next.
    package mutating func isFavoured(_ vehicle: Int) { dispatch.isFavoured(vehicle) }

    /// Follows the wave that is active for all machines of the rollout.
    package mutating func follow(_ wave: Int) -> [Action] {
        guard hasBegun else { return [] }
        return perform(board.follow(wave))
    }

    package mutating func checked(_ wave: Int, failure: String?) -> [Action] {
        perform(board.checked(wave, failure: failure))
    }

    /// Begins nothing new from now on; a more serious reason replaces a less serious one.
    package mutating func drain(_ ending: RunEnding) -> [Action] {
        if case .draining(let before) = mode, before.weight >= ending.weight { return [] }
        mode = .draining(ending)
        return [.drain(ending)]
    }

    // MARK: Outlook

    /// What the run waits for, except for adapters that do not work, which the shell adds.
    package mutating func outlook(wall: WallTime) -> Outlook {
        let outlook = awaited(wall: wall)
        if case .search(_, let until) = outlook { searchEnd = until } else { searchEnd = nil }
        return outlook
    }

    private func awaited(wall: WallTime) -> Outlook {
        if isOver { return .end }
        switch mode {
        case .waiting:
            return .window(opens: windowOpens ?? wall)
        case .draining(let ending):
            return .draining(underWay: dispatch.underWay, why: ending.sentence ?? "it was asked to")
        case .working:
            break
        }
        if dispatch.underWay == 0 {
            switch board.phase {
            case .soaking(let wave, let until): return .soak(wave: wave + 1, until: until)
            case .checking(let wave): return .check(wave: wave + 1)
            case .finished: return .end
            case .working: break
            }
            if dispatch.queued == 0, let heldUntil { return .window(opens: heldUntil) }
            let usable = dispatch.adapters.filter(\.isUsable)
            if dispatch.unheard > 0, dispatch.unheard == dispatch.queued, !usable.isEmpty {
                let listened = usable.map(\.listened).min() ?? .zero
                let end = wall.advanced(by: max(.zero, limits.patience - listened))
                return .search(
                    vehicles: dispatch.unheard,
                    until: min(searchEnd ?? end, end)
                )
            }
        }
        return .work(
            underWay: dispatch.underWay,
            waiting: dispatch.toCome,
            until: windowEnd
        )
    }

    // MARK: Decisions

    /// The actions that are due now.
    package mutating func step(at now: Moment, wall: WallTime) -> [Action] {
        var actions = keepWindow(at: wall)
        if mode == .working {
            if !hasBegun {
                hasBegun = true
                actions += perform(board.begin())
            }
            actions += perform(board.tick(at: wall))
            actions += replaceMissing()
        }
        actions += keepBudgets(at: now)
        actions += dispatch.look(at: now, mayBegin: mayBegin).map { adapter in
            .learned(adapter: adapter, links: dispatch.adapters[adapter].quota.proven)
        }
        actions += grant(at: now)
        if mode == .working {
            for adapter in dispatch.idleEars() {
                dispatch.listens(adapter)
                actions.append(.listen(adapter: adapter))
            }
            for vehicle in dispatch.missing(after: limits.patience)
            where gaveUp.insert(vehicle).inserted { actions.append(.giveUp(vehicle: vehicle)) }
        }
        return actions
    }

    /// Open while the times of any vehicle are that is not done, and before, while others are open.
    private mutating func state(of window: RunWindow, at wall: WallTime) -> OpenTimes.State {
        var left = Set(clocks.indices)
        if clocks.count > 1 {
            let undone = dispatch.vehicles.indices.filter { !board.hasVerdict($0) }
            if !undone.isEmpty { left = Set(undone.map(window.times(of:))) }
        }
        var until: WallTime?
        var others: WallTime?
        windowOpens = nil
        for index in clocks.indices {
            switch clocks[index].state(at: wall) {
            case .open(let end) where left.contains(index): until = max(until ?? end, end)
            case .open(let end): others = max(others ?? end, end)
            case .closed(let next?) where left.contains(index):
                windowOpens = min(windowOpens ?? next, next)
            case .closed: break
            }
        }
        if until == nil, let others, let windowOpens, windowOpens < others { until = others }
        return until.map { .open(until: $0) } ?? .closed(opens: windowOpens)
    }

    private mutating func keepWindow(at wall: WallTime) -> [Action] {
        guard let window = limits.window else { return [] }
        let actions = follow(state(of: window, at: wall), window)
        return mode == .working && clocks.count > 1 ? actions + keepOwn(window, at: wall) : actions
    }

    private mutating func follow(_ state: OpenTimes.State, _ window: RunWindow) -> [Action] {
        switch (mode, state) {
        case (.waiting, .open(let until)):
            mode = .working
            windowEnd = until
            return [.windowOpened(until: until)]
        case (.waiting, .closed(nil)):
            return drain(.workLeft("the window does not open any more"))
        case (.waiting(let told), .closed(let opens?)):
            mode = .waiting(told: true)
            return told ? [] : [.waiting(until: opens)]
        case (.working, .open(let until)):
            windowEnd = until
            return []
        case (.working, .closed(let opens)):
            // A run that has just become complete is not cut short.
            guard !(dispatch.underWay == 0 && board.phase == .finished) else { return [] }
            let next = opens.map { "it opens again at \($0)" } ?? "it does not open any more"
            let actions = drain(.workLeft("the window has closed; \(next)"))
            switch window.close {
            case .finish: return actions
            case .safePoint: return actions + [.stopAll]
            case .stop: return actions + [.cutAll]
            }
        case (.draining, _):
            return []
        }
    }

    /// Lets vehicles in when their own times open, and shuts out those whose times have closed.
    private mutating func keepOwn(_ window: RunWindow, at wall: WallTime) -> [Action] {
        var actions: [Action] = []
        var opens: [Int: WallTime] = [:]
        for index in clocks.indices {
            var isOpen = false
            switch clocks[index].state(at: wall) {
            case .open: isOpen = true
            case .closed(let next): opens[index] = next
            }
            guard isOpen != clocks[index].isOpen else { continue }
            clocks[index].isOpen = isOpen
            if isOpen {
                let vehicles = held.filter { window.times(of: $0) == index }
                held.subtract(vehicles)
                for vehicle in vehicles.sorted() { dispatch.letIn(vehicle) }
                if !vehicles.isEmpty { dispatch.listensFromNowOn() }
            } else {
                for vehicle in dispatch.waiting where window.times(of: vehicle) == index {
                    dispatch.shut(vehicle)
                    held.insert(vehicle)
                }
            }
            if window.close != .finish { actions.append(.own(times: index, isOpen: isOpen)) }
        }
        heldUntil = held.compactMap { opens[window.times(of: $0)] }.min()
        return actions
    }

    /// The wave of the vehicle has begun; it is queued when its own times are open.
    private mutating func letIn(_ vehicle: Int) {
        if let window = limits.window, clocks.count > 1, !clocks[window.times(of: vehicle)].isOpen {
            held.insert(vehicle)
        } else {
            dispatch.letIn(vehicle)
        }
    }

    private mutating func keepBudgets(at now: Moment) -> [Action] {
        var actions: [Action] = []
        let budget = limits.airtime
        guard budget.vehicle != nil || budget.total != nil else { return [] }
        if let limit = budget.vehicle {
            for vehicle in dispatch.active where !timedOut.contains(vehicle) {
                guard dispatch.airtime(of: vehicle, at: now) >= limit else { continue }
                timedOut.insert(vehicle)
                actions.append(.timeOut(vehicle: vehicle))
            }
        }
        if let total = budget.total, mode == .working, dispatch.totalAirtime(at: now) >= total {
            actions += drain(.workLeft("the airtime of \(total.brief) is used up"))
        }
        return actions
    }

    private mutating func replaceMissing() -> [Action] {
        guard dispatch.unheard > 0, !board.isLast(board.wave) else { return [] }
        var actions: [Action] = []
        for vehicle in dispatch.missing(after: limits.canaryPatience) {
            guard let action = board.missing(vehicle) else { continue }
            actions += perform([action])
        }
        return actions
    }

    private mutating func grant(at now: Moment) -> [Action] {
        let most = mode == .working ? board.headroom(most: Dispatch.mostEver) : 0
        return dispatch.grants(at: now, mostUnderWay: most).map { grant in
            switch grant {
            case .begin(let vehicle, let adapter): .begin(vehicle: vehicle, adapter: adapter)
            case .goOn(let vehicle, let adapter), .link(let vehicle, let adapter):
                .goOn(vehicle: vehicle, adapter: adapter)
            }
        }
    }

    private mutating func perform(_ actions: [WaveBoard.Action]) -> [Action] {
        actions.flatMap { action -> [Action] in
            switch action {
            case .letIn(let vehicles, let wave):
                for vehicle in vehicles { letIn(vehicle) }
                return [.waveBegan(wave, vehicles: vehicles.count)]
            case .replace(let vehicle, let other, let wave):
                dispatch.shut(vehicle)
                letIn(other)
                return [.replaced(vehicle, by: other, wave: wave)]
            case .ended(let wave): return [.waveEnded(wave)]
            case .check(let wave): return [.check(wave: wave)]
            case .pause(let why): return drain(.paused(why))
            case .abort(let why): return drain(.aborted(why))
            }
        }
    }
}

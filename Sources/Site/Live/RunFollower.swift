package import Base
package import Manifest
import Rollout
import Show
package import Store

/// The display of a run, made from the journal for other terminals and for pages.
///
/// A value: states of the journal go in, and the news since the last state come out.
package struct RunFollower: Sendable {
    /// The newest run at one moment.
    package struct Look: Sendable {
        package let run: RunRecord
        /// The events after those that were taken before.
        let events: [EventRecord]
        let executions: [ExecutionRecord]
        let rollout: RolloutRecord?

        package init?(
            of rollout: String?,
            after follower: RunFollower,
            in view: JournalView
        ) throws(JournalError) {
            guard let run = try view.runs(rollout: rollout, limit: 1).first else { return nil }
            self.run = run
            let known = run.number == follower.run ? follower.lastEvent : 0
            events = try view.events(run: run.number, after: known)
            executions = try view.executions(rollout: run.rollout).filter { $0.run == run.number }
            self.rollout = try view.rollout(run.rollout)
        }
    }

    /// The input of a printer.
    package enum News: Sendable, Equatable {
        /// A run other than before; it is already over, or has been running for some time.
        case run(Int, isOver: Bool)
        case event(Event)
        case outlook(Outlook)
    }

    private enum Phase: Equatable {
        case work
        case waiting
        case between(wave: Int)
        case draining(String)
    }

    private(set) var run: Int?
    /// The number of the run that is followed.
    package var number: Int? { run }
    private(set) var lastEvent = 0
    private var phase = Phase.work
    private var all = 0
    private var underWay: Set<VehicleID> = []
    private var ended: Set<VehicleID> = []
    private var transfers: [VehicleID: Transfer] = [:]
    /// The time of the run at its last event.
    private(set) var latest: WallTime?
    private var isSimulated = false

    private struct Transfer {
        let first: ByteCount
        let acknowledged: ByteCount
        let began: WallTime
    }

    package init() {}

    /// The time of the run: a simulated one has a calendar of its own, which stands still between
    /// events.
    package func wall(at now: WallTime) -> WallTime { isSimulated ? latest ?? now : now }

    /// `plan` is the plan of the run's rollout, and `zone` the zone of its window.
    package mutating func take(
        _ look: Look,
        plan: FrozenPlan?,
        zone: Zone,
        at now: WallTime
    ) -> [News] {
        var news: [News] = []
        if look.run.number != run {
            self = RunFollower()
            run = look.run.number
            isSimulated = look.run.seed != nil
            news.append(.run(look.run.number, isOver: look.run.end != nil))
        }
        for record in look.events {
            lastEvent = record.number
            latest = record.time
            guard let body = RunList.body(of: record) else { continue }
            note(body)
            news.append(.event(Event(number: record.number, time: record.time, body: body)))
        }
        guard look.run.end == nil else { return news }
        let wall = wall(at: now)
        for record in look.executions {
            if let progress = progress(of: record, at: wall) {
                news.append(
                    .event(
                        Event(
                            number: lastEvent,
                            time: wall,
                            body: .progress(record.vehicle, progress)
                        )
                    )
                )
            }
        }
        if all > 0 { news.append(.outlook(outlook(look, plan, zone, wall))) }
        return news
    }

    private mutating func note(_ body: Event.Body) {
        switch body {
        case .runStarted(let start): all = start.vehicles
        case .attemptStarted(let vehicle, _, _, _): underWay.insert(vehicle)
        case .vehicleEnded(let vehicle, _):
            underWay.remove(vehicle)
            ended.insert(vehicle)
            transfers[vehicle] = nil
        case .interrupted(let vehicle, _, _), .retrying(let vehicle, _, _, _):
            transfers[vehicle] = nil
        case .notice(let notice):
            switch notice.kind {
            case .waiting: phase = .waiting
            case .windowOpened, .waveBegan: phase = .work
            case .waveEnded: phase = .between(wave: notice.wave ?? 1)
            case .draining: phase = .draining(notice.message)
            case .replaced, .adapterLost, .adapterFound, .request: break
            }
        case .imageReady, .stateChanged, .inspected, .progress, .problem, .stepEnded,
            .vehicleStands, .warning, .runEnded:
            break
        }
    }

    /// The progress of a transfer, when the journal has more bytes of it than at the last look.
    private mutating func progress(of record: ExecutionRecord, at wall: WallTime) -> Progress? {
        guard record.state == .transferring, record.end == nil,
            let total = record.totalBytes, total > .zero, let done = record.acknowledged
        else {
            transfers[record.vehicle] = nil
            return nil
        }
        let known = transfers[record.vehicle]
        guard known?.acknowledged != done else { return nil }
        let transfer = Transfer(
            first: known?.first ?? done,
            acknowledged: done,
            began: known?.began ?? wall
        )
        transfers[record.vehicle] = transfer
        let seconds = Double(transfer.began.duration(to: wall).nanoseconds) / 1e9
        let sent = done.bytes - transfer.first.bytes
        let rate = seconds > 0 && sent > 0 ? Double(sent) / seconds : nil
        return Progress(
            acknowledged: done,
            total: total,
            resumedFrom: .zero,
            rate: rate,
            remaining: rate.map { .seconds(Int64(Double(total.bytes - done.bytes) / $0)) }
        )
    }

    private func outlook(
        _ look: Look,
        _ plan: FrozenPlan?,
        _ zone: Zone,
        _ wall: WallTime
    ) -> Outlook {
        let window = plan?.openTimes(in: zone)?.state(at: wall)
        switch phase {
        case .waiting:
            if case .closed(let opens?)? = window { return .window(opens: opens) }
        case .between(let wave):
            if let ended = look.rollout?.waveEnded, let soak = plan?.rollout.between.soak,
                ended.advanced(by: soak) > wall
            {
                return .soak(wave: wave, until: ended.advanced(by: soak))
            }
            if underWay.isEmpty, plan?.rollout.between.check.isEmpty == false {
                return .check(wave: wave)
            }
        case .draining(let why): return .draining(underWay: underWay.count, why: why)
        case .work: break
        }
        var until: WallTime?
        if case .open(let end)? = window { until = end }
        return .work(
            underWay: underWay.count,
            waiting: max(0, all - ended.count - underWay.count),
            until: until
        )
    }
}

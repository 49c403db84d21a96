package import Base
package import Store

/// The facts of a run from which every written report is made.
///
/// It collects them during the run, and drops facts that no report shows.
package struct RunStory: Sendable {
    private(set) var start: RunStart?
    private(set) var began: WallTime?
    package private(set) var end: (run: RunEnd, time: WallTime)?
    /// The time of a report on an active rollout, and whether a gateway was at work then.
    private(set) var stood: (time: WallTime, isAtWork: Bool)?
    private(set) var images: [(name: String, size: ByteCount, provenance: [String])] = []
    private(set) var warnings: [String] = []
    /// Decisions about the whole run: waves, gates, windows.
    private(set) var notices: [String] = []
    /// The waves that have begun, in their order.
    private(set) var waves: [WaveStory] = []
    /// The number of waves; nil when no event mentioned waves.
    private(set) var waveCount: Int?
    private var told: [VehicleID: VehicleInRun] = [:]
    private var open: [VehicleID: Segment] = [:]
    private var closed: [Segment] = []
    private var report: JSONReport?
    private var documentText: String?
    private var latest: WallTime?

    /// The document takes as much memory as all other facts together, so it can be left out.
    package init(withDocument: Bool = true) { report = withDocument ? JSONReport() : nil }

    /// The vehicles in the order of their ids.
    package var vehicles: [VehicleInRun] { told.values.sorted { $0.id < $1.id } }

    /// The work of each adapter, in order of time.
    var segments: [Segment] {
        closed.sorted { ($0.from.milliseconds, $0.vehicle) < ($1.from.milliseconds, $1.vehicle) }
    }

    /// The document of `--json`; nil before the run has begun.
    package var document: String? {
        documentText ?? latest.flatMap { report?.cutOff(at: $0) }
    }

    /// The vehicles by their outcomes, also of a run that was cut off.
    var vehicleCounts: VehicleCounts {
        end?.run.vehicles
            ?? VehicleCounts(told.values.map { $0.verdict?.outcome }, of: start?.vehicles ?? 0)
    }
    package var counts: [Outcome: Int] { vehicleCounts.outcomes }
    package var unfinished: Int { vehicleCounts.unfinished }

    /// The waves and how far each has come; empty when no event mentioned waves.
    var waveStatuses: [WaveStatus] {
        (0..<(waveCount ?? 0)).map { index in
            guard let wave = waves.first(where: { $0.number == index + 1 }) else {
                return WaveStatus(number: index + 1, state: .open, counts: VehicleCounts())
            }
            return WaveStatus(
                number: wave.number,
                state: wave.ended == nil ? .current : .over,
                counts: VehicleCounts(wave.members.map { told[$0]?.verdict?.outcome }),
                took: wave.ended.map { wave.began.duration(to: $0) }
            )
        }
    }

    /// How long the run took, or has lasted until its last event.
    package var length: Duration {
        if let end { return end.run.took }
        guard let began, let latest else { return .zero }
        return max(.zero, began.duration(to: latest))
    }

    /// The image bytes that the run has sent to all vehicles.
    package var bytesSent: Int { told.values.reduce(0) { $0 + $1.bytesSent } }

    /// Makes this the story of a rollout at one moment, not of a run that has ended.
    package mutating func stand(at time: WallTime, isAtWork: Bool) {
        stood = (time, isAtWork)
        latest = time
    }

    package mutating func note(_ event: Event) {
        latest = event.time
        if let text = report?.print(event, at: Moment(nanoseconds: 0)).first?.text {
            documentText = text
        }
        switch event.body {
        case .runStarted(let run):
            start = run
            began = event.time
        case .imageReady(let name, _, let size, let provenance):
            images.append((name, size, provenance))
        case .attemptStarted(let id, let serial, _, _):
            told[id, default: VehicleInRun(id)].serial = serial
        case .stateChanged(let id, let state, let adapter, _):
            entered(state, id, on: adapter, event.time)
        case .progress(let id, let progress):
            told[id, default: VehicleInRun(id)].progress = progress
        case .problem(let id, let problem):
            told[id, default: VehicleInRun(id)].problems.append(problem)
        case .retrying(let id, let failure, let message, _):
            told[id, default: VehicleInRun(id)].retries.append((failure, message))
        case .interrupted(let id, let cause, _):
            told[id, default: VehicleInRun(id)].interruptions.append(cause)
        case .stepEnded(let id, let step):
            told[id, default: VehicleInRun(id)].steps.append(step)
        case .vehicleEnded(let id, let verdict):
            told[id, default: VehicleInRun(id)].verdict = verdict
            close(id, event.time)
        case .vehicleStands(let id, let standing):
            told[id, default: VehicleInRun(id)].stands(standing)
        case .warning(let text): warnings.append(text)
        case .notice(let notice): note(notice, event.time)
        case .runEnded(let run):
            end = (run, event.time)
            for id in open.keys.sorted() { close(id, event.time) }
        case .inspected: break
        }
    }

    private mutating func note(_ notice: Notice, _ time: WallTime) {
        notices.append(notice.vehicle.map { "\($0): \(notice.message)" } ?? notice.message)
        guard let number = notice.wave else { return }
        waveCount = notice.waves ?? waveCount
        let index = waves.firstIndex { $0.number == number }
        switch notice.kind {
        case .waveBegan:
            let wave = WaveStory(number: number, members: notice.vehicles, began: time)
            if let index { waves[index] = wave } else { waves.append(wave) }
        case .waveEnded:
            if let index { waves[index].ended = time }
        case .replaced:
            guard let index, let away = notice.vehicle else { return }
            waves[index].members.removeAll { $0 == away }
            waves[index].members += notice.vehicles
        case .draining, .waiting, .windowOpened, .adapterLost, .adapterFound, .request: break
        }
    }

    private mutating func entered(
        _ state: ExecutionState,
        _ id: VehicleID,
        on adapter: String?,
        _ time: WallTime
    ) {
        close(id, time)
        guard let phase = Phase(state) else { return }
        open[id] = Segment(
            adapter: adapter ?? start?.adapters.first ?? "radio",
            vehicle: id,
            phase: phase,
            from: time,
            to: time
        )
    }

    private mutating func close(_ id: VehicleID, _ time: WallTime) {
        guard var segment = open.removeValue(forKey: id) else { return }
        segment.to = max(segment.from, time)
        let length = segment.from.duration(to: segment.to)
        if segment.phase == .transfer {
            told[id, default: VehicleInRun(id)].transfer += length
        }
        // A segment without duration would be invisible on a time line.
        guard length > .zero else { return }
        if let last = closed.last, last.vehicle == id, last.phase == segment.phase,
            last.to == segment.from, last.adapter == segment.adapter
        {
            closed[closed.count - 1].to = segment.to
        } else {
            closed.append(segment)
        }
    }

    /// The work of an adapter for one vehicle, with its time.
    struct Segment: Sendable, Equatable {
        let adapter: String
        let vehicle: VehicleID
        let phase: Phase
        let from: WallTime
        fileprivate(set) var to: WallTime
    }

    /// The kinds of work that a time line distinguishes.
    enum Phase: String, CaseIterable, Sendable {
        case search, connect, transfer, settle, interrupted

        init?(_ state: ExecutionState) {
            switch state {
            case .queued, .ended: return nil
            case .seeking: self = .search
            case .connecting, .authenticating, .inspecting, .acting, .starting: self = .connect
            case .transferring: self = .transfer
            case .settling, .confirming: self = .settle
            case .interrupted: self = .interrupted
            }
        }
    }
}

/// One wave of a run.
struct WaveStory: Sendable {
    /// Counts from 1.
    let number: Int
    fileprivate(set) var members: [VehicleID]
    let began: WallTime
    fileprivate(set) var ended: WallTime?
}

/// The work of a run on one vehicle.
package struct VehicleInRun: Sendable {
    package let id: VehicleID
    fileprivate(set) var serial: Serial?
    package fileprivate(set) var verdict: Verdict?
    /// Reported at the end of the run, where there is more to report than the verdict.
    package fileprivate(set) var standing: Standing?
    fileprivate(set) var progress: Progress?
    fileprivate(set) var problems: [Problem] = []
    fileprivate(set) var retries: [(failure: FailureClass, message: String)] = []
    package fileprivate(set) var interruptions: [String] = []
    fileprivate(set) var steps: [StepResult] = []
    /// The time in which image bytes were being sent.
    fileprivate(set) var transfer: Duration = .zero

    fileprivate init(_ id: VehicleID) { self.id = id }

    fileprivate mutating func stands(_ standing: Standing) {
        verdict = standing.verdict(verdict)
        serial = standing.serial
        self.standing = standing
    }

    /// The outcome, or the name of the count for vehicles without one.
    package var name: String {
        verdict?.outcome.rawValue ?? Standing.unfinished
    }

    /// For people: why it ended this way, or what happens next.
    package var sentence: String {
        standing?.sentence ?? verdict?.message ?? "the run ended before its verdict"
    }

    /// The image bytes that the run has sent to it, repeats included.
    ///
    /// A run that was killed has reported only its progress.
    var bytesSent: Int {
        if let standing, standing.verdict == nil { return standing.sent.bytes }
        if let verdict { return verdict.bytesSent.bytes }
        return progress.map { max(0, $0.acknowledged.bytes - $0.resumedFrom.bytes) } ?? 0
    }

    /// Image bytes per second of transfer; nil when nothing was sent.
    var rate: Double? {
        guard bytesSent > 0, transfer > .zero else { return nil }
        return Double(bytesSent) / (Double(transfer.nanoseconds) / 1e9)
    }
}

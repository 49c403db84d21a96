import Base
package import Store

/// Events for the systemd journal, each with fields that can be queried.
///
/// It uses the native protocol of the journal's socket: a record consists of lines `NAME=value`.
/// The same events are recorded as on plain lines, with the text in `MESSAGE`.
package struct JournalPrinter: Sendable {
    /// Far below the size limit of the socket.
    private static let longestValue = 16_384

    private var lines = LineFilter()
    private let offers: RunOffers.Maker?
    private var recap = Recap()
    private var rollout: String?
    private var run: Int?
    private var serials: [VehicleID: Serial] = [:]
    private var attempts: [VehicleID: Int] = [:]
    private var adapters: [VehicleID: String] = [:]

    package init(offers: RunOffers.Maker? = nil) { self.offers = offers }

    /// A record; nil for events that are not useful in a log.
    package mutating func record(_ event: Event) -> String? {
        recap.note(event)
        switch event.body {
        case .runStarted(let start):
            rollout = start.rollout
            run = start.run
        case .attemptStarted(let id, let serial, let attempt, _):
            serials[id] = serial
            attempts[id] = attempt
        case .stateChanged(let id, _, let adapter, _): adapters[id] = adapter ?? adapters[id]
        case .imageReady, .inspected, .progress, .interrupted, .problem, .retrying, .stepEnded,
            .vehicleEnded, .vehicleStands, .warning, .notice, .runEnded:
            break
        }
        guard let message = message(event) else { return nil }
        var record = Record()
        record.add("MESSAGE", message)
        record.add("PRIORITY", String(event.body.priority))
        record.add("SYSLOG_IDENTIFIER", "yardmaster")
        record.add("MESSAGE_ID", JournalMessage.id(of: event.body.kind))
        record.add("YARDMASTER_EVENT", event.body.kind)
        record.add("YARDMASTER_TIME", event.time.description)
        record.add("YARDMASTER_ROLLOUT", rollout)
        record.add("YARDMASTER_RUN", run.map(String.init))
        if let vehicle = event.body.vehicle {
            record.add("YARDMASTER_VEHICLE", vehicle.text)
            record.add("YARDMASTER_SERIAL", serials[vehicle]?.text)
            record.add("YARDMASTER_ATTEMPT", attempts[vehicle].map(String.init))
            record.add("YARDMASTER_ADAPTER", adapters[vehicle])
        }
        record.add(event.body)
        if case .vehicleEnded(let id, _) = event.body {
            (serials[id], attempts[id], adapters[id]) = (nil, nil, nil)
        }
        return record.text
    }

    /// The text for standard output after the end of the run.
    package func results(_ end: RunEnd) -> String { recap.text(end, offers?(end.rollout)) }

    private mutating func message(_ event: Event) -> String? {
        guard case .runEnded(let end) = event.body else { return lines.sentence(event) }
        return String(Recap.lastLine(end).dropLast()) + ": " + end.reason
    }

    /// One record under construction.
    private struct Record {
        private(set) var text = ""

        mutating func add(_ name: String, _ value: String?) {
            guard let value else { return }
            var visible = value.visible
            if visible.utf8.count > JournalPrinter.longestValue {
                visible = String(visible.prefix(JournalPrinter.longestValue / 4)) + "…"
            }
            text += "\(name)=\(visible)\n"
        }

        /// The fields that only this kind of event has.
        mutating func add(_ body: Event.Body) {
            switch body {
            case .stateChanged(_, let state, _, _): add("YARDMASTER_STATE", state.rawValue)
            case .problem(_, let problem):
                add("YARDMASTER_CHECK", problem.check)
                add("YARDMASTER_MEASURED", problem.measured)
                add("YARDMASTER_REQUIRED", problem.required)
            case .retrying(_, let failure, _, _): add("YARDMASTER_CLASS", failure.rawValue)
            case .stepEnded(_, let step):
                add("YARDMASTER_STEP", String(step.number))
                add("YARDMASTER_FATE", step.fate.rawValue)
            case .vehicleEnded(_, let verdict):
                add("YARDMASTER_OUTCOME", verdict.outcome.rawValue)
                add("YARDMASTER_CLASS", verdict.failure?.rawValue)
                add("YARDMASTER_VERSION_BEFORE", verdict.versionBefore?.description)
                add("YARDMASTER_VERSION_AFTER", verdict.versionAfter?.description)
                add("YARDMASTER_DURATION_USEC", String(verdict.took.nanoseconds / 1_000))
            case .notice(let notice): add("YARDMASTER_WAVE", notice.wave.map(String.init))
            case .runEnded(let end):
                add("YARDMASTER_EXIT", String(end.exitCode))
                add("YARDMASTER_DURATION_USEC", String(end.took.nanoseconds / 1_000))
            case .runStarted, .imageReady, .attemptStarted, .inspected, .progress, .interrupted,
                .vehicleStands, .warning:
                break
            }
        }
    }
}

/// The journal's message id for a kind of event.
///
/// It never changes, so that searches can be kept.
package enum JournalMessage {
    private static let first = "5b0c1b8e4f6d4a52b7a1c93de27f"
    private static let kinds = [
        "run-started", "image-ready", "attempt-started", "state-changed", "inspected", "progress",
        "interrupted", "problem", "retrying", "step-ended", "vehicle-ended", "warning",
        "run-ended", "wave-began", "wave-ended", "replaced", "draining", "waiting",
        "window-opened", "adapter-lost", "adapter-found", "request", "vehicle-stands",
    ]

    /// 32 hex digits; nil for a kind without a number.
    package static func id(of kind: String) -> String? {
        guard let index = kinds.firstIndex(of: kind) else { return nil }
        let digits = String(index + 1, radix: 16)
        return first + String(repeating: "0", count: 4 - digits.utf8.count) + digits
    }
}

extension Event.Body {
    /// Syslog priorities: 3 is an error, 4 a warning, 5 notable, 6 normal.
    package var priority: Int {
        switch self {
        case .vehicleEnded(_, let verdict):
            switch verdict.outcome.tally {
            case .ok, .current, .skipped: 6
            case .deferred, .unreachable: 4
            case .failed, .aborted: 3
            }
        case .stepEnded(_, let step): step.fate == .done ? 6 : 4
        case .problem, .warning, .retrying: 4
        case .interrupted: 5
        case .notice(let notice):
            switch notice.kind {
            case .adapterLost, .draining: 4
            case .waveBegan, .waveEnded, .replaced, .waiting, .windowOpened, .adapterFound,
                .request:
                5
            }
        case .runEnded(let end): end.exitCode == 0 ? 5 : 3
        case .runStarted: 5
        case .imageReady, .attemptStarted, .stateChanged, .inspected, .progress, .vehicleStands: 6
        }
    }
}

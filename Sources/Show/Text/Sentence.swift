import Base
import Store

/// An event as one line for people.
enum Sentence {
    /// The line for a log; nil for events that would be too frequent.
    ///
    /// A short intermediate state is shown only on a live display.
    static func text(_ body: Event.Body, vehicles: Int?) -> String? {
        guard let said = said(body, vehicles: vehicles) else { return nil }
        guard let vehicle = body.vehicle else { return said }
        return "\(vehicle.text.visible): \(said)"
    }

    /// The line without the vehicle's name, and for every state: for reading afterwards.
    static func full(_ body: Event.Body, vehicles: Int?) -> String? {
        if case .vehicleStands(_, let standing) = body {
            return "\(standing.name): \(standing.sentence.visible)"
        }
        guard case .stateChanged(_, let state, let adapter, let detail) = body else {
            return said(body, vehicles: vehicles)
        }
        let place = adapter.map { " on \($0.visible)" } ?? ""
        return state.rawValue + place + (detail.map { ", " + $0.visible } ?? "")
    }

    private static func said(_ body: Event.Body, vehicles: Int?) -> String? {
        switch body {
        case .runStarted(let start): return text(start)
        case .imageReady(let name, let digest, let size, _):
            return "image \(name.visible): \(size) verified, sha256 \(short(digest))"
        case .attemptStarted(_, let serial, let attempt, let position):
            let place = vehicles.map { "\(position) of \($0)" } ?? "\(position)"
            return "attempt \(attempt) on module \(serial), vehicle \(place)"
        case .stateChanged(_, let state, _, let detail):
            guard state.isWorthALine else { return nil }
            // The longest part of most updates, in which nothing else is to be seen.
            let wait =
                state == .settling ? ": waits until it is quiet, then reads its version twice" : ""
            return state.rawValue + (detail.map { ", " + $0.visible } ?? wait)
        case .inspected(_, let version, let facts):
            let read = facts.map { "\($0.name.visible) \($0.value.visible)" }
            let parts = (version.map { ["version \($0)"] } ?? []) + read
            return parts.isEmpty ? nil : "has " + parts.joined(separator: ", ")
        case .progress(_, let progress): return text(progress)
        case .interrupted(_, let cause, let count):
            return "interruption \(count): \(cause.visible)"
        case .problem(_, let problem):
            return "\(problem.check.visible) is \(problem.measured.visible), must be "
                + problem.required.visible
        case .retrying(_, let failure, let message, let pause):
            return "\(failure.rawValue) failure, next attempt in \(pause.brief): \(message.visible)"
        case .stepEnded(_, let step):
            let facts = step.facts.map { "\($0.name.visible) is \($0.value.visible)" }
            let what = "step \(step.number), \(step.action.visible): \(step.fate.rawValue)"
            return ([what] + facts).joined(separator: ", ")
        case .vehicleEnded(_, let verdict):
            return verdict.outcome.rawValue + (verdict.versions.map { ", \($0)" } ?? "")
                + (verdict.took > .zero ? ", in \(verdict.took.brief)" : "") + ": "
                + verdict.message.visible
        case .warning(let text): return "warning: " + text.visible
        case .notice(let notice): return notice.message.visible
        case .vehicleStands, .runEnded: return nil
        }
    }

    private static func text(_ start: RunStart) -> String {
        var text =
            "rollout \(start.rollout.visible): run \(start.name), "
            + "\(counted(start.vehicles, "vehicle")), plan \(short(start.plan))"
        if !start.adapters.isEmpty {
            text += ", on " + start.adapters.map(\.visible).joined(separator: ", ")
        }
        if let words = start.approval { text += ", \(words)" }
        if let seed = start.seed { text += ", simulated with seed \(seed)" }
        return text
    }

    private static func text(_ progress: Progress) -> String {
        var text = "\(progress.percent)%, \(progress.acknowledged) of \(progress.total)"
        if let rate = progress.rateText { text += ", \(rate)" }
        if let remaining = progress.timeLeft { text += ", \(remaining.brief) left" }
        if progress.isResumed { text += ", resumed at \(progress.resumedFrom)" }
        return text
    }

    /// Enough digits to distinguish two digests by eye.
    static func short(_ digest: SHA256Digest) -> String { String(digest.description.prefix(12)) }
}

extension Progress {
    var isResumed: Bool { resumedFrom.bytes > 0 }

    /// The remaining time, when it is worth showing.
    var timeLeft: Duration? { remaining.flatMap { $0 > .zero ? $0 : nil } }

    var rateText: String? {
        wholeRate.flatMap { ByteCount(bytes: $0) }.map { "\($0)/s" }
    }
}

extension ExecutionState {
    /// Whether a log contains a line for it: the other states are short or have their own event.
    fileprivate var isWorthALine: Bool {
        switch self {
        case .transferring, .settling, .confirming: true
        case .queued, .seeking, .connecting, .authenticating, .inspecting, .acting, .starting,
            .interrupted, .ended:
            false
        }
    }
}

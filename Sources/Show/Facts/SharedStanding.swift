package import Base
import Store

/// The part of a rollout's state that concerns several gateways.
package struct SharedStanding: Sendable {
    /// A gateway's part in the rollout's present beginning.
    package struct Worker: Sendable {
        package let gateway: String
        /// Nil until it is reported.
        let run: RunName?
        let state: State
        /// When its run began, by the server's clock.
        let since: WallTime
        /// The time since its last sign of life.
        let silence: Duration
        /// Modules that it has the right to, and how many it can work with at the same time.
        let modules: Int
        let links: Int?
        /// The number of its results that are not reported yet.
        let unreported: Int
        /// How its run ended.
        let exitCode: Int?
        let reason: String

        package enum State: String, CaseIterable, Sendable {
            case working = "at-work"
            /// It finishes its work and begins nothing new.
            case draining
            /// It was silent for longer than a right lasts.
            case silent
            case ended
            /// Its process ended without signing off.
            case cutOff = "cut-off"

            /// As people read it.
            package var words: String {
                switch self {
                case .working: "at work"
                case .draining, .silent, .ended: rawValue
                case .cutOff: "cut off"
                }
            }
        }

        var isAtWork: Bool {
            switch state {
            case .working, .draining: true
            case .silent, .ended, .cutOff: false
            }
        }
    }

    /// The gateway that has the right to a vehicle's module.
    struct Holder: Sendable {
        let gateway: String
        let since: WallTime?
    }

    /// The gate's numbers over all gateways.
    struct Gate: Sendable {
        let attempted: Int
        let failed: Int
        let underWay: Int
        /// The most that may fail, in the plan's words; empty without a limit.
        let most: String
    }

    /// In the order in which their runs began.
    package var workers: [Worker] = []
    var holders: [VehicleID: Holder] = [:]
    /// What each vehicle without a verdict waits for.
    var waits: [VehicleID: String] = [:]
    var gate: Gate?
    /// Why the database grants no rights; nil when it does.
    var closed: String?
    /// Whether the user who asks may give people's requests, such as `resume`.
    var isOperator = true
    /// The vehicles of each wave that are among the executions.
    var waves: [[VehicleID]] = []
    /// The vehicles that are done and are not among them.
    var done: [FleetView.Done] = []
    /// When the rollout was begun.
    var begun: WallTime?

    init() {}

    var isAtWork: Bool { workers.contains(where: \.isAtWork) }
}

// MARK: For people

extension SharedStanding {
    /// The gateways, and why none gets a right; a line each.
    func lines(_ time: (WallTime) -> String) -> [String] {
        var lines = workers.map { $0.line(time) }
        if workers.isEmpty { lines.append("no gateway has worked on it since it was begun") }
        if let closed { lines.append("no right on a module is granted: \(closed)") }
        return lines
    }
}

extension SharedStanding.Worker {
    /// For lists of runs.
    var short: String {
        let name = run?.description ?? gateway.visible
        return switch state {
        case .working: "\(name) at work"
        case .draining: "\(name) begins nothing more"
        case .silent: "\(name) silent"
        case .ended: "\(name) " + (exitCode.map { "exit \($0)" } ?? "ended")
        case .cutOff: "\(name) cut off"
        }
    }

    fileprivate func line(_ time: (WallTime) -> String) -> String {
        "\(gateway.visible): \(words(time))"
    }

    private func words(_ time: (WallTime) -> String) -> String {
        let name = run.map { ", run \($0.number)" } ?? ""
        // A module that settles gives up its link, so there may be more modules than links.
        let load = counted(modules, "module")
        let work = "at work since \(time(since)) on \(load)\(name)"
        // It gives a sign of life every 15 seconds.
        let rest =
            (silence > .seconds(30) ? ", not heard for \(silence.brief)" : "")
            + (unreported > 0 ? ", \(unreported) to report" : "")
        switch state {
        case .working: return work + rest
        case .draining: return "begins nothing more, \(work)\(rest)"
        case .silent:
            return "silent for \(silence.brief)\(name)"
                + (modules > 0 ? "; it has the right to \(load)" : "")
        case .ended:
            let code = exitCode.map { "exit \($0): " } ?? ""
            return "ended\(name)" + (reason.isEmpty ? "" : ", \(code)\(reason.visible)")
        case .cutOff: return "was cut off\(name); its next run goes on where the modules stand"
        }
    }
}

extension SharedStanding.Gate {
    var sentence: String {
        "gate: \(failed) of \(attempted) attempted have failed"
            + (most.isEmpty ? "" : ", at most \(most.visible) may")
            + (underWay > 0 ? "; \(underWay) under way" : "")
    }
}

// MARK: For programs

extension SharedStanding.Worker.State: JSONDescribed {}

extension SharedStanding.Worker: JSONDescribed {
    private typealias Member = JSONForm<Self>.Member

    package static let jsonForm = JSONForm<Self>.object("Worker") {
        Member("gateway", \.gateway)
        Member(ifAny: "run", "The number of its run.") { $0.run?.number }
        Member("state", \.state)
        Member("since", "When its run began.", \.since)
        Member("silent-ms", "The time since its last sign of life.") {
            Int($0.silence.nanoseconds / 1_000_000)
        }
        Member("modules", "How many it has the right to.", \.modules)
        Member(ifAny: "links", "How many it can work with at the same time.", \.links)
        Member("unreported", "The number of its results that are not reported yet.", \.unreported)
        Member(ifAny: "exit", "How its run ended.", \.exitCode)
        Member("reason", "For people, why its run ended; else empty.", \.reason)
    }
}

extension SharedStanding.Gate: JSONDescribed {
    private typealias Member = JSONForm<Self>.Member

    static let jsonForm = JSONForm<Self>.object("Gate") {
        Member("attempted", "Since the last resume, over all gateways.", \.attempted)
        Member("failed", "Of them.", \.failed)
        Member("under-way", "Vehicles that have their place at the gate now.", \.underWay)
        Member(
            "most",
            "The most that may fail, as the plan writes it; empty without a limit.",
            \.most
        )
    }
}

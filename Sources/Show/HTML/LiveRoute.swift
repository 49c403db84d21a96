package import Base
package import Store

/// The subject of a request to `serve`: a page for people, a document for programs, or one of the
/// small parts.
package enum LiveRoute: Sendable, Equatable {
    case page(LiveSubject)
    case document(LiveSubject)
    /// The description of the interface for programs.
    case description
    /// Server-sent events, one for each change of the journal.
    case changes
    case health
    case metrics
    case style
    case script
    /// The person who has signed in; a form that is sent there signs in.
    case session
    /// A form that is sent there signs out.
    case leaving
    /// The form of a request before it is made; nil for the address that the form is sent to.
    case act(LiveAct?)
    /// The address for requests of programs.
    case requests

    /// Why there is nothing at an address.
    package enum Fault: Error, Sendable, Equatable {
        /// It is not an address.
        case target(LiveTarget.Fault)
        case unknown
        /// The address is known, but this name or value in its query is not.
        case query(String)
    }

    /// The number of days after which a vehicle counts as stale.
    package static let staleDays = 1...3_650
    /// The number of runs in a list.
    package static let runCount = 1...10_000
    /// The number of a run.
    package static let runNumber = 1...Int(Int32.max)

    package init(_ text: String) throws(Fault) {
        let target: LiveTarget
        do throws(LiveTarget.Fault) {
            target = try LiveTarget(text)
        } catch { throw .target(error) }
        var query = LiveQuery(target.query)
        switch target.words {
        case []: self = .page(.rollouts)
        case ["vehicles"]: self = .page(.vehicles(try query.filter()))
        case ["morning"]: self = .page(try query.morning())
        case ["history"]: self = .page(try query.history())
        case ["history", "run"]: self = .page(try query.run())
        case ["history", "compare"]: self = .page(try query.comparison())
        case ["trends"]: self = .page(try query.trends())
        case ["healthz"]: self = .health
        case ["metrics"]: self = .metrics
        case ["style.css"]: self = .style
        case ["script.js"]: self = .script
        case ["api", "v1", "status"]: self = .document(.rollout(query.take("rollout")))
        case ["api", "v1", "morning"]: self = .document(try query.morning())
        case ["api", "v1", "history"]: self = .document(try query.history())
        case ["api", "v1", "compare"]: self = .document(try query.comparison())
        case ["api", "v1", "openapi.json"]: self = .description
        case ["api", "v1", "changes"]: self = .changes
        case ["api", "v1", "requests"]: self = .requests
        case ["session"]: self = .session
        case ["session", "end"]: self = .leaving
        case ["act"]: self = .act(try query.act())
        default:
            let words = target.words
            if words.count == 2, words[0] == "rollouts" {
                self = .page(.rollout(words[1]))
            } else if words.count == 2, words[0] == "vehicles" {
                self = .page(.vehicle(try Self.vehicle(words[1])))
            } else if words.count == 4, words.starts(with: ["api", "v1", "vehicles"]) {
                self = .document(.vehicle(try Self.vehicle(words[3])))
            } else {
                throw .unknown
            }
        }
        // A client that uses an unknown parameter must not get an answer that ignores it.
        if let name = query.rest { throw .query(name) }
    }

    private static func vehicle(_ word: String) throws(Fault) -> VehicleID {
        guard let vehicle = VehicleID(word) else { throw .unknown }
        return vehicle
    }
}

/// A request before a person has confirmed it.
package struct LiveAct: Sendable, Equatable {
    package let verb: SteeringVerb
    package var rollout: String?
    package var vehicle: String?

    package init(_ verb: SteeringVerb, rollout: String? = nil, vehicle: String? = nil) {
        self.verb = verb
        self.rollout = rollout
        self.vehicle = vehicle
    }

    /// The purpose of its form, which may be used for nothing else.
    package var purpose: String { "\(verb.rawValue)\n\(rollout ?? "")\n\(vehicle ?? "")" }

    /// The address of the page that confirms it.
    var address: String {
        var parts = ["request=\(verb.rawValue)"]
        if let rollout { parts.append("rollout=\(LiveTarget.escaped(rollout))") }
        if let vehicle { parts.append("vehicle=\(LiveTarget.escaped(vehicle))") }
        return "/act?" + parts.joined(separator: "&")
    }
}

/// The subject of a page or document.
package enum LiveSubject: Sendable, Equatable {
    /// All of them, with the one that ran last.
    case rollouts
    /// One of them; nil for the one that ran last.
    case rollout(String?)
    case vehicles(LiveFilter)
    case vehicle(VehicleID)
    case morning(since: String?, days: Int)
    case history(rollout: String?, count: Int)
    /// One run, with what it did to each vehicle; as a page only.
    case run(RunWish)
    /// Two runs, compared.
    case comparison(before: Int, after: Int)
    /// The link figures of the last runs; as a page only.
    case trends(rollout: String?, count: Int)
}

/// The vehicles of a rollout that a page shows.
package struct LiveFilter: Sendable, Equatable {
    /// Nil for the rollout that ran last.
    package var rollout: String?
    /// Searched in ids, serials and labels.
    var text = ""
    /// An outcome or a state; empty for all.
    var state = ""
    /// Counted from 1.
    package var page = 1

    init() {}

    /// The number of rows that a phone can lay out quickly.
    static let pageSize = 250
}

/// The query of an address, from which each name is taken once.
private struct LiveQuery {
    private var values: [String: String]

    init(_ values: [String: String]) { self.values = values }

    /// Nil for a missing value, and for one that a form left empty.
    mutating func take(_ name: String) -> String? {
        guard let value = values.removeValue(forKey: name), !value.isEmpty else { return nil }
        return value
    }

    mutating func number(_ name: String, _ range: ClosedRange<Int>) throws(LiveRoute.Fault) -> Int?
    {
        guard let text = take(name) else { return nil }
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(text),
            range.contains(number)
        else { throw .query(name) }
        return number
    }

    mutating func filter() throws(LiveRoute.Fault) -> LiveFilter {
        var filter = LiveFilter()
        filter.rollout = take("rollout")
        filter.text = take("q") ?? ""
        filter.state = take("state") ?? ""
        filter.page = try number("page", 1...1_000_000) ?? 1
        return filter
    }

    mutating func morning() throws(LiveRoute.Fault) -> LiveSubject {
        .morning(since: take("since"), days: try number("days", LiveRoute.staleDays) ?? 7)
    }

    mutating func history() throws(LiveRoute.Fault) -> LiveSubject {
        .history(rollout: take("rollout"), count: try number("last", LiveRoute.runCount) ?? 20)
    }

    mutating func run() throws(LiveRoute.Fault) -> LiveSubject {
        guard let text = take("run"), let wish = try? RunWish(text) else { throw .query("run") }
        return .run(wish)
    }

    mutating func comparison() throws(LiveRoute.Fault) -> LiveSubject {
        guard let before = try number("before", LiveRoute.runNumber) else { throw .query("before") }
        guard let after = try number("after", LiveRoute.runNumber) else { throw .query("after") }
        return .comparison(before: before, after: after)
    }

    mutating func trends() throws(LiveRoute.Fault) -> LiveSubject {
        .trends(rollout: take("rollout"), count: try number("last", 1...60) ?? 20)
    }

    /// Nil without a query: this is the address that the form is sent to.
    mutating func act() throws(LiveRoute.Fault) -> LiveAct? {
        guard !values.isEmpty else { return nil }
        guard let verb = take("request").flatMap({ SteeringVerb(rawValue: $0) }) else {
            throw .query("request")
        }
        var act = LiveAct(verb)
        if verb.takesRollout { act.rollout = take("rollout") }
        if verb.takesVehicles { act.vehicle = take("vehicle") }
        return act
    }

    /// A name that was not taken.
    var rest: String? { values.keys.min() }
}

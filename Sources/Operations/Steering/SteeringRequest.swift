package import Base
package import Commands
package import Store

/// A person's request about rollouts or vehicles: from a command line, a page or a program.
package struct SteeringRequest: Sendable, Equatable {
    package let verb: SteeringVerb
    /// Nil means this machine's rollout: the one at work, else the one that ran last.
    package private(set) var rollout: String?
    /// The selections as they were given; none means all of the rollout, or the depot.
    package let vehicles: [VehicleSelection]
    /// Whether the whole depot is meant.
    let isAll: Bool
    let reason: String?
    /// How long its effect lasts; nil means until it is lifted.
    package let length: Duration?
    /// The person who made the request.
    let author: String

    package init(
        _ verb: SteeringVerb,
        rollout: String? = nil,
        vehicles: [VehicleSelection] = [],
        isAll: Bool = false,
        reason: String? = nil,
        length: Duration? = nil,
        author: String
    ) {
        self.verb = verb
        self.rollout = rollout
        self.vehicles = vehicles
        self.isAll = isAll
        self.reason = reason
        self.length = length
        self.author = author
    }

    /// Why it must not be carried out; nil when it is complete.
    ///
    /// Nobody stops or clears a whole depot by leaving a word out.
    package var fault: Fault? {
        guard verb.takesDepot else {
            return isAll ? Fault("'\(verb.rawValue)' takes no 'all'") : nil
        }
        if isAll {
            guard vehicles.isEmpty else { return Fault("it names vehicles, and 'all' besides") }
            guard verb != .inhibit || reason?.isEmpty == false else {
                return Fault("the whole depot is left alone only for a 'reason'")
            }
            return nil
        }
        guard vehicles.isEmpty else { return nil }
        return Fault(
            "'\(verb.rawValue)' names no vehicle; the whole depot is meant with 'all' only"
        )
    }

    /// The same request about this rollout.
    func naming(_ rollout: String) -> SteeringRequest {
        var request = self
        request.rollout = rollout
        return request
    }

    /// The vehicles that are named by their ids: only these answer a doubt.
    var named: [VehicleID] { vehicles.compactMap { VehicleID($0.text) } }

    /// Why a document or a form is no request.
    package struct Fault: Error, Sendable, Equatable, CustomStringConvertible {
        package let description: String

        init(_ description: String) { self.description = description }
    }

    /// Reads a program's document.
    package init(json document: JSONValue, author: String) throws(Fault) {
        guard let members = document.members else { throw Fault("it is no JSON object") }
        var fields: [String: String] = [:]
        var vehicles: [String] = []
        var isAll = false
        for member in members where member.value != .null {
            guard Self.members.contains(member.name) else {
                throw Fault(
                    "there is no member '\(member.name.visible)'; those known are "
                        + Self.members.joined(separator: ", ")
                )
            }
            if member.name == "vehicles" {
                guard let list = member.value.array, list.allSatisfy({ $0.string != nil }) else {
                    throw Fault("'vehicles' is no list of texts")
                }
                vehicles = list.compactMap(\.string)
                continue
            }
            if member.name == "all" {
                guard let bool = member.value.bool else {
                    throw Fault("'all' is not true or false")
                }
                isAll = bool
                continue
            }
            guard let text = member.value.string else {
                throw Fault("'\(member.name)' is no text")
            }
            fields[member.name] = text
        }
        try self.init(fields: fields, vehicles: vehicles, isAll: isAll, author: author)
    }

    /// Reads a form; empty fields count as missing.
    package init(form: [String: String], author: String) throws(Fault) {
        var fields = form.filter { !$0.value.isEmpty }
        let vehicle = fields.removeValue(forKey: "vehicle")
        let isAll = fields.removeValue(forKey: "all") == "yes"
        if let name = fields.keys.filter({ !Self.members.contains($0) }).min() {
            throw Fault("there is no field '\(name.visible)'")
        }
        try self.init(
            fields: fields,
            vehicles: vehicle.map { [$0] } ?? [],
            isAll: isAll,
            author: author
        )
    }

    private init(
        fields: [String: String],
        vehicles: [String],
        isAll: Bool,
        author: String
    ) throws(Fault) {
        guard let verb = fields["request"].flatMap({ SteeringVerb(rawValue: $0) }) else {
            throw Fault(
                "'request' must be one of "
                    + SteeringVerb.allCases.map(\.rawValue).joined(separator: ", ")
            )
        }
        func refuse(_ name: String, unless isTaken: Bool) throws(Fault) {
            guard isTaken || fields[name] == nil else {
                throw Fault("'\(verb.rawValue)' takes no '\(name)'")
            }
        }
        try refuse("rollout", unless: verb.takesRollout)
        try refuse("for", unless: verb.takesLength)
        guard verb.takesVehicles || vehicles.isEmpty else {
            throw Fault("'\(verb.rawValue)' takes no vehicles")
        }
        // These texts are shown to people and are parts of lines of text.
        for (name, text) in fields where !text.unicodeScalars.allSatisfy(Self.isShown) {
            throw Fault("'\(name)' holds control characters")
        }
        var selections: [VehicleSelection] = []
        for text in vehicles {
            guard let selection = VehicleSelection(text) else {
                throw Fault("'\(text.visible)' means no vehicle")
            }
            selections.append(selection)
        }
        var length: Duration?
        if let text = fields["for"] {
            guard let duration = Duration(text: text), duration > .zero else {
                throw Fault("'\(text.visible)' is no length of time such as 90m or 2d")
            }
            length = duration
        }
        self.init(
            verb,
            rollout: fields["rollout"],
            vehicles: selections,
            isAll: isAll,
            reason: fields["reason"],
            length: length,
            author: author
        )
        if let fault { throw fault }
    }

    private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value)
    }
}

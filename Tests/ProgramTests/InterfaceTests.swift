import Base
import Commands
import Foundation
import Operations
import Show
import Store
import Testing
import Workbench

/// The description of the interface agrees with the documents of the commands, which `serve` gives to programs.
@Suite struct InterfaceTests {
    @Test func `what serves and what prints give the same description`() throws {
        let program = try Program()
        let text = try program.run(["schema", "--api"]).output
        let serving = try Serving(program)
        let served = try serving.get("/api/v1/openapi.json")
        #expect(served.status == 200 && served.text == text)
        #expect(served.header("Content-Type") == "application/json")
    }

    @Test func `the description refers to all that it describes and to nothing else`() throws {
        let description = try InterfaceDescription()
        #expect(description.references == Set(description.schemas))
    }

    @Test func `the addresses are those that are served`() throws {
        for path in try InterfaceDescription().paths {
            let described = path.value.members?.first?.value["parameters"]?.array ?? []
            let asked = described.filter { $0["in"] == "query" }
            /// The address with its required parameters and this one.
            func address(_ name: String?, _ value: String) throws -> String {
                var query = name.map { ["\($0)=\(value)"] } ?? []
                for parameter in asked where parameter["required"] == true {
                    let other = try #require(parameter["name"]?.string)
                    if other != name { query.append("\(other)=1") }
                }
                return path.name.replacing("{id}", with: "bike-1")
                    + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
            }
            _ = try LiveRoute(try address(nil, ""))
            for parameter in asked {
                let name = try #require(parameter["name"]?.string)
                if parameter["required"] == true {
                    #expect(throws: LiveRoute.Fault.query(name)) {
                        try LiveRoute(try address(name, ""))
                    }
                }
                guard let least = parameter["schema"]?["minimum"]?.integer,
                    let most = parameter["schema"]?["maximum"]?.integer
                else {
                    _ = try LiveRoute(try address(name, "some"))
                    continue
                }
                for (number, isTaken) in [
                    (least, true), (most, true), (least - 1, false), (most + 1, false),
                ] {
                    let route = try? LiveRoute(try address(name, "\(number)"))
                    #expect((route != nil) == isTaken, "\(name)=\(number)")
                }
            }
            #expect(throws: LiveRoute.Fault.query("other")) {
                try LiveRoute(try address("other", "1"))
            }
        }
    }

    @Test func `a request is read as it is written`() throws {
        for verb in SteeringVerb.allCases {
            let vehicle = try #require(VehicleSelection("bike-1"))
            let request = SteeringRequest(
                verb,
                rollout: verb.takesRollout ? "june" : nil,
                vehicles: verb.takesVehicles ? [vehicle] : [],
                reason: "look",
                length: verb.takesLength ? .seconds(5_400) : nil,
                author: "anna"
            )
            #expect(try SteeringRequest(json: request.json, author: "anna") == request)
            guard verb.takesDepot else { continue }
            let depot = SteeringRequest(verb, isAll: true, reason: "survey", author: "anna")
            #expect(try SteeringRequest(json: depot.json, author: "anna") == depot)
        }
    }

    @Test func `requests are read as they are described`() throws {
        let description = try InterfaceDescription()
        let header = try #require(description.parameters(of: "/api/v1/requests", "post").first)
        #expect(header["name"]?.string == RequestKey.header && header["in"] == "header")
        #expect(header["schema"]?["pattern"] == .string(RequestKey.pattern))
        let longest = String(repeating: "~", count: 200)
        for (text, isKey) in [
            ("!", true), (longest, true), (longest + "~", false), ("", false), ("a b", false),
            ("\u{7F}", false), ("ä", false),
        ] {
            #expect((RequestKey(text, body: []) != nil) == isKey, "\(text)")
        }
        let request = description.schema("Request")
        let properties = request["properties"]?.members ?? []
        #expect(properties.map(\.name) == SteeringRequest.members)
        let verbs = SteeringVerb.allCases.map(\.rawValue)
        #expect(request["properties"]?["request"]?["enum"]?.array?.compactMap(\.string) == verbs)
        // Each member alone, in its described type and in another one.
        for verb in verbs {
            for property in properties where property.name != "request" {
                let isList = property.value["type"] == "array"
                let words: JSONValue = property.name == "for" ? "90m" : "some"
                for (value, isType) in [(words, !isList), (.array([words]), isList), (7, false)] {
                    let document = JSONValue.object([
                        JSONMember("request", .string(verb)), JSONMember(property.name, value),
                    ])
                    let read = try? SteeringRequest(json: document, author: "test")
                    #expect(read == nil || isType, "\(document.text)")
                }
            }
        }
    }

    /// What only answers for a fleet have: `FleetRunTests` holds those to the description.
    private let ofFleets =
        ["History", "Morning", "Status", "Vehicle"].map { $0 + ".source" }
        + [
            "Comparison.after.gateway", "Comparison.before.gateway", "History.runs[].gateway",
            "History.said[].gateway", "Morning.rollouts[].gateway", "Status.closed",
            "Status.debts[].gateway", "Status.debts[].seen-gateway", "Status.gate",
            "Status.gateway",
            "Status.gateways", "Status.gateways[]", "Status.rollouts[].gateway",
            "Status.rollouts[].own",
            "Status.said[].gateway", "Status.vehicles[].at-work", "Status.vehicles[].gateway",
            "Status.vehicles[].run", "Status.vehicles[].waits", "Vehicle.debts[].gateway",
            "Vehicle.debts[].seen-gateway", "Vehicle.rollouts[].at-work",
            "Vehicle.rollouts[].gateway",
        ]

    @Test func `the documents are as they are described`() throws {
        let description = try InterfaceDescription()
        let program = try Program()
        try program.copyDemo()
        var seen: Set<String> = []
        func check(_ name: String, _ words: String...) throws {
            let text = try program.run(words + ["--json", "--state", program.state]).output
            let value = try JSONValue(json: text)
            let faults = description.faults(value, description.schema(name), name, &seen)
            #expect(faults.isEmpty, "\(words): \(faults)")
        }
        try check("Failure", "status")
        _ = try program.run(program.demo("depot-troubled"))
        for words in [
            ["inhibit", "bike-03", "--reason", "painter", "--for", "9d"],
            ["pause", "--reason", "look"],
        ] {
            let result = try program.run(words + ["--state", program.state])
            #expect(result.status == 0, "\(result.errors)")
        }
        try check("Status", "status")
        try check("Morning", "morning")
        try check("Morning", "morning", "--since", "900d")
        try check("History", "history")
        let verbs = SteeringVerb.allCases.map(\.rawValue)
        let said = description.schema("Saying")["properties"]?["request"]?["enum"]?.array
        #expect(said?.compactMap(\.string) == verbs)
        for vehicle in ["bike-03", "bike-12", "bike-13", "bike-14"] {
            try check("Vehicle", "show", vehicle)
        }
        try check("Failure", "show", "bike-99")
        for words in [
            ["resume"], ["abort"], ["retry", "bike-99"], ["inhibit", "bike-03"],
            ["uninhibit", "bike-03"], ["clear", "--all"], ["pause"],
        ] {
            let text = try program.run(words + ["--json", "--state", program.state]).output
            let value = try JSONValue(json: text)
            let name = value["error"] == nil ? "Answer" : "Failure"
            let faults = description.faults(value, description.schema(name), name, &seen)
            #expect(faults.isEmpty, "\(words): \(faults)")
        }
        // A second night without problems.
        #expect(try program.run(["resume", "--state", program.state]).status == 0)
        _ = try program.run(program.demo("depot", "--again", "--limit", "bike-1*"))
        try check("Comparison", "history", "compare", "1", "2")
        // The other direction: every described member is in an answer, except those that this night
        // cannot have.
        let absent =
            [
                "Morning.stale[]", "Morning.tasks[].bay", "Status.approved-by",
                "Status.approved-by[]", "Status.closes", "Status.doubts[]", "Status.expected-end",
                "Status.failures[]",
                "Status.next-deadline", "Status.openings", "Status.openings[]", "Status.owed[]",
                "Status.recalled", "Status.recalled[]",
                "Status.requests[]", "Status.soaks-until", "Status.waits-until",
                "Status.vehicles[].next-deadline", "Vehicle.doubts[]", "Vehicle.failures[]",
                "Vehicle.inventory", "Vehicle.owed[]",
            ] + ofFleets
        func isAbsent(_ place: String) -> Bool {
            absent.contains { place == $0 || place.hasPrefix($0 + ".") }
        }
        let described = [
            "Answer", "Comparison", "Failure", "History", "Morning", "Status", "Vehicle",
        ]
        .reduce(into: Set<String>()) {
            $0.formUnion(description.places(description.schema($1), $1))
        }
        let unseen = described.subtracting(seen).filter { !isAbsent($0) }
        #expect(unseen.isEmpty, "\(unseen.sorted())")
        // No exception is listed for a member that is there.
        let excused = seen.filter(isAbsent)
        #expect(excused.isEmpty, "\(excused.sorted())")
    }
}

import Base
import Testing

/// The output of a form, and its description.
@Suite struct JSONFormTests {
    private struct Bay: JSONDescribed {
        let number: Int
        let note: String?

        static let jsonForm = JSONForm<Self>.object("Bay", "Where a vehicle stands.") {
            JSONForm.Member("number", "From the gate on.", \.number)
            JSONForm.Member(ifAny: "note", \.note)
        }
    }

    private enum Light: String, CaseIterable, JSONDescribed { case red, green }

    private struct Depot: JSONDescribed {
        let bays: [Bay]
        let best: Bay
        let limit: Int?
        let spare: Bay?
        let light: Light
        let labels: [(name: String, text: String)]

        static let jsonForm = JSONForm<Self>.object {
            Member.version
            Member("bays", \.bays)
            Member("best", "The nearest.", \.best)
            Member("limit", as: Int.jsonForm.orNull, \.limit)
            Member("spare", as: Bay.jsonForm.orNull, \.spare)
            Member("light", \.light)
            Member("labels", as: .texts { $0 }, \.labels)
            JSONForm<Bay>.Member("size", \.number).inside(\.best)
        }

        typealias Member = JSONForm<Self>.Member
    }

    private let depot = Depot(
        bays: [Bay(number: 1, note: nil), Bay(number: 2, note: "wet")],
        best: Bay(number: 7, note: nil),
        limit: nil,
        spare: nil,
        light: .green,
        labels: [(name: "gate", text: "north")]
    )

    @Test
    func `members stand in the order of the list, and those with nothing to say are left out`()
        throws
    {
        #expect(
            depot.json.text
                == #"{"schema":1,"bays":[{"number":1},{"number":2,"note":"wet"}],"#
                + #""best":{"number":7},"limit":null,"spare":null,"light":"green","#
                + #""labels":{"gate":"north"},"size":7}"#
        )
    }

    @Test func `a schema says of each member what the writer writes`() throws {
        let schema = Depot.jsonForm.schema
        let properties = try #require(schema["properties"])
        let bay = ##"{"$ref":"#/components/schemas/Bay"}"##
        #expect(properties["schema"]?.text == #"{"const":1}"#)
        #expect(properties["bays"]?.text == #"{"type":"array","items":\#(bay)}"#)
        #expect(properties["best"]?["description"] == "The nearest.")
        #expect(properties["limit"]?.text == #"{"type":["integer","null"]}"#)
        #expect(properties["spare"]?.text == #"{"anyOf":[\#(bay),{"type":"null"}]}"#)
        #expect(properties["light"]?.text == #"{"type":"string","enum":["red","green"]}"#)
        #expect(
            properties["labels"]?.text
                == #"{"type":"object","additionalProperties":{"type":"string"}}"#
        )
        let written = depot.json.members?.map(\.name)
        #expect(schema["required"]?.array?.compactMap(\.string) == written)
        #expect(schema["additionalProperties"] == false)
    }

    @Test func `a form with a name is described once, and what may be absent is not required`() {
        let named = Depot.jsonForm.named
        #expect(Set(named.map(\.name)) == ["Bay"])
        #expect(Set(named.map(\.value.text)).count == 1)
        #expect(named.first?.value["required"]?.text == #"["number"]"#)
    }

    @Test func `indented text says the same with a line for each part`() throws {
        let value = JSONValue.object([
            "a": .array([]), "b": .array([1, .object(["c": "\n"])]), "d": .object([]),
        ])
        #expect(
            value.indented == """
                {
                  "a": [],
                  "b": [
                    1,
                    {
                      "c": "\\n"
                    }
                  ],
                  "d": {}
                }

                """
        )
        #expect(try JSONValue(json: value.indented) == value)
    }
}

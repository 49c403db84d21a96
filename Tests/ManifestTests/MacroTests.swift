import Base
import Families
import Manifest
import Testing

/// Named steps, and preconditions that are not properties.
@Suite struct MacroTests {
    private func plan(_ steps: String, _ rest: String = "") throws -> FrozenPlan {
        let (plan, diagnostics) = try Sample.read(Sample.small(rest, steps: steps))
        return try #require(plan, "\(diagnostics)")
    }

    private static let macros = """
        macros:
          close-up:
            - set: {lights: disabled}
            - command: lock
          look: [{read: odometer}]

        """

    @Test func `a macro stands for its steps, wherever it is used`() throws {
        let plan = try plan(
            "[{use: look}, {use: close-up}, {wait: 5s}, {use: look}]",
            Self.macros + "always: [{use: close-up}]\n"
        )
        let actions = plan.vehicles[0].steps.map(\.action)
        #expect(
            actions == [
                .read(["odometer"]), .set([Assignment("lights", Literal("disabled"))]),
                .command([.lock]), .wait(.seconds(5)), .read(["odometer"]),
            ]
        )
        #expect(plan.always.map(\.action) == Array(actions[1...2]))
    }

    @Test func `a macro in a cell is one like any other step`() throws {
        let fleet = """
            id,serial,family,profile,secret,depot,steps
            EE-1,00112233445566aa,comodule,,file:k,tallinn-1,use: look
            EE-2,00112233445566ab,comodule,,file:k,tallinn-1,"wait: 1s; use: close-up; use: look"
            EE-3,00112233445566ac,comodule,,file:k,tallinn-1,"[{use: close-up}]"

            """
        let (plan, diagnostics) = try Sample.read(Self.macros + Sample.manifest, fleet: fleet)
        let vehicles = try #require(plan, "\(diagnostics)").vehicles
        #expect(vehicles.map(\.steps.count) == [1, 4, 2])
        #expect(vehicles[2].steps[1].action == .command([.lock]))
    }

    @Test func `steps have the same digest under a name and without`() throws {
        let named = try plan("[{use: look}, {use: close-up}]", Self.macros)
        let plain = try plan("[{read: odometer}, {set: {lights: disabled}}, {command: lock}]")
        #expect(named.digest == plain.digest)
    }

    @Test(
        arguments: [
            ("[{use: lok}]", macros, "3:15: error: no macro is named `lok`"),
            ("[{use: look}]", "", "3:15: error: no macro is named `look`"),
            ("[{use: look, wait: 5s}]", macros, "3:21: error: `wait` beside `use`"),
            ("[{use: Look}]", macros, "3:15: error: `Look` is not a name"),
            (
                "[{wait: 1s}]", "macros: {a: [{use: b}], b: [{wait: 1s}]}\n",
                "4:20: error: a macro cannot use another one"
            ),
            ("[{wait: 1s}]", "macros: {a: []}\n", "4:13: error: the list of steps is empty"),
            (
                "[{wait: 1s}]", "macros: {A: [{wait: 1s}]}\n", "4:10: error: `A` is not a name"
            ),
            (
                "[{wait: 1s}]",
                "macros: {a: [{require: {speed: 0}}]}\nalways: [{use: a}]\n",
                "5:16: error: the macro `a` has `update` or `require`, which is not allowed under "
                    + "`always`"
            ),
            (
                "[{wait: 1s}]", "macros: {a: [{comand: lock}]}\n",
                "4:15: error: unknown key `comand` in a step"
            ),
        ]
    ) func `a macro that makes no sense is reported with its place`(
        steps: String,
        rest: String,
        words: String
    ) throws {
        let (plan, diagnostics) = try Sample.read(Sample.small(rest, steps: steps))
        #expect(plan == nil)
        #expect(
            diagnostics.first?.description.hasPrefix("depot/m.yaml:" + words) == true,
            "\(diagnostics.map(\.description))"
        )
    }

    // MARK: Labels in preconditions

    private func digest(_ requirement: String, fleet: String) throws -> FrozenPlan {
        let manifest = Sample.manifest.replacing("speed: \"== 0\"", with: requirement)
        let (plan, diagnostics) = try Sample.read(manifest, fleet: fleet)
        return try #require(plan, "\(diagnostics)")
    }

    @Test func `a label that is required decides about the digest, and others do not`() throws {
        let held = Sample.fleet.replacing("secret,depot", with: "secret,depot,hold")
            .replacing("tallinn-1\n", with: "tallinn-1,yes\n").replacing(
                "tartu\n",
                with: "tartu,\n"
            )
        let free = held.replacing("tallinn-1,yes\n", with: "tallinn-1,no\n")
        let asked = "label.hold: \"!= yes\""
        #expect(try digest(asked, fleet: held).digest != digest(asked, fleet: free).digest)
        let other = "speed: \"== 1\""
        #expect(try digest(other, fleet: held).digest == digest(other, fleet: free).digest)
    }

    @Test func `vehicles that are opened without a bond are warned about once`() throws {
        func warnings(_ row: String) throws -> [String] {
            let manifest = """
                name: open
                vehicles:
                  - {id: car-1, serial: G9-1, family: geotab-go\(row)}
                  - {id: car-2, serial: G9-2, family: geotab-go, pairing: passkey,
                    passkey: "file:keys/2"}
                steps: [{command: unlock-all}]
                always: [{command: lock}]

                """
            return try Sample.read(manifest).diagnostics.map(\.description)
        }
        let told = try warnings("")
        #expect(
            told.count { $0.contains("warning: the vehicle `car-1` is opened over a link") } == 1
        )
        #expect(!told.contains { $0.contains("car-2") }, "\(told)")
        let bonded = try warnings(", pairing: passkey, passkey: \"file:keys/1\"")
        #expect(!bonded.contains { $0.contains("is opened over a link") }, "\(bonded)")
    }

    @Test func `a required label that no list knows is refused`() throws {
        let (plan, diagnostics) = try Sample.read(
            Sample.manifest.replacing("speed: \"== 0\"", with: "label.depto: tallinn-1")
        )
        #expect(plan == nil)
        #expect(
            diagnostics.contains {
                $0.description.contains("error: no vehicle here has the label `depto`")
                    && $0.description.contains("did you mean `depot`?")
            },
            "\(diagnostics.map(\.description))"
        )
    }

    @Test func `a required label may have no value today`() throws {
        let fleet = Sample.fleet.split(separator: "\n")
            .map { $0 + ($0.hasPrefix("id,") ? ",hold" : ",") }.joined(separator: "\n")
        let manifest = Sample.manifest.replacing("speed: \"== 0\"", with: "label.hold: \"!= yes\"")
        let (plan, diagnostics) = try Sample.read(manifest, fleet: fleet)
        #expect(plan?.vehicles.count == 2, "\(diagnostics.map(\.description))")
        #expect(try Sample.read(manifest).plan == nil)
    }
}

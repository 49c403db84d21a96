import Base
import Manifest
import Testing

/// The window of a manifest: openings, freezes, times by label, and what they do to the digest.
@Suite struct WindowReadingTests {
    private static let fleet = """
        vehicles:
          - {id: a, serial: 00112233445566aa, family: comodule, depot: north}
          - {id: b, serial: 00112233445566ab, family: comodule, depot: south}
          - {id: c, serial: 00112233445566ac, family: comodule}
        """

    private func read(_ window: String) throws -> (plan: FrozenPlan?, diagnostics: [Diagnostic]) {
        try Sample.read(
            "name: small\n\(Self.fleet)\nsteps: [{command: lock}]\nrollout: {window: \(window)}\n"
        )
    }

    private func plan(_ window: String) throws -> FrozenPlan {
        let (plan, diagnostics) = try read(window)
        return try #require(plan, "\(diagnostics)")
    }

    @Test func `openings, freezes and times by label are read`() throws {
        let plan = try plan(
            "{open: [mon-thu 22:00-05:00, \"sat,sun 08:00-18:00\"], not: [12-20..01-06, last friday], "
                + "zone: Europe/Berlin, by: Depot, own: {north: 21:00-04:00}}"
        )
        let window = try #require(plan.rollout.window)
        #expect(
            window.openings.map(\.description) == ["mon-thu 22:00-05:00", "sat,sun 08:00-18:00"]
        )
        #expect(window.freezes.map(\.description) == ["12-20..01-06", "last fri"])
        #expect(plan.vehicles.map { window.openings(of: $0).count } == [1, 2, 2])
        #expect(window.openings(of: plan.vehicles[0]).map(\.description) == ["21:00-04:00"])
        #expect(window.openings(ofAny: plan.vehicles).count == 3)
        #expect(
            window.words == "mon-thu 22:00-05:00, sat,sun 08:00-18:00; depot north: 21:00-04:00, "
                + "not 12-20..01-06, last fri (Europe/Berlin)"
        )
    }

    @Test(arguments: [
        ("{open: tuse 22:00-05:00}", "`tuse 22:00-05:00` is not an opening: `tuse` is no day"),
        ("{open: [mon, 22:00-05:00]}", "`mon` is not an opening: it does not end with times"),
        ("{open: []}", "the list is empty"), ("{open: 1am-5am}", "`1am-5am` is not an opening"),
        ("{open: 22:00-05:00, not: [02-30]}", "`02-30` is not a rule for days: `02-30` is no date"),
        ("{open: 22:00-05:00, from: \"22:00\", for: 1h}", "`open` beside `from`"),
        ("{zone: Europe/Berlin}", "`window` says no time"),
        ("{from: \"22:00\"}", "`from` has a meaning only beside `for`"),
        ("{for: 2h}", "`for` has a meaning only beside `from`"),
        ("{open: 22:00-05:00, by: depot}", "`by` has a meaning only beside `own`"),
        ("{open: 22:00-05:00, own: {north: 21:00-04:00}}", "`own` has a meaning only beside `by`"),
        ("{open: 22:00-05:00, except: fri}", "unknown key `except` in `window`"),
        ("{opn: 22:00-05:00}", "unknown key `opn` in `window`"),
        ("22:00-05:00", "expected `window` as a map, found text"),
    ])
    func `a mistake in a window is one error with its place`(window: String, message: String) throws
    {
        let (plan, diagnostics) = try read(window)
        #expect(plan == nil)
        #expect(diagnostics.count == 1, "\(diagnostics)")
        let text = diagnostics.first?.description ?? ""
        #expect(text.contains(message), "\(text)")
        #expect(text.contains("m.yaml:7:") && text.contains("\n  hint: "), "\(text)")
    }

    @Test(arguments: [
        ("{open: 00:00-24:00}", "the window is open all day and has no effect"),
        (
            "{open: [mon 01:00-02:00, tue 01:00-02:00], not: [mon, tue-wed]}",
            ": `not` has each of its days"
        ),
        (
            "{open: 22:00-05:00, by: depot, own: {nroth: 21:00-04:00}}",
            "no vehicle here has depot `nroth`"
        ),
    ])
    func `a rule that never applies is a warning`(window: String, message: String) throws {
        let remarks = try plan(window).remarks
        #expect(remarks.count == 1 && remarks[0].description.contains(message), "\(remarks)")
    }

    @Test(arguments: ["{open: 22:00 for 7h}", "{open: [22:00 for 420m]}"])
    func `one opening of a length is the same plan as from and for`(window: String) throws {
        #expect(try plan(window).digest == plan("{from: \"22:00\", for: 7h}").digest)
    }

    @Test func `openings, freezes and the labels of times are parts of the digest`() throws {
        let windows = [
            "{from: \"22:00\", for: 7h}", "{open: 22:00-05:00}", "{open: mon-fri 22:00-05:00}",
            "{open: 22:00-05:00, not: fri}", "{from: \"22:00\", for: 7h, not: fri}",
            "{open: 22:00-05:00, by: depot, own: {north: 21:00-04:00}}",
            "{open: 22:00-05:00, by: depot, own: {south: 21:00-04:00}}",
        ]
        let plans = try windows.map { try plan($0) }
        #expect(Set(plans.map(\.digest)).count == windows.count)
        #expect(!plans[1].canonicalText.contains("north"))
        #expect(plans[5].canonicalText.contains(#"{"depot":"south"}"#))
        #expect(
            plans[5].canonicalText.contains(
                #""window":{"open":["22:00-05:00"],"by":"depot","own":{"north":["21:00-04:00"]},"zone":"UTC"}"#
            )
        )
    }
}

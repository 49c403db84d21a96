import Base
import Manifest
import Testing

@Suite struct ManifestValueTests {
    @Test(arguments: [
        (">=", "40", "40", true), (">=", "40", "39.9", false), (">", "40", "40", false),
        ("<", "-1", "-2", true), ("<=", "4", "4.0", true), ("==", "40", "40.0", true),
        ("!=", "40", "41", true), ("==", "locked", "locked", true),
        ("==", "locked", "Locked", false),
        ("!=", "locked", "open", true), (">=", "4.8.0", "4.12.0", true),
        ("<", "4.8.0", "4.12.0", false),
        ("==", "4.12", "4.12.0", true), (">=", "4.12", "4.12.1", true),
        (">=", "40", "unknown", false),
        ("!=", "40", "unknown", true), ("==", "40", "unknown", false),
    ])
    func `a condition holds or not`(
        comparison: String,
        operand: String,
        value: String,
        holds: Bool
    ) throws {
        let comparison = try #require(Condition.Operator(rawValue: comparison))
        let condition = try #require(Condition(comparison, Literal(operand)))
        #expect(condition.holds(for: Literal(value)) == holds)
    }

    @Test func `words have no order`() {
        #expect(Condition(.atLeast, Literal("locked")) == nil)
        #expect(Condition(.notEqual, Literal("locked")) != nil)
    }

    @Test(arguments: [
        ("40", "40"), ("40.0", "40"), ("-0", "0"), ("0x10", "0x10"), ("1e5", "1e5"), ("on", "on"),
        ("007", "7"), ("2.50", "2.5"), ("nan", "nan"), ("inf", "inf"), ("+5", "5"),
        ("1.2.3", "1.2.3"),
        ("12345678901234567890", "12345678901234567890"),
    ])
    func `numbers are spelled in one way`(text: String, spelled: String) {
        #expect(Literal(text).text == spelled)
    }

    @Test func `a gate trips when its limit is exceeded`() throws {
        let count = PauseRule(failed: .count(1), atLeast: 1)
        #expect(!count.trips(failed: 1, attempted: 1))
        #expect(count.trips(failed: 2, attempted: 2))
        let share = PauseRule(failed: .percent(try #require(Percent("5%"))), atLeast: 10)
        #expect(!share.trips(failed: 9, attempted: 9))
        #expect(share.trips(failed: 1, attempted: 10))
        #expect(!share.trips(failed: 1, attempted: 20))
        #expect(share.trips(failed: 2, attempted: 39))
    }

    @Test(arguments: [
        ("00:00", 0), ("23:59", 1_439), ("01:00", 60), ("24:00", nil), ("1:00", nil),
        ("01:60", nil),
        ("0100", nil), ("01-00", nil), ("", nil), ("-1:00", nil),
    ])
    func `a time of day is read`(text: String, minutes: Int?) {
        let time = TimeOfDay(text)
        #expect(time?.minutes == minutes)
        if let time { #expect(time.description == text) }
    }

    @Test(arguments: [
        ("1am", "01:00"), ("\"9pm\"", "21:00"), ("1:00am", "01:00"), ("'9:30 PM'", "21:30"),
        ("12am", "00:00"), ("12pm", "12:00"), ("\"13pm\"", "01:00"), ("\"am\"", "01:00"),
        ("\"1:60am\"", "01:00"), ("\"1:2:3am\"", "01:00"), ("\"::am\"", "01:00"),
    ])
    func `a time of day with am or pm is answered with the time that is meant`(
        text: String,
        time: String
    ) throws {
        let manifest = Sample.small("rollout: {window: {from: \(text), for: 4h}}\n")
        let errors = try Sample.read(manifest).diagnostics.map(\.description)
        #expect(errors.count == 1 && errors[0].contains("is not a time of day"), "\(errors)")
        #expect(errors.first?.hasSuffix("\"\(time)\"") == true, "\(errors)")
    }

    @Test(arguments: [("m.yaml", ""), ("a/m.yaml", "a"), ("/m.yaml", "/"), ("/a/b/m.yaml", "/a/b")])
    func `a manifest's directory is known`(path: String, directory: String) {
        #expect(FileReference.directory(of: path) == directory)
    }

    @Test func `a file is found beside the manifest`() {
        #expect(FileReference("k", relativeTo: "").path == "k")
        #expect(FileReference("k", relativeTo: "a").path == "a/k")
        #expect(FileReference("/k", relativeTo: "a").path == "/k")
        #expect(FileReference("k", relativeTo: "/").path == "/k")
    }
}

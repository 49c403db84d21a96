import Base
import Families
import Foundation
import Radio
import Testing

/// Profiles as files: shipped ones, invalid ones, and those of the operator.
@Suite struct ProfileTests {
    @Test func `what is shipped has no mistakes and no warnings`() {
        for (name, bytes) in FamilyRegistry.profiles {
            let diagnostics = Diagnostics()
            #expect(Profile.parse(bytes, file: name, diagnostics) != nil)
            #expect(diagnostics.list.isEmpty, "\(diagnostics.list)")
        }
        let names = ProfileLibrary.shipped.all.map { "\($0.family.rawValue)/\($0.name)" }
        #expect(
            names == [
                "comodule/ebike-display", "comodule/generic", "esp/generic", "geotab-go/generic",
                "lrdevice/generic", "mcumgr/generic", "nordic/generic", "nordic/legacy",
            ]
        )
    }

    @Test func `every family has a generic profile`() {
        for family in FamilyRegistry.families {
            let profile = ProfileLibrary.shipped.profile(Profile.generic, of: family)
            #expect(profile?.family == family)
            #expect(profile?.title.isEmpty == false && profile?.basis.isEmpty == false)
        }
    }

    @Test func `what is in the program is what is in the files`() throws {
        let families = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/Families")
        let files = try FileManager.default.subpathsOfDirectory(atPath: families.path)
            .filter { $0.hasSuffix(".yaml") }.map { families.appending(path: $0) }
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
        #expect(files.map(\.lastPathComponent) == FamilyRegistry.profiles.map(\.name))
        for (file, (_, bytes)) in zip(files, FamilyRegistry.profiles) {
            #expect(try Data(contentsOf: file) == Data(bytes))
        }
    }

    @Test func `the layout of third parties says that it is theirs`() throws {
        let profile = try #require(ProfileLibrary.shipped.profile("ebike-display", of: .comodule))
        #expect(profile.basis.contains("third-party"))
        #expect(
            profile.propertyNames == [
                "assist", "clock", "clock_zone", "lights", "mode",
                "odometer", "walk",
            ]
        )
    }

    // MARK: Mistakes

    private static let good = """
        profile: mine
        family: comodule
        title: Mine
        known-from: my own module
        advertisement: {company: "020f", serial: {in: manufacturer-data, length: 8}}
        gatt:
          metrics:
            service: 00001554-1212-efde-1523-785feabcd123
            notifier: 0000155e-1212-efde-1523-785feabcd123
            register: 0000155f-1212-efde-1523-785feabcd123
            selector: 00001564-1212-efde-1523-785feabcd123
          security:
            service: 00002554-1212-efde-1523-785feabcd123
            key: 00002555-1212-efde-1523-785feabcd123
            challenge: 00002556-1212-efde-1523-785feabcd123
            response: 00002557-1212-efde-1523-785feabcd123
            authenticated: 00002558-1212-efde-1523-785feabcd123
        authentication: challenge-response
        properties:

        """

    static func read(_ text: String) -> (Profile?, [Diagnostic]) {
        let diagnostics = Diagnostics()
        let profile = Profile.parse(Array(text.utf8), file: "p.yaml", diagnostics)
        return (profile, diagnostics.list)
    }

    private static func read(properties: String) -> (Profile?, [Diagnostic]) {
        read(good + properties.split(separator: "\n").map { "  \($0)\n" }.joined())
    }

    @Test func `a profile with ten mistakes has ten errors, each at its place`() {
        let text = """
            profile: My Own
            family: comodul
            known-from: a guess
            advertisement: {company: 20f, serial: {in: manufacturer-data, length: 80}}
            gatt: {}
            authentication: challenge
            properties:
              - {name: speed, type: rang, access: read-only, read: {register: "0201", at: 2, bytes: 2}}
              - {name: 2fast, type: states, access: read-only, states: {on: 1},
                 read: {register: "0201", at: 2, bytes: 1}}
              - {name: a, type: raw, access: read-only, read: {register: "0201", at: 8, bytes: 4}}
            colour: blue

            """
        let (profile, list) = Self.read(text)
        #expect(profile == nil)
        #expect(
            list.map(\.description.firstLine)
                == [
                    "p.yaml:1:1: error: a profile needs the key `title`",
                    "p.yaml:1:10: error: `My Own` is no name of a profile",
                    "p.yaml:2:9: error: `comodul` is not a word known here",
                    "p.yaml:4:26: error: expected 4 hex digits, found `20f`",
                    "p.yaml:4:71: error: 80 is out of range",
                    "p.yaml:6:17: error: `challenge` is not a word known here",
                    "p.yaml:8:25: error: `rang` is not a word known here",
                    "p.yaml:9:12: error: `2fast` is no name",
                    "p.yaml:11:70: error: 4 bytes from 8 on go beyond the record's 10",
                    "p.yaml:12:1: error: unknown key `colour` in a profile",
                ].map(\.firstLine)
        )
        #expect(list.allSatisfy { $0.hint?.isEmpty == false })
        #expect(list[2].hint == "did you mean `comodule`?")
        #expect(list[6].hint == "did you mean `range`?")
    }

    @Test(arguments: [
        (
            "- {name: a, type: range, access: read-write, read: {register: 0201, at: 2, bytes: 1}}",
            "a property that is `read-write` needs the key `write`"
        ),
        (
            "- {name: a, type: range, access: read-only, read: {register: '0201', at: 2, bytes: 1}, "
                + "write: {register: '0201', at: 2, bytes: 1, limits: [0, 1]}}",
            "a property that is `read-only` has no `write`"
        ),
        (
            "- {name: a, type: range, access: write-only, "
                + "write: {register: '0201', at: 2, bytes: 1, limits: [0, 300]}}",
            "300 does not fit into 1 byte at this scale"
        ),
        (
            "- {name: a, type: range, access: write-only, "
                + "write: {register: '0201', at: 2, bytes: 1, limits: [-1, 3]}}",
            "-1 does not fit into 1 byte at this scale"
        ),
        (
            "- {name: a, type: range, scale: 0.5, access: write-only, "
                + "write: {register: '0201', at: 2, bytes: 1, limits: [0, 10], step: 0.2}}",
            "the step is finer than the register, which knows 0.5"
        ),
        (
            "- {name: a, type: range, access: write-only, "
                + "write: {register: '0201', at: 2, bytes: 1, limits: [0, 10], step: 0}}",
            "a step must be more than 0"
        ),
        (
            "- {name: a, type: range, access: write-only, "
                + "write: {register: '0201', at: 2, bytes: 1, limits: [0, 10], default: 11}}",
            "the default 11 may not be written"
        ),
        (
            "- {name: a, type: range, scale: 0, access: read-only, "
                + "read: {register: '0201', at: 2, bytes: 1}}",
            "a scale of 0 gives every reading the same value"
        ),
        (
            "- {name: a, type: range, limits: [9, 1], access: read-only, "
                + "read: {register: '0201', at: 2, bytes: 1}}",
            "the lower limit comes first"
        ),
        (
            "- {name: a, type: range, limits: [1], access: read-only, "
                + "read: {register: '0201', at: 2, bytes: 1}}",
            "limits are two numbers, here are 1"
        ),
        (
            "- {name: a, type: range, access: read-only, "
                + "read: {register: '0201', at: 2, bytes: 5}}",
            "5 is out of range"
        ),
        (
            "- {name: a, type: range, access: read-only, read: {register: '0201', at: 1, bytes: 1}}",
            "1 is out of range"
        ),
        (
            "- {name: a, type: states, states: {on: 1, off: 1}, access: read-only, "
                + "read: {register: '0201', at: 2, bytes: 1}}",
            "1 is `on` already"
        ),
        (
            "- {name: a, type: states, states: {on: 256}, access: read-only, "
                + "read: {register: '0201', at: 2, bytes: 1}}",
            "256 is out of range"
        ),
        (
            "- {name: a, type: states, states: {unknown: 1}, access: read-only, "
                + "read: {register: '0201', at: 2, bytes: 1}}",
            "`unknown` stands for what has no name"
        ),
        (
            "- {name: a, type: states, states: {on: 1}, access: write-only, "
                + "write: {register: '0201', at: 2, bytes: 1, default: onn}}",
            "the default `onn` is not one of the states"
        ),
        (
            "- {name: a, type: states, states: {on: 1}, unit: volt, access: read-only, "
                + "read: {register: '0201', at: 2, bytes: 1}}",
            "only a range has a unit"
        ),
        (
            "- {name: a, type: states, states: {on: 1}, access: read-only, "
                + "read: {register: '0201', at: 2, bytes: 1, signed: true}}",
            "states have no sign"
        ),
        (
            "- {name: a, type: raw, access: read-write, "
                + "read: {register: '0201', at: 2, bytes: 2}, "
                + "write: {register: '0201', at: 2, bytes: 3}}",
            "it is read as 2 bytes and written as 3"
        ),
        (
            "- {name: a, type: raw, access: read-only, read: {register: 'xyzw', at: 2, bytes: 2}}",
            "expected 4 hex digits, found `xyzw`"
        ),
        (
            """
            - {name: a, type: raw, access: read-only, read: {register: "0201", at: 2, bytes: 2}}
            - {name: a, type: raw, access: read-only, read: {register: "0201", at: 2, bytes: 2}}
            """,
            "the property `a` is there twice, first at p.yaml:20:5"
        ),
        (
            "- {name: a, type: range, scale: 1e5, access: read-only, "
                + "read: {register: '0201', at: 2, bytes: 1}}",
            "expected a number, found `1e5`"
        ),
        ("- 17", "expected a property as a map, found a number"),
    ])
    func `each mistake in a property is one error with a hint`(
        properties: String,
        message: String
    ) throws {
        let (profile, list) = Self.read(properties: properties)
        #expect(profile == nil)
        #expect(list.map(\.message) == [message])
        #expect(try #require(list.first?.hint).isEmpty == false)
    }

    @Test(arguments: [
        ("family: comodule", "family: mcumgr", "the GATT numbers needs the key `management`"),
        ("company: \"020f\", ", "", "a serial in the manufacturer data needs the key `company`"),
        (
            "authentication: challenge-response", "authentication: token",
            "modules of family comodule do not know `token`"
        ),
        (
            "785feabcd123\n    authenticated", "785feabcd12\n    authenticated",
            "expected a UUID, found"
        ),
        (
            "    key: 00002555-1212-efde-1523-785feabcd123\n", "",
            "the security service needs the key `key`"
        ),
        ("in: manufacturer-data", "in: mind", "`mind` is not a word known here"),
    ])
    func `each mistake elsewhere is an error`(old: String, new: String, message: String) {
        #expect(Self.good.contains(old) || old.hasPrefix("785"))
        let text =
            Self.good.replacing(
                old.hasPrefix("785") ? "2557-1212-efde-1523-785feabcd123" : old,
                with: old.hasPrefix("785") ? "2557-1212-efde-1523-785feabcd12" : new
            ) + "  []\n"
        let (profile, list) = Self.read(text)
        #expect(profile == nil)
        #expect(list.contains { $0.message.hasPrefix(message) }, "\(list)")
    }

    @Test func `a name may be there once for each variant`() throws {
        let (read, list) = Self.read(
            properties: """
                - {name: a, type: range, access: read-only, read: {register: "0201", at: 2, bytes: 1}}
                - {name: a, variant: "7", type: raw, access: read-only,
                   read: {register: "0202", at: 2, bytes: 1}}
                - {name: b, variant: "8", type: raw, access: read-only,
                   read: {register: "0203", at: 2, bytes: 1}}
                """
        )
        let profile = try #require(read, "\(list)")
        #expect(profile.property("a")?.form.kind == .range)
        #expect(profile.property("a", variant: "7")?.form.kind == .raw)
        #expect(profile.property("a", variant: "8")?.form.kind == .range)
        #expect(profile.property("b") == nil)
        #expect(profile.properties(variant: "8").map(\.name) == ["a", "b"])
        #expect(profile.properties(variant: nil).map(\.name) == ["a"])
    }

    // MARK: The operator's folder

    private static func folder(_ files: [String: String]) throws -> String {
        let path = FileManager.default.temporaryDirectory
            .appending(path: "profiles-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        for (name, text) in files {
            try text.write(toFile: path + "/" + name, atomically: true, encoding: .utf8)
        }
        return path
    }

    @Test func `a file of the operator's is a new model, or takes the place of a shipped one`()
        throws
    {
        let generic = Self.good.replacing("profile: mine", with: "profile: generic")
        let folder = try Self.folder([
            "mine.yaml": Self.good + "  []\n", "other.yml": generic + "  []\n",
            "notes.txt": "not a profile", ".hidden.yaml": "::",
        ])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let diagnostics = Diagnostics()
        let library = try ProfileLibrary.shipped.adding(folder: folder, diagnostics)
        #expect(diagnostics.list.isEmpty)
        #expect(library.names(of: .comodule) == ["ebike-display", "generic", "mine"])
        #expect(library.profile("generic", of: .comodule)?.properties.isEmpty == true)
        #expect(throws: PropertyMistake.self) { try library.require("mein", of: .comodule) }
        do {
            _ = try library.require("mime", of: .comodule)
        } catch { #expect(error.hint == "did you mean `mine`?") }
    }

    @Test func `mistakes of all files are reported at once`() throws {
        let folder = try Self.folder([
            "a.yaml": Self.good + "  []\n", "b.yaml": Self.good + "  []\n",
            "c.yaml": "profile: x\n",
        ])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let diagnostics = Diagnostics()
        _ = try ProfileLibrary.shipped.adding(folder: folder, diagnostics)
        let messages = diagnostics.list.map(\.message)
        #expect(messages.contains("the profile comodule/mine is in a.yaml already"))
        #expect(messages.contains("a profile needs the key `family`"))
        #expect(throws: FileError.self) {
            try ProfileLibrary.shipped.adding(folder: folder + "/nowhere", diagnostics)
        }
    }

    @Test func `the worked example of the documents is a profile`() throws {
        let (_, bytes) = try #require(FamilyRegistry.profiles.first)
        let text = String(decoding: bytes, as: UTF8.self)
            .replacing("profile: ebike-display", with: "profile: ebike-display-2")
            .replacing("register: \"00d1\"", with: "register: \"00c1\"")
            .replacing(
                "properties:\n",
                with: """
                    properties:
                      - name: state_of_charge
                        type: range
                        unit: percent
                        access: read-only
                        limits: [0, 100]
                        read: {register: "0401", at: 5, bytes: 1}

                    """
            )
        let (read, list) = Self.read(text)
        let profile = try #require(read, "\(list)")
        #expect(profile.name == "ebike-display-2")
        #expect(profile.property("lights")?.target?.register == 0x00C1)
        let charge = try #require(profile.property("state_of_charge"))
        #expect(charge.value(in: [0, 0, 0, 81, 0, 0, 0, 0]) == .number(81))
        #expect(charge.value(in: [0, 0, 0, 255, 0, 0, 0, 0]) == .number(255))
    }

    // MARK: Times

    private static func shipped(
        _ file: String,
        limits: String
    ) throws -> (profile: Profile?, messages: [String]) {
        let shipped = try #require(FamilyRegistry.profiles.first { $0.name == file })
        let text = String(decoding: shipped.bytes, as: UTF8.self)
        let (profile, list) = read(text + "\nlimits: {\(limits)}\n")
        return (profile, list.map(\.message))
    }

    @Test func `the times of a profile are those of its uploads, too`() throws {
        let found = try Self.shipped(
            "mcumgr-generic.yaml",
            limits: "answer: 20s, first-byte: 200s, image-check: 90s"
        )
        let times = try #require(found.profile, "\(found.messages)").times
        #expect(
            times.upload
                == UploadTimes(answer: .seconds(20), erase: .seconds(200), check: .seconds(90))
        )
        let usual = try #require(SettleRules().map { UpdateLimits(settle: $0) })
        let limits = try #require(times.applied(to: usual))
        // The check comes after the last byte, and must not be taken for a stalled transfer.
        #expect(limits.opening == .seconds(200) && limits.stall == .seconds(90))
    }

    @Test func `a family has only the limits that mean something to it`() throws {
        let device = try Self.shipped(
            "geotab-go-generic.yaml",
            limits: "answer: 20s, arrival: 200s, handshake: 60s, result: 90s"
        )
        let times = try #require(device.profile, "\(device.messages)").times
        #expect(times.arrival == .seconds(200) && times.result == .seconds(90))
        for (file, limits, key) in [
            ("geotab-go-generic.yaml", "first-byte: 200s", "first-byte"),
            ("mcumgr-generic.yaml", "arrival: 200s", "arrival"),
        ] {
            let found = try Self.shipped(file, limits: limits)
            #expect(found.profile == nil || !found.messages.isEmpty)
            #expect(found.messages.contains { $0.contains("unknown key `\(key)`") }, "\(found)")
        }
    }

    // MARK: Features

    @Test(arguments: [
        ("led", "on", "01"), ("led", "off", "00"), ("lock", "unlocked", "01"),
        ("auto-lock", "5", "05"), ("name", "test", "74657374"), ("wifi", "a,b", "611f62"),
        ("reset", "on", ""),
    ])
    func `a feature makes its payload of a word`(name: String, word: String, hex: String) throws {
        let profile = try #require(ProfileLibrary.shipped.profile("generic", of: .lrdevice))
        let feature = try #require(profile.feature(name))
        #expect(Hex.text(try feature.payload(of: word)) == hex)
    }

    @Test(arguments: [
        ("led", "maybe"), ("lock", "open"), ("auto-lock", "256"), ("auto-lock", "-1"),
        ("name", ""), ("reset", "off"), ("wifi", ""),
    ])
    func `a feature refuses what it has no payload for`(name: String, word: String) throws {
        let profile = try #require(ProfileLibrary.shipped.profile("generic", of: .lrdevice))
        let feature = try #require(profile.feature(name))
        #expect(throws: PropertyMistake.self) { try feature.payload(of: word) }
    }

    // MARK: Steps

    @Test(arguments: [
        ("stte_of_charge", "did you mean `state_of_charge`?"),
        ("ligths", "did you mean `lights`?"), ("odometre", "did you mean `odometer`?"),
    ])
    func `a property that is not there has the nearest one named`(name: String, hint: String) {
        for check in [
            { try genericProfile.checkReadable(name) },
            { _ = try genericProfile.value(of: "1", for: name) },
            { _ = try genericProfile.test(name, .equal, "1") },
        ] as [() throws -> Void] {
            #expect(throws: PropertyMistake.self) { try check() }
            do { try check() } catch { #expect("\(error)".hasSuffix(hint)) }
        }
    }

    @Test(arguments: [
        ("lights", Comparison.above, "1", "`>` cannot compare `lights`, which is no number"),
        ("lights", .equal, "enbled", "`lights` has no state `enbled`"),
        ("speed", .equal, "fast", "`speed` takes a number"),
        ("motor_serial", .equal, "MS1", "`motor_serial` takes bytes"),
        (
            "clock", .equal, "1",
            "`clock` can be written and not read, so nothing can be required of it"
        ),
    ])
    func `a condition that makes no sense is refused`(
        name: String,
        comparison: Comparison,
        word: String,
        message: String
    ) {
        do {
            _ = try genericProfile.test(name, comparison, word)
            Issue.record("it was taken")
        } catch {
            #expect(error.message == message)
            #expect(!error.hint.isEmpty)
        }
    }

    @Test(arguments: [
        (Comparison.atLeast, "40", 40.0, true), (.atLeast, "40", 39.9, false),
        (.equal, "40", 40, true), (.equal, "40.0", 40, true), (.notEqual, "40", 40, false),
        (.above, "40", 40, false), (.above, "40", 40.1, true), (.atMost, "0", 0, true),
        (.below, "-3.5", -4, true),
    ])
    func `numbers are compared as numbers`(
        comparison: Comparison,
        word: String,
        value: Double,
        holds: Bool
    ) throws {
        let test = try genericProfile.test("speed", comparison, word)
        #expect(test.holds(for: .number(value)) == holds)
        #expect(!test.holds(for: .state("x")) || comparison == .notEqual)
    }
}

extension String {
    /// The first line of a message; the others may be worded differently by libraries.
    fileprivate var firstLine: String { split(separator: "\n").first.map(String.init) ?? self }
}

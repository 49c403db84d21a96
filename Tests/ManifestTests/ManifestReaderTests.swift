import Base
import Families
import Glibc
import Manifest
import Testing

@Suite struct ManifestReaderTests {
    @Test func `the manual's sample becomes a plan`() throws {
        let (read, diagnostics) = try Sample.read()
        #expect(diagnostics.isEmpty)
        let plan = try #require(read)
        #expect(plan.name == "tallinn-4.12")
        #expect(plan.vehicles.map(\.id.text) == ["EE-1", "EE-2"])
        #expect(plan.vehicles.map(\.profile) == ["generic", "city"])
        #expect(plan.vehicles[1].serial.text == "00112233445566ab")
        #expect(plan.vehicles[1].place.description == "depot/tallinn.csv:3:1")
        #expect(plan.vehicles[0].labels == [Label("depot", "tallinn-1")])
        #expect(
            plan.vehicles.map(\.secret) == [
                .file(FileReference("keys/ee-1", relativeTo: "depot")), .credential("ee-2"),
            ]
        )
        #expect(plan.images.count == 1)
        #expect(plan.image(named: "city-4.12")?.version == FirmwareVersion(4, 12))
        #expect(plan.images[0].source == .https("https://images.example/city-4.12.0.zip"))
        #expect(
            plan.images[0].fits
                == PlannedImage.Fits(family: Family(rawValue: "comodule"), type: 17, variant: 0)
        )
        let atLeast40 = try #require(Condition(.atLeast, Literal("40")))
        let zero = try #require(Condition(.equal, Literal("0")))
        #expect(
            plan.vehicles[0].steps.map(\.action) == [
                .require(
                    [
                        PropertyCondition("speed", zero),
                        PropertyCondition("state_of_charge", atLeast40),
                    ],
                    otherwise: .defer
                ),
                .update(
                    UpdateStep(
                        image: "city-4.12",
                        allowsDowngrade: false,
                        healthy: [],
                        within: .seconds(120)
                    )
                ),
                .set([Assignment("lights", Literal("disabled"))]),
                .command([.lock]),
            ]
        )
        #expect(plan.vehicles[0].steps[1].place.description == "depot/m.yaml:14:5")
        #expect(plan.always.map(\.action) == [.command([.lock])])
        let ten = try #require(Percent("10%"))
        let five = try #require(Percent("5%"))
        #expect(plan.rollout.waves == [.count(3), .percent(ten), .rest])
        #expect(plan.rollout.pause == PauseRule(failed: .percent(five), atLeast: 10))
        let opens = Opening(from: try #require(TimeOfDay("01:00")), .after(.seconds(14_400)))
        #expect(plan.rollout.window?.openings == [opens])
        #expect(plan.rollout.window?.zone == "Europe/Tallinn")
        #expect(plan.radio == RadioSettings(adapters: ["hci0"], linksPerAdapter: 1))
        #expect(plan.waveSizes == [2])
    }

    @Test func `what is left out has its default`() throws {
        let plan = try #require(try Sample.read(Sample.small()).plan)
        #expect(plan.rollout.waves == [.rest])
        #expect(plan.rollout.pause == nil)
        #expect(plan.rollout.window == nil)
        #expect(plan.rollout.retry == RetryPolicy(transient: 4, device: 1))
        #expect(
            plan.rollout.tolerance == Tolerance(unreachable: .count(0), deferred: .count(0))
        )
        #expect(plan.radio == RadioSettings(adapters: [], linksPerAdapter: 7))
        #expect(
            plan.settle
                == SettleSettings(
                    quiet: .seconds(20),
                    confirmGap: .seconds(2),
                    deadline: .seconds(600)
                )
        )
        #expect(plan.connect == ConnectSettings(timeout: .seconds(30), attempts: 4))
    }

    @Test func `JSON is read as YAML`() throws {
        let json = """
            {"name": "n", "vehicles": [{"id": "a", "serial": "00112233445566aa",
             "family": "comodule"}], "steps": [{"command": ["lock", "locate"]}],
             "rollout": {"waves": [1, "50%", "rest"]}}
            """
        let plan = try #require(try Sample.read(json).plan)
        #expect(plan.vehicles[0].steps.map(\.action) == [.command([.lock, .locate])])
    }

    @Test func `eleven mistakes are eleven errors, each with its place and a hint`() throws {
        let manifest = """
            name: Tallinn 4.12
            vehicles:
              form: tallinn.csv
            images:
              city-4.12:
                url: http://images.example/a.zip
                sha256: 0a0a
                version: 4.12
                fits: {family: comodul}
            steps:
              - update: {to: city-4.21}
              - command: unlok-all
              - wait: 30
              - lock
            radio: {links-per-adapter: 8}

            """
        let (plan, diagnostics) = try Sample.read(manifest)
        #expect(plan == nil)
        #expect(
            diagnostics.map(\.description) == [
                """
                depot/m.yaml:1:7: error: `Tallinn 4.12` is not a name
                  hint: 1 to 64 of a-z, 0-9, `.`, `_` and `-`; not `.` or `-` first
                """,
                """
                depot/m.yaml:3:3: error: unknown key `form` in `vehicles`
                  hint: did you mean `from`?
                """,
                """
                depot/m.yaml:6:10: error: `http://` is not encrypted
                  hint: use `https://`, or add `allow-http: true` to this image
                """,
                """
                depot/m.yaml:7:13: error: `0a0a` is not a SHA-256 digest
                  hint: 64 hex digits, as `sha256sum FILE` prints them
                """,
                """
                depot/m.yaml:8:14: error: a version must be quoted
                  hint: write "4.12": unquoted, 1.10 reads as 1.1
                """,
                """
                depot/m.yaml:9:20: error: `comodul` is not a word known here
                  hint: did you mean `comodule`?
                """,
                """
                depot/m.yaml:11:18: error: no image is named `city-4.21`
                  hint: did you mean `city-4.12`?
                """,
                """
                depot/m.yaml:12:14: error: `unlok-all` is not a command known here
                  hint: did you mean `unlock-all`?
                """,
                """
                depot/m.yaml:13:11: error: the duration has no unit
                  hint: did you mean `30s`? Units are ms, s, m, h, d
                """,
                """
                depot/m.yaml:14:5: error: expected a step as a map, found text
                  hint: did you mean `command: lock`?
                """,
                """
                depot/m.yaml:15:28: error: 8 is out of range
                  hint: write a number from 1 to 7
                """,
            ]
        )
    }

    /// Texts of manifests, each with the start of its only error.
    static let mistakes: [(String, String)] = [
        (Sample.small("nam: x\n"), "4:1: error: unknown key `nam` in the manifest"),
        (Sample.small("stepz: x\n"), "4:1: error: unknown key `stepz` in the manifest"),
        (Sample.small("settle: {quiet: 10m}\n"), "4:10: error: `settle` can never end well"),
        (
            Sample.small("settle: {quiet: 5s, deadline: 7s}\n"),
            "4:21: error: `settle` can never end well"
        ),
        (Sample.small("settle: {quiet: 20}\n"), "4:17: error: the duration has no unit"),
        (Sample.small("settle: [1]\n"), "4:9: error: expected `settle` as a map, found a list"),
        (Sample.small("connect: {attempts: 0}\n"), "4:21: error: 0 is out of range"),
        (Sample.small("connect: {attempts: \"4\"}\n"), "4:21: error: expected a whole number"),
        (Sample.small("connect: {timeout: 1h}\n"), "4:20: error: 1h is out of range"),
        (Sample.small("connect:\n"), "4:9: error: a value is missing"),
        (Sample.small("radio: {adapters: []}\n"), "the list of adapters is empty"),
        (
            Sample.small("radio: {adapters: [hci0, hci0]}\n"),
            "4:26: error: `hci0` occurs twice"
        ),
        (Sample.small("radio: {adapters: [wlan0]}\n"), "4:20: error: `wlan0` is not an adapter"),
        (
            Sample.small("radio: {adapters: [\"00:1A:7D:DA:71\"]}\n"),
            "4:20: error: `00:1A:7D:DA:71` is not an adapter"
        ),
        (Sample.small("rollout: {waves: []}\n"), "4:11: error: the list of waves is empty"),
        (Sample.small("rollout: {waves: [rest, 1]}\n"), "4:25: error: a wave after `rest`"),
        (Sample.small("rollout: {waves: [0]}\n"), "4:19: error: 0 is out of range"),
        (Sample.small("rollout: {waves: [0%]}\n"), "4:19: error: a wave of 0% has no vehicles"),
        (Sample.small("rollout: {waves: [101%]}\n"), "expected a percentage, found `101%`"),
        (Sample.small("rollout: {waves: [all]}\n"), "4:19: error: `all` is not a wave"),
        (Sample.small("rollout: {waves: 3}\n"), "4:18: error: expected a list of wave sizes"),
        (Sample.small("rollout: {pause-when: {at-least: 1}}\n"), "needs the key `failed`"),
        (Sample.small("rollout: {pause-when: {failed: -1}}\n"), "4:32: error: -1 is out of range"),
        (
            Sample.small("rollout: {window: {from: 01:00, for: 4h}}\n"),
            "4:26: error: a time of day must be quoted"
        ),
        (
            Sample.small("rollout: {window: {from: \"24:00\", for: 4h}}\n"),
            "`24:00` is not a time of day"
        ),
        (
            Sample.small("rollout: {window: {from: 1am, for: 4h}}\n"),
            "4:26: error: `1am` is not a time of day\n  hint: write \"01:00\""
        ),
        (
            Sample.small("rollout: {window: {from: \"01:00\", for: 25h}}\n"),
            "4:40: error: 25h is out of range"
        ),
        (
            Sample.small("rollout: {window: {from: \"01:00\", for: 1h, zone: ../x}}\n"),
            "`../x` is not a time zone"
        ),
        (Sample.small("rollout: {tolerate: {failed: 1}}\n"), "unknown key `failed` in `tolerate`"),
        (Sample.small("always: [{update: x}]\n"), "no image is named `x`"),
        (
            Sample.small("always: [{require: {a: 1}}]\n"),
            "4:11: error: `require` is not allowed under `always`"
        ),
        (Sample.small(steps: "[]"), "3:8: error: the list of steps is empty"),
        (Sample.small(steps: "{command: lock}"), "3:8: error: expected a list of steps"),
        (Sample.small(steps: "[{}]"), "3:9: error: the step has no action"),
        (Sample.small(steps: "[{otherwise: skip}]"), "`otherwise` has a meaning only beside"),
        (
            Sample.small(steps: "[{command: lock, otherwise: skip}]"),
            "3:25: error: `otherwise` has a meaning only beside `require`"
        ),
        (
            Sample.small(steps: "[{command: lock, wait: 1s}]"),
            "3:25: error: a second action in one step: `wait`"
        ),
        (Sample.small(steps: "[{comand: lock}]"), "3:10: error: unknown key `comand` in a step"),
        (Sample.small(steps: "[{command: []}]"), "3:19: error: the list is empty"),
        (Sample.small(steps: "[{command: [lock, 7]}]"), "3:26: error: `7` is not a command"),
        (Sample.small(steps: "[{require: {}}]"), "3:19: error: the map is empty"),
        (Sample.small(steps: "[{require: {a: \"> x\"}}]"), "3:23: error: `x` is no number"),
        (Sample.small(steps: "[{require: {a: \"> 40%\"}}]"), "3:23: error: `40%` is no number"),
        (Sample.small(steps: "[{require: {a: \"= 1\"}}]"), "3:23: error: `=` is not a comparison"),
        (
            Sample.small(steps: "[{require: {a: \">=\"}}]"),
            "3:23: error: the condition has no value"
        ),
        (Sample.small(steps: "[{require: {a: [1]}}]"), "3:23: error: expected a condition"),
        (
            Sample.small(steps: "[{require: {a: 1}, otherwise: stop}]"),
            "3:38: error: `stop` is not a word known here"
        ),
        (
            Sample.small(steps: "[{set: {9a: 1}}]"),
            "3:16: error: `9a` is not a property"
        ),
        (Sample.small(steps: "[{set: {a: }}]"), "error: a value is missing"),
        (Sample.small(steps: "[{read: []}]"), "3:16: error: the list is empty"),
        (Sample.small(steps: "[{wait: 2h}]"), "3:16: error: 2h is out of range"),
        (
            Sample.small(steps: "[{expect: {a: 1}, within: soon}]"),
            "3:34: error: expected a duration, found `soon`"
        ),
        ("name: a\nname: b\n", "2:1: error: the key `name` occurs twice"),
        ("[]", "1:1: error: expected the manifest as a map, found a list"),
        ("just text", "1:1: error: expected the manifest as a map, found text"),
        ("name: n\nvehicles: []\nsteps: [{wait: 1s}]\n", "2:11: error: the list of vehicles is"),
        ("name: n\nsteps: [{wait: 1s}]\n", "1:1: error: the manifest needs the key `vehicles`"),
        (
            "name: n\nvehicles: [{id: a, serial: 00112233445566aa, family: comodule}]\n",
            "2:1: error: there are no steps for 1 of 1 vehicles"
        ),
        ("name: \(String(repeating: "n", count: 65))\nvehicles: x\n", "is not a name"),
    ]

    @Test(arguments: mistakes)
    func `a mistake is an error at its place`(manifest: String, words: String) throws {
        let (plan, diagnostics) = try Sample.read(manifest)
        #expect(plan == nil)
        let errors = diagnostics.filter { $0.severity == .error }
        #expect(errors.contains { $0.description.contains(words) }, "\(errors)")
        #expect(errors.count <= 2, "\(errors)")
        #expect(errors.allSatisfy { $0.hint != nil }, "\(errors)")
    }

    @Test func `every way to write a step is read`() throws {
        let steps = """

              - require: {a: 1, b: locked, c: "!= x", d: "< -2.5", e: ">=4.8.0"}
                otherwise: warn
              - read: speed
              - read: [speed, lock.state]
              - expect: {a: true}
                within: 5s
              - expect: {a: "== 3"}
              - command: [unlock-all, secure-conditions-check]
              - feature: {led: on, level: 3}
              - wait: 1m30s
                x-why: because
            """
        let (read, diagnostics) = try Sample.read(Sample.small(steps: steps))
        // It is opened over a link without a bond.
        #expect(diagnostics.map(\.severity) == [.warning])
        let actions = try #require(read?.vehicles.first).steps.map(\.action)
        guard case .require(let conditions, .warn) = actions[0] else {
            Issue.record("\(actions[0])")
            return
        }
        #expect(
            conditions.map { "\($0.property) \($0.condition)" } == [
                "a == 1", "b == locked", "c != x", "d < -2.5", "e >= 4.8.0",
            ]
        )
        #expect(actions[1] == .read(["speed"]))
        #expect(actions[2] == .read(["speed", "lock.state"]))
        guard case .expect(let expected, .seconds(5)) = actions[3] else { return }
        #expect(expected.map(\.condition.operand.text) == ["true"])
        guard case .expect(_, .seconds(10)) = actions[4] else {
            Issue.record("\(actions[4])")
            return
        }
        #expect(actions[5] == .command([.unlockAll, .secureConditionsCheck]))
        #expect(
            actions[6]
                == .feature([
                    Assignment("led", Literal("on")), Assignment("level", Literal("3")),
                ])
        )
        #expect(actions[7] == .wait(.seconds(90)))
    }

    @Test func `an update carries its conditions and options`() throws {
        let manifest = Sample.manifest.replacing(
            "{to: city-4.12}",
            with: "{to: city-4.12, downgrade: allow, within: 30s, healthy: {errors: \"== 0\"}}"
        )
        let plan = try #require(try Sample.read(manifest).plan)
        let healthy = try #require(Condition(.equal, Literal("0")))
        #expect(
            plan.vehicles[0].steps[1].update
                == UpdateStep(
                    image: "city-4.12",
                    allowsDowngrade: true,
                    healthy: [PropertyCondition("errors", healthy)],
                    within: .seconds(30)
                )
        )
        let idle = Sample.manifest.replacing("{to: city-4.12}", with: "{to: city-4.12, within: 5m}")
        let warnings = try Sample.read(idle).diagnostics
        #expect(warnings.map(\.message) == ["`within` has no effect without `healthy` or `judge`"])
        #expect(warnings.first?.severity == .warning)
        let short = Sample.manifest.replacing("update: {to: city-4.12}", with: "update: city-4.12")
        #expect(try Sample.read(short).plan?.digest == Sample.read().plan?.digest)
    }

    @Test(arguments: [
        ("file:a.zip", "file:a.zip", "depot/a.zip"),
        ("file:../a.zip", "file:../a.zip", "depot/../a.zip"),
        ("file:///srv/a.zip", "file:///srv/a.zip", "/srv/a.zip"),
        ("file:city%20v%C3%A9lo.zip", "file:city vélo.zip", "depot/city vélo.zip"),
        ("file:///srv/100%25%23.zip", "file:///srv/100%#.zip", "/srv/100%#.zip"),
    ])
    func `an image's file is relative to the manifest`(url: String, text: String, path: String)
        throws
    {
        let manifest = Sample.manifest.replacing(
            "https://images.example/city-4.12.0.zip",
            with: url
        )
        let source = try #require(try Sample.read(manifest).plan?.images.first?.source)
        #expect(source.description == text)
        guard case .file(let file) = source else {
            Issue.record("\(source)")
            return
        }
        #expect(file.path == path)
    }

    @Test(arguments: [
        ("ftp://x/a", "this is not a URL that images come from"), ("https://", "names no host"),
        ("https://u:pw@host/a", "the URL holds a name or password"),
        ("https://h/a b", "holds a character that URLs cannot have"),
        ("file:", "names no file"), ("file://host/a", "names no file"), ("a.zip", "not a URL"),
        ("http://h:99999/x", "the URL has no port"), ("https://h:/x", "the URL has no port"),
        ("https://h:0/x", "the URL has no port"), ("https://h:8x/x", "the URL has no port"),
        ("https://[::1/x", "names no host"), ("https://::1/x", "names no host"),
        ("https://[::1]x/x", "names no host"), ("https://[]/x", "names no host"),
        ("https://[1.2.3.4]/x", "names no host"), ("https://[::g]/x", "names no host"),
        ("https://[1:2:3:4:5:6:7]/x", "names no host"), ("https://[1::2::3]/x", "names no host"),
        ("https://h%zz/x", "names no host"), ("https://a..b/x", "names no host"),
        ("https://-a.example/x", "names no host"), ("https://a!b/x", "names no host"),
        ("https://1.2.3.256/x", "names no host"), ("https://1.2.3/x", "names no host"),
        ("file:a%2Fb", "`%2F` or `%00`"), ("file:a%00b", "`%2F` or `%00`"),
        ("file:100%.zip", "`%` without two hex digits"), ("file:a%e9.zip", "not valid UTF-8"),
    ])
    func `a URL that is none is refused and not repeated`(url: String, words: String) throws {
        let manifest = Sample.manifest.replacing(
            "https://images.example/city-4.12.0.zip",
            with: "\"\(url)\""
        )
        let diagnostics = try Sample.read(manifest).diagnostics
        #expect(diagnostics.first?.message.contains(words) == true, "\(diagnostics)")
        #expect(diagnostics.count == 1)
        #expect(!diagnostics.contains { $0.description.contains("u:pw") })
    }

    @Test(arguments: [
        "https://[::1]/x", "https://[2001:db8::7]:8443/x", "https://h:1/x", "https://h:65535",
        "https://127.0.0.1:8080/x", "https://a-b.example./x", "https://xn--vlo-bma.example/x",
        "https://[::ffff:192.0.2.1]/x", "https://depot_1.lan/x", "https://h?x=:99999",
    ])
    func `a URL with a host and a port is taken`(url: String) throws {
        let manifest = Sample.manifest.replacing(
            "https://images.example/city-4.12.0.zip",
            with: "\"\(url)\""
        )
        let read = try Sample.read(manifest)
        #expect(read.plan?.images.first?.source == .https(url), "\(read.diagnostics)")
    }

    @Test func `plain HTTP is allowed where the image says so`() throws {
        let manifest = Sample.manifest
            .replacing("https://images.", with: "http://images.")
            .replacing("    fits:", with: "    allow-http: true\n    size: 200kB\n    fits:")
        let plan = try #require(try Sample.read(manifest).plan)
        #expect(plan.images[0].source == .http("http://images.example/city-4.12.0.zip"))
        #expect(plan.images[0].size?.bytes == 200_000)
    }

    @Test func `an image that fits no vehicle is an error, and for some of them a warning`() throws
    {
        let none = Sample.manifest.replacing("family: comodule, type", with: "family: mcumgr, type")
        let (plan, errors) = try Sample.read(none)
        #expect(plan == nil)
        #expect(
            errors.map(\.message) == [
                "the image `city-4.12` fits mcumgr modules and no vehicle here has one"
            ]
        )
        let mixed = Sample.fleet + "EE-4,any,mcumgr,,,tallinn-1\n"
        let (some, warnings) = try Sample.read(fleet: mixed)
        #expect(some?.vehicles.count == 3)
        #expect(warnings.map(\.severity) == [.warning])
        #expect(
            warnings.first?.message.hasPrefix("1 of 3 vehicles have no comodule module") == true
        )
    }

    @Test func `an image that nobody needs is warned about and left out`() throws {
        let manifest = Sample.manifest.replacing("  - update: {to: city-4.12}\n", with: "")
        let (plan, diagnostics) = try Sample.read(manifest)
        #expect(plan?.images.isEmpty == true)
        #expect(
            diagnostics.map(\.description).first?.hasPrefix(
                "depot/m.yaml:6:3: warning: no step uses the image `city-4.12`"
            ) == true
        )
    }

    @Test func `a missing fleet file is distinguished from a mistake`() throws {
        let manifest = Sample.manifest.replacing("tallinn.csv", with: "other.csv")
        #expect(
            throws: ManifestError.unreadable(
                path: "depot/other.csv",
                reason: .missing,
                namedAt: Place(file: "depot/m.yaml", line: 3, column: 9)
            )
        ) { try Sample.read(manifest) }
        let worse = manifest + "colour: red\n"
        let diagnostics = try Sample.read(worse).diagnostics
        #expect(
            diagnostics.map(\.message) == [
                "cannot read `depot/other.csv`: no such file",
                "unknown key `colour` in the manifest",
            ]
        )
    }

    @Test func `a manifest that cannot be opened is distinguished from a mistake`() throws {
        for path in ["/nonexistent/m.yaml", "/dev/zero", "/"] {
            #expect(throws: ManifestError.self) { try ManifestReader.read(path: path) }
        }
        #expect(
            throws: ManifestError.unreadable(path: "/dev/zero", reason: .notAFile, namedAt: nil)
        ) { try ManifestReader.read(path: "/dev/zero") }
    }

    @Test func `the user's own keys are free at every level`() throws {
        let manifest = """
            name: n
            x-a: 1
            vehicles: [{id: a, serial: 00112233445566aa, family: comodule, x-b: {c: 1}}]
            steps: [{set: {lights: 1, x-c: [2]}, x-d: 3}]
            rollout: {x-e: {}, retry: {x-f: 1}}
            """
        let (plan, diagnostics) = try Sample.read(manifest)
        #expect(diagnostics.isEmpty)
        #expect(plan?.vehicles.first?.labels.isEmpty == true)
    }
}

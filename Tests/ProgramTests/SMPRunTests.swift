import Foundation
import Testing

/// Runs with simulated modules of family `mcumgr`, and the inspection of their image files.
@Suite struct SMPRunTests {
    private static func image(_ name: String) throws -> Data {
        try Data(
            contentsOf: Program.repository.appending(path: "Tests/SMPTests/Fixtures/\(name)")
        )
    }

    private func digest(_ program: Program, _ name: String) throws -> String {
        let result = try program.run(["image", "inspect", "--json", name])
        let json = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
        return try #require((json as? [String: Any])?["sha256"] as? String)
    }

    private func version(_ program: Program, _ name: String) throws -> String? {
        let result = try program.run(["image", "inspect", "--json", name])
        let json = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
        let parts = (json as? [String: Any])?["parts"] as? [[String: Any]]
        return parts?.first?["version"] as? String
    }

    private func prepare(
        _ program: Program,
        image: String,
        version: String,
        rollout: String = "smp",
        update: String = ""
    ) throws {
        try program.write(image, Self.image(image))
        try program.write(
            "rollout.yaml",
            """
            name: \(rollout)
            vehicles:
              - {id: one, serial: ym-0001, family: mcumgr}
              - {id: two, serial: ym-0002, family: mcumgr}
              - {id: three, serial: ym-0003, family: mcumgr}
            images:
              new:
                url: file:\(image)
                sha256: "\(try digest(program, image))"
                version: "\(version)"
                fits: {family: mcumgr}
            steps:
              - update: {to: new\(update)}

            """
        )
    }

    private func run(_ program: Program, _ depot: String) throws -> Program.Result {
        try program.write("depot.yaml", "name: smp\nmodules:\n" + depot)
        return try program.run([
            "run", "rollout.yaml", "--simulate", "depot.yaml", "--state", program.state,
            "--events", "events",
        ])
    }

    private static let three = """
          - {serial: ym-0001, family: mcumgr, count: 3}

        """

    @Test func `a file that is confirmed already is refused unless the update allows it`() throws {
        let program = try Program()
        try program.write("confirmed.img", Self.image("confirmed.img"))
        let version = try #require(try version(program, "confirmed.img"))
        try prepare(program, image: "confirmed.img", version: version)
        let refused = try run(program, Self.three)
        #expect(refused.status == 77, "\(refused.errors.suffix(900))")
        #expect(refused.errors.contains("it is already confirmed"), "\(refused.errors)")
        #expect(refused.errors.contains("write `confirmed: allow`"), "\(refused.errors)")
        let events = try String(contentsOfFile: program.folder.path + "/events", encoding: .utf8)
        #expect(events.isEmpty, "no run was begun")
        try prepare(
            program,
            image: "confirmed.img",
            version: version,
            update: ", confirmed: allow, downgrade: allow"
        )
        let taken = try run(program, Self.three)
        #expect(taken.lastLine.contains("ok=3 "), "\(taken.output) \(taken.errors.suffix(900))")
    }

    /// The program accepts the first vehicle immediately, the second at its second call, and the
    /// third never.
    @Test func `a program of the operator's judges each vehicle before its image is kept`() throws {
        let program = try Program()
        try prepare(
            program,
            image: "large.img",
            version: "2.0.0",
            update: ", judge: [./judge.sh, strict], within: 30s"
        )
        let missing = try program.run(["validate", "rollout.yaml"])
        #expect(missing.status == 66, "\(missing.errors)")
        #expect(missing.errors.contains("cannot be run to judge the new image"))
        try program.write(
            "judge.sh",
            """
            #!/bin/sh
            echo $1 $YARDMASTER_ROLLOUT $YARDMASTER_VEHICLE $YARDMASTER_SERIAL $YARDMASTER_IMAGE \
              $YARDMASTER_VERSION $YARDMASTER_ADAPTER >> asked
            case $YARDMASTER_VEHICLE in
            one) exit 0 ;;
            two) if [ -e again ]; then exit 0; fi; touch again; exit 75 ;;
            *) exit 3 ;;
            esac

            """,
            mode: 0o700
        )
        let result = try run(program, Self.three)
        #expect(result.status == 10, "\(result.output) \(result.errors.suffix(900))")
        let asked = try String(contentsOfFile: program.folder.path + "/asked", encoding: .utf8)
        let lines = asked.split(separator: "\n").map(String.init).sorted()
        #expect(
            lines == [
                "strict smp one ym-0001 new 2.0.0 hci0", "strict smp three ym-0003 new 2.0.0 hci0",
                "strict smp two ym-0002 new 2.0.0 hci0", "strict smp two ym-0002 new 2.0.0 hci0",
            ]
        )
        let events = try String(contentsOfFile: program.folder.path + "/events", encoding: .utf8)
        #expect(events.contains("./judge.sh ended with 3"))
        #expect(result.lastLine.contains("ok=2 "), "\(result.lastLine)")
    }

    @Test func `a rollout over SMP brings its vehicles home, and finds them current`() throws {
        let program = try Program()
        try prepare(program, image: "large.img", version: "2.0.0")
        try program.write(
            "depot.yaml",
            """
            name: smp
            modules:
              - {serial: ym-0001, family: mcumgr}
              - {serial: ym-0002, family: mcumgr, faults: [{link-lost-at: 5KiB, times: 2}]}
              - {serial: ym-0003, family: mcumgr, faults: [{restart-at: 9KiB}]}

            """
        )
        let line = ["run", "rollout.yaml", "--simulate", "depot.yaml", "--state", program.state]
        let first = try program.run(line)
        #expect(first.status == 0, "\(first.output.suffix(600)) \(first.errors.suffix(900))")
        #expect(
            first.lastLine
                == "rollout=smp ok=3 current=0 deferred=0 unreachable=0 failed=0 exit=0"
        )
        let second = try program.run(line)
        #expect(
            second.lastLine
                == "rollout=smp ok=0 current=3 deferred=0 unreachable=0 failed=0 exit=0"
        )
    }

    private static let lamp = """
        profile: lamp
        family: mcumgr
        title: A lamp
        known-from: this test
        advertisement: {service: 8d53dc1d-1db7-4cd3-868b-8a527460aa84, serial: {in: name}}
        gatt:
          management:
            service: 8d53dc1d-1db7-4cd3-868b-8a527460aa84
            smp: da2e7828-fbce-4e01-ae9e-261174997c48
        authentication: none
        properties:
          - {name: errors, type: range, access: read-only, read: {statistic: app, entry: errors}}
          - name: rate
            type: range
            access: read-write
            read: {setting: app/rate, bytes: 2}
            write: {setting: app/rate, bytes: 2, limits: [1, 1000]}
          - {name: mode, type: text, access: read-write, read: {file: /lfs1/mode},
             write: {file: /lfs1/mode, bytes: 600}}
          - {name: battery, type: range, access: read-only, unit: percent,
             read: {characteristic: "2a19", service: "180f", bytes: 1}}
        firmware:
          - {part: image, protocol: smp}

        """

    /// The second lamp reports errors with its new image, and the third has an empty battery.
    @Test func `statistics, settings, files and characteristics are read, set and judged by`()
        throws
    {
        let program = try Program()
        try FileManager.default.createDirectory(
            atPath: program.folder.path + "/profiles",
            withIntermediateDirectories: true
        )
        try program.write("profiles/lamp.yaml", Self.lamp)
        try prepare(
            program,
            image: "large.img",
            version: "2.0.0",
            update: ", healthy: {errors: \"== 0\", battery: \">= 20\"}, within: 10s"
        )
        let path = program.folder.path + "/rollout.yaml"
        let mode = String(repeating: "quiet-", count: 80)
        let text = try String(contentsOfFile: path, encoding: .utf8)
            .replacing(", family: mcumgr}\n", with: ", family: mcumgr, profile: lamp}\n")
            .replacing("vehicles:\n", with: "profiles: profiles\nvehicles:\n")
            .replacing("steps:\n", with: "steps:\n  - set: {rate: 300, mode: \(mode)}\n")
        try program.write("rollout.yaml", text + "  - read: [rate, mode, battery]\n")
        let values = "settings: {app/rate: \"0100\"}, files: {/lfs1/mode: loud}"
        func battery(_ level: String) -> String {
            "characteristics: [{service: \"180f\", uuid: \"2a19\", value: \"\(level)\"}]"
        }
        let depot = """
              - {serial: ym-0001, family: mcumgr, statistics: {app: {errors: 0}}, \(values),
                 \(battery("50"))}
              - {serial: ym-0002, family: mcumgr, statistics: {app: {errors: 3}}, \(values),
                 \(battery("50"))}
              - {serial: ym-0003, family: mcumgr, statistics: {app: {errors: 0}}, \(values),
                 \(battery("0a"))}

            """
        let result = try run(program, depot)
        #expect(result.status == 10, "\(result.output) \(result.errors.suffix(900))")
        #expect(result.lastLine.contains("ok=1 "), "\(result.lastLine)")
        #expect(result.lastLine.contains("failed=2 "), "\(result.lastLine)")
        let events = try String(contentsOfFile: program.folder.path + "/events", encoding: .utf8)
        #expect(events.contains(#""rate":"300""#))
        #expect(events.contains(#""mode":"\#(mode)""#))
        #expect(events.contains(#""battery":"80""#))
        #expect(events.contains("errors is 3"), "the module was judged by its statistic")
        #expect(events.contains("battery is 10"), "and by its characteristic")
    }

    /// Each module runs from the slot that was free before the last update.
    @Test func `of a package with one file a slot each module gets the one for its free slot`()
        throws
    {
        let program = try Program()
        try program.write(
            "depot.yaml",
            """
            name: smp
            modules:
              - {serial: ym-0001, family: mcumgr, bootloader: direct-xip, count: 3}

            """
        )
        let line = ["run", "rollout.yaml", "--simulate", "depot.yaml", "--state", program.state]
        try prepare(program, image: "xip-2.0.zip", version: "2.0.0")
        let first = try program.run(line)
        #expect(first.status == 0, "\(first.output.suffix(600)) \(first.errors.suffix(900))")
        #expect(first.lastLine.contains("ok=3 current=0"))
        try prepare(program, image: "xip-2.1.zip", version: "2.1.0", rollout: "smp-2")
        let second = try program.run(line)
        #expect(second.status == 0, "\(second.output.suffix(600)) \(second.errors.suffix(900))")
        #expect(second.lastLine.contains("ok=3 current=0"))
        let again = try program.run(line)
        #expect(again.lastLine.contains("ok=0 current=3"))
    }

    @Test func `what the bootloader refuses or takes back is a failure`() throws {
        let program = try Program()
        try prepare(program, image: "large.img", version: "2.0.0")
        let key = try Self.image("public-key.der").map {
            String($0 >> 4, radix: 16) + String($0 & 15, radix: 16)
        }.joined()
        try program.write(
            "depot.yaml",
            """
            name: smp
            modules:
              - {serial: ym-0001, family: mcumgr}
              - {serial: ym-0002, family: mcumgr, faults: [{crashes: true, times: 9}]}
              - {serial: ym-0003, family: mcumgr, public-key: "\(key)"}

            """
        )
        let result = try program.run(
            ["run", "rollout.yaml", "--simulate", "depot.yaml", "--state", program.state]
        )
        #expect(result.status == 10, "\(result.output.suffix(900))")
        #expect(result.lastLine.contains("ok=1 "))
        #expect(result.lastLine.contains("failed=2 "))
    }

    @Test(arguments: [
        ("signed.img", "security counter: 33554433"), ("dfu_application.zip", "type: net-core"),
        ("confirmed.img", "warning: it is already confirmed"),
    ])
    func `an image is told of`(name: String, line: String) throws {
        let program = try Program()
        try program.write(name, Self.image(name))
        let result = try program.run(["image", "inspect", name])
        #expect(result.status == 0)
        #expect(result.output.contains(line), "\(result.output)")
        let json = try program.run(["image", "inspect", "--json", name])
        let document = try #require(
            try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
        )
        #expect(document["intact"] as? Bool == true)
        #expect((document["parts"] as? [Any])?.isEmpty == false)
    }

    @Test func `a broken image is reported with its place, and ends with 65`() throws {
        let program = try Program()
        var bytes = try Self.image("tiny.img")
        bytes[bytes.count - 40] ^= 1
        try program.write("broken.img", bytes)
        let result = try program.run(["image", "inspect", "--json", "broken.img"])
        #expect(result.status == 65)
        #expect(result.errors.contains("broken.img: byte 122: "), "\(result.errors)")
        let document = try #require(
            try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
        )
        #expect(document["intact"] as? Bool == false)
        #expect((document["fault"] as? [String: Any])?["place"] as? String == "byte 122")
        #expect(try program.run(["image", "inspect", "nothing.img"]).status == 66)
        #expect(try program.run(["image", "inspect"]).status == 64)
    }
}

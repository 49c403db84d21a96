import Foundation
import Testing

/// Vehicles with profiles of the operator, in every command that uses profiles.
@Suite struct ProfilesTests {
    private static let comodule = """
        profile: other
        family: comodule
        title: Another model
        known-from: a test
        advertisement:
          company: "0abc"
          serial: {in: manufacturer-data, at: 1, length: 4}
        gatt:
          metrics:
            service: 00001554-0000-1111-2222-333344445555
            notifier: 0000155e-0000-1111-2222-333344445555
            register: 0000155f-0000-1111-2222-333344445555
            selector: 00001564-0000-1111-2222-333344445555
          security:
            service: 00002554-0000-1111-2222-333344445555
            key: 00002555-0000-1111-2222-333344445555
            challenge: 00002556-0000-1111-2222-333344445555
            response: 00002557-0000-1111-2222-333344445555
            authenticated: 00002558-0000-1111-2222-333344445555
          dfu:
            service: 0000fe59-0000-1111-2222-333344445555
            control-point: 8ec90001-0000-1111-2222-333344445555
            packet: 8ec90002-0000-1111-2222-333344445555
            buttonless: 8ec90003-0000-1111-2222-333344445555
        authentication: challenge-response
        properties:
          - name: state_of_charge
            type: range
            access: read-only
            read: {register: "0401", at: 2, bytes: 1}
        firmware:
          - part: secondary
            protocol: secure-dfu
            version: {register: "e001", at: 3, bytes: 3, order: little}

        """

    private static let lrdevice = """
        profile: other
        family: lrdevice
        title: Another lock
        known-from: a test
        advertisement:
          company: "0abd"
          serial: {in: manufacturer-data, length: 8, form: text}
        gatt:
          messages:
            service: 00000000-0000-1111-2222-333344445555
            request: 00000001-0000-1111-2222-333344445555
            reply: 00000002-0000-1111-2222-333344445555
        authentication: none
        features:
          - {name: light, command: "01", namespace: "05", payload: boolean}

        """

    private static let mcumgr = """
        profile: other
        family: mcumgr
        title: Another tracker
        known-from: a test
        advertisement:
          name: "Tracker *"
          serial: {in: name, after: "Tracker "}
        gatt:
          management:
            service: 8d53dc1d-0000-1111-2222-333344445555
            smp: da2e7828-0000-1111-2222-333344445555
        authentication: none
        firmware:
          - {part: image, protocol: smp}

        """

    private static let esp = """
        profile: other
        family: esp
        title: Another sensor
        known-from: a test
        advertisement:
          company: "0abe"
          serial: {in: name, after: "Sensor "}
        gatt:
          ota:
            service: 00008018-0000-1111-2222-333344445555
            firmware-data: 00008020-0000-1111-2222-333344445555
            command: 00008022-0000-1111-2222-333344445555
        authentication: none
        firmware:
          - {part: image, protocol: esp, version: {information: "2a28"}}

        """

    private static let nordic = """
        profile: other
        family: nordic
        title: Another tag
        known-from: a test
        advertisement:
          name: "Tag *"
          serial: {in: name, after: "Tag "}
        gatt:
          legacy:
            service: 00001530-0000-1111-2222-333344445555
            legacy-control-point: 00001531-0000-1111-2222-333344445555
            legacy-packet: 00001532-0000-1111-2222-333344445555
            legacy-version: 00001534-0000-1111-2222-333344445555
        authentication: none
        firmware:
          - {part: secondary, protocol: legacy-dfu, version: {information: "2a28"}}

        """

    private static let depot = """
        name: profiles
        link: {interval: 8ms, mtu: 247, packets-per-interval: 12}
        modules:
          - {serial: "0a0b0c0d", profile: other, key: "11", type: 17, version: "4.11.3"}
          - {serial: "00a0000000000001", key: "11", type: 17, version: "4.11.3"}
          - {serial: gate0001, family: lrdevice, profile: other}
          - {serial: c0ffee000001, family: lrdevice}
          - {serial: "17", family: mcumgr, profile: other, version: "1.0.0"}
          - {serial: ym-0001, family: mcumgr, version: "1.0.0"}
          - {serial: "31", family: esp, profile: other, server: nimble, version: "2.6.0"}
          - {serial: esp-0001, family: esp, server: nimble, version: "2.6.0"}
          - {serial: "41", family: nordic, profile: other, bootloader: legacy-dfu,
             version: "1.4.0"}
          - {serial: tag-0001, family: nordic, bootloader: legacy-dfu, version: "1.4.0"}

        """

    private func prepare(_ program: Program, key: String = "") throws {
        let folder = program.folder.path + "/profiles"
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true
        )
        try program.write("profiles/comodule.yaml", Self.comodule)
        try program.write("profiles/lrdevice.yaml", Self.lrdevice)
        try program.write("profiles/mcumgr.yaml", Self.mcumgr)
        try program.write("profiles/esp.yaml", Self.esp)
        try program.write("profiles/nordic.yaml", Self.nordic)
        try program.write("depot.yaml", Self.depot)
        try program.write("key", "11")
        let city = Program.repository.appending(path: "manifests/demo/city-4.12.0.zip")
        try program.write("city.zip", try Data(contentsOf: city))
        for (name, place) in [
            ("sensor.bin", "sensors/sensor-2.7.31.bin"), ("tag.zip", "tags/tag-2.0.0.zip"),
        ] {
            let file = Program.repository.appending(path: "manifests/" + place)
            try program.write(name, try Data(contentsOf: file))
        }
        let large = Program.repository.appending(path: "Tests/SMPTests/Fixtures/large.img")
        try program.write("large.img", try Data(contentsOf: large))
        func digest(_ name: String) throws -> String {
            let result = try program.run(["image", "inspect", "--json", name])
            let json = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
            return try #require((json as? [String: Any])?["sha256"] as? String)
        }
        try program.write(
            "rollout.yaml",
            """
            name: other
            \(key)
            vehicles:
              - {id: bus, serial: "0a0b0c0d", family: comodule, profile: other,
                 secret: "file:key", steps: [{update: {to: city}}, {read: state_of_charge}]}
              - {id: gate, serial: gate0001, family: lrdevice, profile: other,
                 steps: [{feature: {light: on}}]}
              - {id: box, serial: "17", family: mcumgr, profile: other,
                 steps: [{update: {to: large}}]}
              - {id: sensor, serial: "31", family: esp, profile: other,
                 steps: [{update: {to: sensor}}]}
              - {id: tag, serial: "41", family: nordic, profile: other,
                 steps: [{update: {to: tag}}]}
            images:
              city:
                url: file:city.zip
                sha256: "\(try digest("city.zip"))"
                version: "4.12.0"
                fits: {family: comodule}
              large:
                url: file:large.img
                sha256: "\(try digest("large.img"))"
                version: "2.0.0"
                fits: {family: mcumgr}
              sensor:
                url: file:sensor.bin
                sha256: "\(try digest("sensor.bin"))"
                version: "2.7.31"
                fits: {family: esp}
              tag:
                url: file:tag.zip
                sha256: "\(try digest("tag.zip"))"
                version: "2.0.0"
                fits: {family: nordic}

            """
        )
    }

    private let own = ["--profiles", "profiles"]
    private let simulated = ["--simulate", "depot.yaml"]

    private func serials(_ program: Program, _ more: [String]) throws -> [String] {
        let result = try program.run(["scan", "--json", "--for", "10s"] + simulated + more)
        let json = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
        let modules = (json as? [String: Any])?["modules"] as? [[String: Any]]
        return try #require(modules, "\(result.errors)").compactMap { $0["serial"] as? String }
    }

    @Test func `modules of other profiles are shown, and those of no profile are not`() throws {
        let program = try Program()
        try prepare(program)
        let all = [
            "00a0000000000001", "0a0b0c0d", "17", "31", "41", "c0ffee000001", "esp-0001",
            "gate0001", "tag-0001", "ym-0001",
        ]
        #expect(try serials(program, own) == all)
    }

    @Test(arguments: [false, true])
    func `a run works with what the profiles say, and leaves other modules alone`(
        inManifest: Bool
    ) throws {
        let program = try Program()
        try prepare(program, key: inManifest ? "profiles: profiles" : "")
        let run = ["run", "rollout.yaml", "--state", program.state] + simulated
        let result = try program.run(run + (inManifest ? [] : own))
        #expect(
            result.lastLine
                == "rollout=other ok=5 current=0 deferred=0 unreachable=0 failed=0 exit=0",
            "\(result.output.suffix(900)) \(result.errors.suffix(900))"
        )
        #expect(result.output.contains("4.12.0"), "\(result.output.suffix(900))")
    }

    /// The versions of those modules of a depot that can be read without a secret, by serial.
    private func versions(_ program: Program, _ radio: [String]) throws -> [String: String] {
        let result = try program.run(
            ["inventory", "--json", "--for", "10s", "--state", program.state] + radio + own
        )
        let json = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
        let modules = (json as? [String: Any])?["vehicles"] as? [[String: Any]]
        var versions: [String: String] = [:]
        for module in try #require(modules, "\(result.output) \(result.errors)") {
            let parts = module["firmware"] as? [String: String]
            guard let serial = module["serial"] as? String, let version = parts?.values.first else {
                continue
            }
            versions[serial] = version
        }
        return versions
    }

    @Test(.timeLimit(.minutes(5)))
    func `every command works with modules of other profiles over a bus, too`() throws {
        let program = try Program()
        try prepare(
            program,
            key: "settle: {quiet: 2s, confirm-gap: 200ms, deadline: 2m}\n"
                + "connect: {timeout: 30s, attempts: 2}"
        )
        let depot = try ServedDepot("depot.yaml", of: program, profiles: "profiles")
        let bus = ["--bus", depot.address]
        let scan = try program.run(["scan", "--for", "10s"] + bus + own)
        for serial in ["0a0b0c0d", "gate0001", "17", "31", "41", "ym-0001", "esp-0001"] {
            #expect(scan.output.contains(" \(serial) "), "\(serial): \(scan.output)")
        }
        let before = try versions(program, bus)
        #expect(before["31"] == "2.6.0" && before["41"] == "1.4.0" && before["17"] == "1.0.0")
        let run = try program.run(["run", "rollout.yaml", "--state", program.state] + bus + own)
        #expect(
            run.lastLine
                == "rollout=other ok=5 current=0 deferred=0 unreachable=0 failed=0 exit=0",
            "\(run.output.suffix(900)) \(run.errors.suffix(900))"
        )
        let after = try versions(program, bus)
        #expect(after["31"] == "2.7.31" && after["41"] == "2.0.0" && after["17"] == "2.0.0")
        // Modules of the default profiles are unchanged.
        for serial in ["esp-0001", "tag-0001", "ym-0001"] {
            #expect(before[serial] != nil && after[serial] == before[serial], "\(serial)")
        }
        let fleet = ["--manifest", "rollout.yaml"]
        let watch = try program.run(["watch", "bus", "--for", "5s"] + fleet + bus + own)
        #expect(watch.output.contains("state_of_charge 80"), "\(watch.output) \(watch.errors)")
        let exec = try program.run(
            ["exec", "bus", "read state_of_charge", "--state", program.state] + fleet + bus + own
        )
        #expect(exec.output.contains("state_of_charge is 80"), "\(exec.output.suffix(600))")
    }

    /// The virtual seconds of a run on one vehicle, with these additions to its profile and its
    /// manifest.
    private func seconds(profile: String = "", manifest: String = "") throws -> Double {
        let program = try Program()
        try prepare(program, key: "profiles: profiles" + manifest)
        try program.write("profiles/mcumgr.yaml", Self.mcumgr + profile)
        let result = try program.run(
            [
                "run", "rollout.yaml", "--limit", "box", "--state", program.state, "--events",
                "events",
            ]
                + simulated
        )
        #expect(result.status == 0, "\(result.output.suffix(900)) \(result.errors.suffix(900))")
        let events = try String(contentsOfFile: program.folder.path + "/events", encoding: .utf8)
        let format = ISO8601DateFormatter()
        format.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        let times = try events.split(separator: "\n").compactMap { line -> Date? in
            let json = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return (json?["time"] as? String).flatMap { format.date(from: $0) }
        }
        return try #require(times.last).timeIntervalSince(#require(times.first))
    }

    @Test func `a run waits by the times of the profile, and by the manifest's before those`()
        throws
    {
        let usual = try seconds()
        let long = "settle: {quiet: 5m, look-every: 10s}\nlimits: {exchange: 90s}\n"
        let patient = try seconds(profile: long)
        let overruled = try seconds(profile: long, manifest: "\nsettle: {quiet: 1m}")
        #expect(usual < 120, "\(usual)")
        #expect(patient > usual + 270, "\(patient)")
        #expect(overruled > usual + 30 && overruled < usual + 60, "\(overruled)")
    }

    @Test func `times of a profile that can never come are refused`() throws {
        let program = try Program()
        try prepare(program, key: "profiles: profiles\nsettle: {deadline: 4m}")
        let file = "profiles/mcumgr.yaml"
        try program.write(file, Self.mcumgr + "settle: {quiet: 11m}\n")
        let checked = try program.run(["profiles", "check", file])
        #expect(checked.status == 65)
        #expect(checked.errors.contains("an update can never settle"), "\(checked.errors)")
        try program.write(file, Self.mcumgr + "limits: {exchnge: 9s}\n")
        let misspelled = try program.run(["profiles", "check", file])
        #expect(misspelled.errors.contains("did you mean `exchange`?"), "\(misspelled.errors)")
        try program.write(file, Self.mcumgr + "settle: {quiet: 5m}\n")
        #expect(try program.run(["profiles", "check", file]).status == 0)
        let together = try program.run(["validate", "rollout.yaml"])
        #expect(together.status == 65)
        #expect(together.errors.contains("of the profile mcumgr/other together"))
    }

    @Test func `watch and exec take the operator's profiles, too`() throws {
        let program = try Program()
        try prepare(program)
        let fleet = ["--manifest", "rollout.yaml"]
        let watch = try program.run(
            ["watch", "bus", "--for", "5s"] + fleet + simulated + own
        )
        #expect(watch.status == 0, "\(watch.errors)")
        #expect(watch.output.contains("state_of_charge 80"), "\(watch.output)")
        let exec = try program.run(
            ["exec", "bus", "read state_of_charge", "--state", program.state] + fleet + simulated
                + own
        )
        #expect(exec.status == 0, "\(exec.output.suffix(600)) \(exec.errors)")
        #expect(exec.output.contains("state_of_charge is 80"), "\(exec.output.suffix(600))")
    }

    @Test func `profiles are listed, shown and checked`() throws {
        let program = try Program()
        try prepare(program)
        let list = try program.run(["profiles", "list"] + own)
        #expect(list.output.contains("comodule/generic"))
        #expect(list.output.contains("comodule/other"))
        #expect(list.output.contains("profiles/comodule.yaml"))
        let show = try program.run(["profiles", "show", "lrdevice/other"] + own)
        #expect(show.output == Self.lrdevice)
        let built = try program.run(["profiles", "show", "comodule/generic"])
        #expect(built.output.contains("family: comodule"))
        #expect(try program.run(["profiles", "show", "generic"]).status == 66)
        #expect(try program.run(["profiles", "check", "profiles/mcumgr.yaml"]).status == 0)
        try program.write("bad.yaml", Self.mcumgr.replacing("smp:", with: "smpp:"))
        let check = try program.run(["profiles", "check", "bad.yaml"])
        #expect(check.status == 65)
        #expect(check.errors.contains("bad.yaml:"), "\(check.errors)")
    }

    @Test func `a unit is printed with the profiles that it needs`() throws {
        let program = try Program()
        try prepare(program)
        let printed = try program.run(
            ["systemd", "print", "rollout.yaml", "--unit", "service"] + own
        )
        let folder = program.folder.path + "/profiles"
        #expect(printed.output.contains("--profiles \(folder) "), "\(printed.output)")
    }

    @Test func `a serial that no module of the profile can have is reported before the run`() throws
    {
        let program = try Program()
        try program.write(
            "rollout.yaml",
            """
            name: typo
            vehicles:
              - {id: bus, serial: "00a1", family: comodule, secret: "file:key"}
            steps:
              - read: state_of_charge

            """
        )
        let result = try program.run(["validate", "rollout.yaml"])
        #expect(result.status == 65)
        #expect(result.errors.contains("rollout.yaml:3:23"), "\(result.errors)")
        #expect(result.errors.contains("16 hex digits"), "\(result.errors)")
        // A long value may be a key in the wrong column, so the message does not contain it.
        let key = "00112233445566778899aabbccddeeff"
        try program.write(
            "key.yaml",
            """
            name: typo
            vehicles:
              - {id: bus, serial: "\(key)", family: comodule, secret: "file:key"}
            steps:
              - read: state_of_charge

            """
        )
        let wrong = try program.run(["validate", "key.yaml"])
        #expect(wrong.status == 65)
        #expect(!(wrong.errors + wrong.output).contains(key), "\(wrong.errors)")
    }
}

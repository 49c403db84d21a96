import Foundation
import Testing

/// Mistakes of people in manifests: each is reported at its place, with what to write instead.
@Suite struct MistakeTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let status: Int32
        let manifest: String
        /// The exact output of `validate`.
        let says: String

        var testDescription: String { name }
    }

    private static let digest = "7505fe5b8af2bb43117d294cd35b8eebf17838e5390865a4b031c76da50094cf"

    /// Twenty bikes, one of them with a key that others can read.
    private static func fleet(family: String = "comodule", key: (Int) -> String) -> String {
        "id,serial,family,secret,depot\n"
            + (1...20).map { number in
                "bike-\(number),00a00000000000\(number + 10),\(family),\(key(number)),north\n"
            }.joined()
    }

    private static let cases: [Case] = [
        Case(
            name: "words of other tools",
            status: 65,
            manifest: """
                name: tallinn-4.12
                inventory: fleet.csv
                images:
                  city-4.12:
                    uri: file:demo/city-4.12.0.zip
                    hash: "\(digest)"
                    version: "4.12.0"
                    fits: {family: comodule}
                steps:
                  - flash: city-4.12
                  - command: unlock
                  - reboot: now
                rollout:
                  batches: [3, rest]
                  window: {from: "01:00", for: 4h, tz: Europe/Tallinn}
                """,
            says: """
                rollout.yaml:2:1: error: unknown key `inventory` in the manifest
                  hint: did you mean `vehicles`?
                rollout.yaml:5:5: error: unknown key `uri` in an image
                  hint: did you mean `url`?
                rollout.yaml:6:5: error: unknown key `hash` in an image
                  hint: did you mean `sha256`?
                rollout.yaml:10:5: error: unknown key `flash` in a step
                  hint: did you mean `update`?
                rollout.yaml:11:14: error: `unlock` is not a command known here
                  hint: did you mean `unlock-driver` or `unlock-all`?
                rollout.yaml:12:5: error: unknown key `reboot` in a step
                  hint: a module is restarted by its `update` alone; there is no such step
                rollout.yaml:14:3: error: unknown key `batches` in `rollout`
                  hint: did you mean `waves`?
                rollout.yaml:15:36: error: unknown key `tz` in `window`
                  hint: did you mean `zone`?
                yardmaster: error: 8 errors in rollout.yaml
                  hint: nothing was touched; fix what is listed above and try again
                """
        ),
        Case(
            name: "a fleet list",
            status: 65,
            manifest: """
                name: tallinn-locks
                vehicles: {from: wrong-family.csv}
                images:
                  city-4.12:
                    url: file:demo/city-4.12.0.zip
                    sha256: "\(digest)"
                    version: 4.12
                    fits: {family: comodule}
                steps:
                  - update: {to: city-4.21}
                    otherwise: stop
                  - lock
                settle: {quiet: 20}
                """,
            says: """
                rollout.yaml:7:14: error: a version must be quoted
                  hint: write "4.12": unquoted, 1.10 reads as 1.1
                rollout.yaml:10:18: error: no image is named `city-4.21`
                  hint: did you mean `city-4.12`?
                rollout.yaml:11:5: error: `otherwise` has a meaning only beside `require`
                  hint: remove it, or add `require`
                rollout.yaml:11:16: error: `stop` is not a word known here
                  hint: did you mean `fail`?
                rollout.yaml:12:5: error: expected a step as a map, found text
                  hint: did you mean `command: lock`?
                rollout.yaml:13:17: error: the duration has no unit
                  hint: did you mean `20s`? Units are ms, s, m, h, d
                wrong-family.csv:2:25: error: `comodul` is not a family of modules
                  hint: did you mean `comodule`?
                  the same 19 times more, at 3:25, 4:25, 5:25, 6:25, 7:25 and 14 other places
                yardmaster: error: 26 errors in rollout.yaml
                  hint: nothing was touched; fix what is listed above and try again
                """
        ),
        Case(
            name: "properties",
            status: 65,
            manifest: """
                name: tallinn-lights
                vehicles: {from: good.csv}
                steps:
                  - require: {state_of_charg: ">= 40", speed: "== 0"}
                  - require: {state_of_charge: ">= 140", signal: ">= 82"}
                  - read: [speed, odometre]
                  - set: {lights: onn}
                  - expect: {lights: enabeld}
                """,
            says: """
                rollout.yaml:4:15: error: the profile comodule/generic has no property `state_of_charg`
                  hint: did you mean `state_of_charge`?
                rollout.yaml:5:32: error: `state_of_charge` can never be >= 140
                  hint: it is between 0 and 100
                rollout.yaml:5:50: error: `82` is no signal
                  hint: write dBm without the unit, such as ">= -82"
                rollout.yaml:6:19: error: the profile comodule/generic has no property `odometre`
                  hint: did you mean `odometer`?
                rollout.yaml:7:19: error: `lights` has no such state
                  hint: it has `disabled`, `enabled`, `blinking`
                rollout.yaml:8:22: error: `lights` has no state `enabeld`
                  hint: did you mean `enabled`?
                yardmaster: error: 6 errors in rollout.yaml
                  hint: nothing was touched; fix what is listed above and try again
                """
        ),
        Case(
            name: "of every kind, in one go",
            status: 65,
            manifest: """
                name: tallinn-lights
                vehicles: {from: good.csv}
                images:
                  city-4.12:
                    url: file:demo/city-4.21.0.zip
                    sha256: "\(digest)"
                    version: "4.12.0"
                    fits: {family: comodule}
                steps:
                  - require: {spede: "== 0"}
                  - update: city-4.12
                  - update: city-4.13
                  - set: {lights: on}
                settle: {quiet: 20}
                rollout:
                  window: {from: "25:00", for: 4h, zone: Europe/Talinn}
                """,
            says: """
                rollout.yaml:4:3: error: the image city-4.12 cannot be fetched: cannot read `demo/city-4.21.0.zip`: no such file
                  hint: put it there, or write in its `url` where it is
                rollout.yaml:10:15: error: the profile comodule/generic has no property `spede`
                  hint: did you mean `speed`?
                rollout.yaml:12:13: error: no image is named `city-4.13`
                  hint: did you mean `city-4.12`?
                rollout.yaml:13:19: error: `lights` has no such state
                  hint: it has `disabled`, `enabled`, `blinking`
                rollout.yaml:14:17: error: the duration has no unit
                  hint: did you mean `20s`? Units are ms, s, m, h, d
                rollout.yaml:16:18: error: `25:00` is not a time of day
                  hint: write hours and minutes, such as "01:00"
                rollout.yaml:16:42: error: this machine does not know the time zone Europe/Talinn of the window: cannot read `/usr/share/zoneinfo/Europe/Talinn`: no such file
                  hint: did you mean `Europe/Tallinn`?
                yardmaster: error: 7 errors in rollout.yaml
                  hint: nothing was touched; fix what is listed above and try again
                """
        ),
        Case(
            name: "what the machine lacks",
            status: 66,
            manifest: """
                name: tallinn-4.12
                vehicles: {from: keyless.csv}
                images:
                  city-4.12:
                    url: file:city-4.12.0.zip
                    sha256: "\(digest)"
                    version: "4.12.0"
                    fits: {family: comodule}
                steps:
                  - update: city-4.12
                rollout:
                  waves: [1, rest]
                  between-waves: {check: [./looks-good]}
                  window: {from: "01:00", for: 4h, zone: Europe/Talinn}
                """,
            says: """
                rollout.yaml:4:3: error: the image city-4.12 cannot be fetched: cannot read `city-4.12.0.zip`: no such file
                  hint: put it there, or write in its `url` where it is
                rollout.yaml:13:26: error: the program `./looks-good` cannot be run between the waves: No such file or directory
                  hint: write its full path, and make it executable
                rollout.yaml:14:42: error: this machine does not know the time zone Europe/Talinn of the window: cannot read `/usr/share/zoneinfo/Europe/Talinn`: no such file
                  hint: did you mean `Europe/Tallinn`?
                keyless.csv:2:34: error: the secret of vehicle bike-1 cannot be read: keys/bike-1.key: No such file or directory
                  hint: put it there with mode 0600; `file:` is relative to the manifest
                  the same 18 times more, at 3:34, 4:34, 5:34, 6:34, 7:34 and 13 other places
                keyless.csv:21:35: error: the secret of vehicle bike-20 cannot be read: open.key can be read by other users
                  hint: chmod 600 open.key
                yardmaster: error: 23 errors in files and programs that rollout.yaml names
                  hint: nothing was touched; fix what is listed above and try again
                """
        ),
        Case(
            name: "rules that never apply",
            status: 0,
            manifest: """
                name: tallinn-lights
                vehicles: {from: good.csv}
                steps:
                  - set: {lights: enabled}
                rollout:
                  waves: [10, 20, 5%]
                  spread: [dept]
                  pause-when: {failed: 5%, at-least: 30}
                  airtime: {vehicle: 2h, total: 90m}
                  window: {from: "00:00", for: 24h}
                """,
            says: """
                rollout.yaml:6:19: warning: no vehicle is left for wave 3, `5%`: all 20 vehicles are in the waves before it
                  hint: make the waves before it smaller, or remove it
                rollout.yaml:7:12: warning: no vehicle here has the label `dept`
                  hint: did you mean `depot`?
                rollout.yaml:8:38: warning: the gate never trips: it waits for 30 attempts, and there are 20 vehicles
                  hint: make `at-least` 6 or less
                rollout.yaml:9:22: warning: one vehicle may use 2h of the adapters, and the whole run only 1h30m
                  hint: make `total` longer than `vehicle`
                rollout.yaml:10:32: warning: the window is open all day and has no effect
                  hint: write how long it is open each day, such as `for: 4h`, or remove `window`
                """
        ),
    ]

    @Test(arguments: cases)
    func `each mistake is named at its place with what to write instead`(row: Case) throws {
        let program = try Program()
        try program.copyDemo()
        try program.write("open.key", "00112233445566778899aabbccddeeff\n", mode: 0o644)
        for number in 1...20 {
            try program.write("own-\(number).key", "00112233445566778899aabbccddeeff\n")
        }
        try program.write("good.csv", Self.fleet { "file:own-\($0).key" })
        try program.write(
            "wrong-family.csv",
            Self.fleet(family: "comodul") { "file:own-\($0).key" }
        )
        try program.write(
            "keyless.csv",
            Self.fleet { $0 == 20 ? "file:open.key" : "file:keys/bike-\($0).key" }
        )
        try program.write("rollout.yaml", row.manifest + "\n")
        let result = try program.run(["validate", "rollout.yaml"])
        #expect(result.errors == row.says + "\n", "\(result.errors)")
        #expect(result.status == row.status)
        // Each message for people is also in the document for programs.
        let json = try program.run(["validate", "rollout.yaml", "--json"])
        #expect(json.status == row.status)
        let lines = row.says.split(separator: "\n").filter { $0.contains(".yaml:") }
        for line in lines where line.contains(": error: ") || line.contains(": warning: ") {
            let message = line.split(separator: ": ", maxSplits: 2)[2]
            let escaped = message.replacingOccurrences(of: "\"", with: "\\\"")
                .replacingOccurrences(of: "/", with: "/")
            #expect(json.output.contains(escaped), "\(escaped)")
        }
        guard row.status != 0 else { return }
        // A run finds the same mistakes before it begins anything.
        let run = try program.run([
            "run", "rollout.yaml", "--simulate", "demo/depot.yaml", "--state", program.state,
        ])
        #expect(run.status == row.status)
    }

    @Test func `what a machine lacks is no mistake where it is not to be looked at`() throws {
        let program = try Program()
        try program.write("fleet.csv", Self.fleet { "file:keys/bike-\($0).key" })
        try program.write(
            "rollout.yaml",
            "name: locks\nvehicles: {from: fleet.csv}\nsteps: [{set: {lights: enabled}}]\n"
        )
        #expect(try program.run(["validate", "rollout.yaml"]).status == 66)
        let result = try program.run(["validate", "rollout.yaml", "--without-files"])
        #expect(result.status == 0 && result.errors.isEmpty)
        let plan = try program.run(["plan", "rollout.yaml", "--state", program.state])
        #expect(plan.status == 0)
        #expect(plan.errors.contains("the same 19 times more, at 3:"))
        #expect(plan.errors.contains("yardmaster: warning: a run would end with 66\n"))
    }
}

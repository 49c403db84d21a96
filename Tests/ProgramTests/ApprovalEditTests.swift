import Base
import Foundation
import Signers
import Testing

/// One edit of a manifest after its approval, for each field of the plan.
@Suite struct ApprovalEditTests {
    /// A place of the manifest, what is there, and what an editor may write.
    private struct Field {
        let mark: String
        let written: String
        let edits: [String]
        /// The words by which the difference must be named.
        let name: String

        init(_ mark: String, _ written: String, _ edits: [String], named name: String) {
            (self.mark, self.written, self.edits, self.name) = (mark, written, edits, name)
        }
    }

    private static let digest = "7505fe5b8af2bb43117d294cd35b8eebf17838e5390865a4b031c76da50094cf"

    private static let manifest = """
        name: %name%
        vehicles:
          from:
            - {id: %id%, serial: "%serial%", family: comodule, profile: generic, secret: "file:key",
               go-serial: %go-serial%, token: {command: [/usr/bin/issue, "%issuer%"]}, pairing: %pairing%}
            - {id: v2, serial: "00f0000000000002", family: comodule, secret: "file:key"%own%}
            %more%
        images:
          city:
            url: file:demo/city-4.12.0.zip
            sha256: "%sha256%"
            version: "%version%"
            size: %size%
            fits: {family: comodule, type: %type%, variant: %variant%}
        steps:
          - require: {state_of_charge: ">= %charge%"}
            otherwise: %otherwise%
          - update: {to: city, downgrade: %downgrade%, within: %within%, healthy: {speed: "== %speed%"},
                     judge: [/usr/bin/judge, "%judge%"]}
          - set: {lights: %lights%}
          - wait: %wait%
        always:
          - set: {lights: %at-end%}
        rollout:
          waves: [%wave%, rest]
          pause-when: {failed: %failed%, at-least: %at-least%}
          go-on-when: {succeeded: %succeeded%}
          between-waves: {soak: %soak%, check: [/usr/bin/check, "%check%"], ask: %ask%}
          window: {from: "%from%", for: %for%, zone: %zone%}
          retry: {transient: %transient%, device: %device%}
          tolerate: {unreachable: %unreachable%}
          quarantine-after: %quarantine%
          again: %again%
        settle: {quiet: %quiet%}
        connect: {timeout: %timeout%, attempts: %attempts%}
        notify: {targets: {crew: {program: [/usr/bin/page, "%page%"]}}}
        """

    private static let fields: [Field] = [
        Field("name", "steered", ["other", "steered-2"], named: "because name "),
        Field("id", "v1", ["v7", "bus"], named: "was not approved as a vehicle of it"),
        Field(
            "serial",
            "00f0000000000001",
            ["00f0000000000009", "00f0000000000008"],
            named: "v1: serial "
        ),
        Field(
            "go-serial",
            "G9-0001",
            ["G9-0002"],
            named: "v1: device: go-serial g9-0002 was approved as g9-0001"
        ),
        Field("issuer", "--quick", ["--slow", "--late"], named: "words 2 "),
        Field(
            "pairing",
            "none",
            ["just-works"],
            named: "v1: device: pairing just-works was approved as none"
        ),
        Field("own", "", [", steps: [{wait: 1s}]"], named: "v2: "),
        Field(
            "more",
            "",
            ["- {id: v3, serial: \"00f0000000000003\", family: comodule, secret: \"file:key\"}"],
            named: "v3: was not approved as a vehicle of it"
        ),
        Field(
            "sha256",
            digest,
            ["0" + digest.dropFirst(), digest.dropLast() + "0"],
            named: "v1 and 1 more: image city: sha256 "
        ),
        Field("version", "4.12.0", ["4.12.1", "9.0"], named: "image city: version "),
        Field(
            "size",
            "100000",
            ["100001"],
            named: "image city: size 100001 was approved as 100000"
        ),
        Field("type", "17", ["18", "99"], named: "image city: type "),
        Field("variant", "0", ["1"], named: "image city: variant 1 was approved as 0"),
        Field("charge", "40", ["4", "41"], named: "v1 and 1 more: step 1: require 1 2 "),
        Field("otherwise", "defer", ["skip", "fail", "warn"], named: "step 1: otherwise "),
        Field(
            "downgrade",
            "forbid",
            ["allow"],
            named: "step 2: downgrade true was approved as false"
        ),
        Field("within", "2m", ["1m", "30s"], named: "step 2: within "),
        Field("speed", "0", ["1"], named: "step 2: healthy 1 2 "),
        Field(
            "judge",
            "--strict",
            ["--lax"],
            named: "step 2: judge 2 --lax was approved as --strict"
        ),
        Field(
            "lights",
            "disabled",
            ["enabled"],
            named: "step 3: set 1 2 enabled was approved as disabled"
        ),
        Field("wait", "10s", ["11s", "1m"], named: "step 4: wait "),
        Field("at-end", "enabled", ["disabled"], named: "always 1: set 1 2 "),
        Field("wave", "1", ["2", "50%"], named: "rollout: waves 1 "),
        Field("failed", "5%", ["50%", "3"], named: "rollout: pause: failed "),
        Field("at-least", "2", ["1"], named: "rollout: pause: at-least 1 was approved as 2"),
        Field("succeeded", "90%", ["10%"], named: "rollout: go-on-when: succeeded "),
        Field("soak", "1h", ["0s", "61m"], named: "rollout: between-waves: soak "),
        Field(
            "check",
            "--all",
            ["--none"],
            named: "rollout: between-waves: check 2 --none was approved as --all"
        ),
        Field(
            "ask",
            "false",
            ["true"],
            named: "rollout: between-waves: ask true was approved as false"
        ),
        Field("from", "01:00", ["02:00", "13:30"], named: "rollout: window: from "),
        Field("for", "4h", ["23h", "3h"], named: "rollout: window: for "),
        Field(
            "zone",
            "Europe/Tallinn",
            ["UTC"],
            named: "rollout: window: zone UTC was approved as Europe/Tallinn"
        ),
        Field("transient", "4", ["5"], named: "rollout: retry: transient 5 was approved as 4"),
        Field("device", "1", ["0"], named: "rollout: retry: device 0 was approved as 1"),
        Field(
            "unreachable",
            "1",
            ["2"],
            named: "rollout: tolerate: unreachable 2 was approved as 1"
        ),
        Field("quarantine", "3", ["4"], named: "rollout: quarantine-after 4 was approved as 3"),
        Field("again", "when-asked", ["daily", "each-run"], named: "rollout: again "),
        Field("quiet", "20s", ["1s", "21s"], named: "settle: quiet "),
        Field("timeout", "30s", ["31s"], named: "connect: timeout 31s was approved as 30s"),
        Field("attempts", "2", ["3"], named: "connect: attempts 3 was approved as 2"),
        Field("page", "--now", ["--later"], named: "words 2 --later was approved as --now"),
    ]

    private static func text(_ edited: Field? = nil, _ edit: String = "") -> String {
        fields.reduce(manifest) { text, field in
            text.replacingOccurrences(
                of: "%\(field.mark)%",
                with: field.mark == edited?.mark ? edit : field.written
            )
        } + "\n"
    }

    @Test func `200 edits of an approved manifest run nothing, and each is named`() throws {
        let yard = try ApprovalYard()
        try yard.program.write("steered.yaml", Self.text())
        try yard.save()
        try yard.sign("a", ApprovalYard.anna)
        try yard.sign("b", ApprovalYard.bo)
        var random = SplitMix64(seed: 20_261_129)
        var edited: Set<String> = []
        for number in 0..<200 {
            // Each field once, then by chance.
            let field =
                number < Self.fields.count
                ? Self.fields[number] : Self.fields.randomElement(using: &random)
            guard let field, let edit = field.edits.randomElement(using: &random) else { continue }
            edited.insert(field.mark)
            try yard.program.write("steered.yaml", Self.text(field, edit))
            let result = try yard.run("--quiet")
            #expect(result.status == 77, "\(number), \(field.mark) \(edit): \(result.errors)")
            #expect(
                result.errors.contains(
                    "because it is not the plan in steered.yaml.plan, approved by anna, bo"
                )
                    && result.errors.contains(field.name),
                "\(number), \(field.mark) \(edit): \(result.errors)"
            )
            #expect(yard.records == [], "\(number), \(field.mark) \(edit)")
        }
        #expect(edited.count == Self.fields.count)
        #expect(yard.records == [])
    }

    @Test func `what does not change the work needs no new approval`() throws {
        let yard = try ApprovalYard()
        try yard.save()
        try yard.sign("a", ApprovalYard.anna)
        try yard.sign("b", ApprovalYard.bo)
        let manifest = Program.steeredManifest("{waves: [1, rest]}")
        try yard.program.write(
            "steered.yaml",
            "# A remark.\n"
                + manifest.replacingOccurrences(
                    of: "url: file:demo/city-4.12.0.zip",
                    with: "url: file:./demo/city-4.12.0.zip"
                )
        )
        let result = try yard.run()
        #expect(result.status == 0, "\(result.errors)")
    }
}

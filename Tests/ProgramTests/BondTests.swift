import Foundation
import Testing

/// Vehicles whose modules require a bond, from the fleet list to the module's answer.
@Suite struct BondTests {
    @Test func `each module that wants a bond is updated, or named with what to do`() throws {
        let program = try Program()
        let fixture = "Tests/SMPTests/Fixtures/large.img"
        try program.write(
            "large.img",
            Data(contentsOf: Program.repository.appending(path: fixture))
        )
        let inspected = try program.run(["image", "inspect", "--json", "large.img"])
        let json = try JSONSerialization.jsonObject(with: Data(inspected.output.utf8))
        let digest = try #require((json as? [String: Any])?["sha256"] as? String)
        try program.write("right", "012345\n")
        try program.write("wrong", "543210")
        try program.write(
            "fleet.csv",
            """
            id,serial,family,pairing,passkey
            plain,ym-0001,mcumgr,,
            works,ym-0002,mcumgr,just-works,
            digits,ym-0003,mcumgr,passkey,file:right
            meant,ym-0004,mcumgr,,file:right
            wrong,ym-0005,mcumgr,passkey,file:wrong
            silent,ym-0006,mcumgr,,
            less,ym-0007,mcumgr,just-works,
            shy,ym-0008,mcumgr,just-works,

            """
        )
        try program.write(
            "rollout.yaml",
            """
            name: bonds
            vehicles: {from: fleet.csv}
            images:
              new:
                url: file:large.img
                sha256: "\(digest)"
                version: "2.0.0"
                fits: {family: mcumgr}
            steps:
              - update: {to: new}

            """
        )
        try program.write(
            "depot.yaml",
            """
            name: bonds
            modules:
              - {serial: ym-0001, family: mcumgr}
              - {serial: ym-0002, family: mcumgr, pairing: just-works}
              - {serial: ym-0003, family: mcumgr, pairing: passkey, passkey: "012345"}
              - {serial: ym-0004, family: mcumgr, pairing: passkey, passkey: "012345"}
              - {serial: ym-0005, family: mcumgr, pairing: passkey, passkey: "012345"}
              - {serial: ym-0006, family: mcumgr, pairing: just-works}
              - {serial: ym-0007, family: mcumgr, pairing: passkey, passkey: "012345"}
              - {serial: ym-0008, family: mcumgr, pairing: just-works, refuses-pairing: true}

            """
        )
        let result = try program.run([
            "run", "rollout.yaml", "--simulate", "depot.yaml", "--state", program.state, "--json",
        ])
        #expect(result.status == 10, "\(result.output.suffix(900)) \(result.errors.suffix(900))")
        let document = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
        let vehicles = try #require((document as? [String: Any])?["vehicles"] as? [[String: Any]])
        var told: [String: (outcome: String, message: String)] = [:]
        for vehicle in vehicles {
            guard let id = vehicle["vehicle"] as? String ?? vehicle["id"] as? String else {
                continue
            }
            told[id] = (
                vehicle["outcome"] as? String ?? "", vehicle["message"] as? String ?? ""
            )
        }
        for id in ["plain", "works", "digits", "meant"] {
            #expect(told[id]?.outcome == "succeeded", "\(id) \(told[id] as Any)")
        }
        for (id, sentence, remedy) in [
            ("wrong", "did not take the passkey", "check the secret"),
            ("silent", "asks for a bond, and neither", "set `pairing`"),
            ("less", "asks for a bond by passkey", "set `pairing: passkey`"),
            ("shy", "refused to pair", "let the module pair"),
        ] {
            #expect(told[id]?.outcome == "rejected", "\(id) \(told[id] as Any)")
            #expect(told[id]?.message.contains(sentence) == true, "\(id) \(told[id] as Any)")
            #expect(told[id]?.message.contains(remedy) == true, "\(id) \(told[id] as Any)")
        }
        #expect(!(result.output + result.errors).contains("012345"))
        #expect(!(result.output + result.errors).contains("543210"))
    }

    @Test func `a passkey that is none is refused before any vehicle is touched`() throws {
        let program = try Program()
        try program.write("digits", "12345")
        try program.write(
            "rollout.yaml",
            """
            name: bonds
            vehicles:
              - {id: one, serial: ym-0001, family: mcumgr, pairing: passkey, passkey: "file:digits"}
            steps:
              - wait: 1s

            """
        )
        try program.write(
            "depot.yaml",
            "name: n\nmodules:\n  - {serial: ym-0001, family: mcumgr}\n"
        )
        let result = try program.run([
            "run", "rollout.yaml", "--simulate", "depot.yaml", "--state", program.state,
        ])
        #expect(result.status == 78, "\(result.errors)")
        #expect(result.errors.contains("the passkey of vehicle one cannot be one"))
        #expect(result.errors.contains("six digits") && !result.errors.contains("12345"))
    }
}

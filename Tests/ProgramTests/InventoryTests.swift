import Foundation
import Testing

/// `inventory`: made in simulated air and over a served bus, stored, and shown again without a
/// radio.
@Suite(.serialized, .timeLimit(.minutes(3))) struct InventoryTests {
    /// One module of each family that can be read, one that is away, and one whose key is missing.
    private static let depot = """
        name: yard
        seed: 11
        modules:
          - {serial: "00a0000000000001", key: "d0c5000000000000000000000000000000000001",
             type: 17, version: "4.11.3"}
          - {serial: "00a0000000000002", key: "d0c5000000000000000000000000000000000001",
             type: 18, version: "4.12.0"}
          - {serial: "00a0000000000003", key: "d0c5000000000000000000000000000000000001",
             type: 17, version: "4.12.0"}
          - {serial: "5a000000000a", family: lrdevice}

        """

    private static let manifest = """
        name: yard-4.12
        vehicles: {from: fleet.csv}
        images:
          city-4.12:
            url: file:city-4.12.0.zip
            sha256: "7505fe5b8af2bb43117d294cd35b8eebf17838e5390865a4b031c76da50094cf"
            version: "4.12.0"
            fits: {family: comodule, type: 17, variant: 0}
        steps:
          - update: {to: city-4.12}
          - set: {lights: enabled}

        """

    private let program: Program

    init() throws {
        program = try Program()
        try program.write("depot.yaml", Self.depot)
        try program.write("yard.yaml", Self.manifest)
        try program.write("demo.key", "d0c5000000000000000000000000000000000001\n")
        let rows = [1, 2, 4].map { "bike-0\($0),00a000000000000\($0),comodule,file:demo.key\n" }
        try program.write(
            "fleet.csv",
            "id,serial,family,secret\n" + rows.joined()
                + "bike-03,00a0000000000003,comodule,file:gone.key\n"
        )
    }

    private func inventory(_ more: String...) throws -> Program.Result {
        try program.run(["inventory", "--state", program.state, "--for", "5s"] + more)
    }

    private func vehicles(_ result: Program.Result) throws -> [String: [String: Any]] {
        let document = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
        let rows = try #require((document as? [String: Any])?["vehicles"] as? [[String: Any]])
        return Dictionary(
            rows.map { ($0["vehicle"] as? String ?? $0["serial"] as? String ?? "?", $0) }
        ) { first, _ in first }
    }

    private func expectYard(_ result: Program.Result) throws {
        let yard = try vehicles(result)
        #expect(yard.count == 4)
        let first = try #require(yard["bike-01"])
        #expect((first["firmware"] as? [String: String])?["secondary"] == "4.11.3")
        #expect((first["identity"] as? [String: String])?["type"] == "17")
        #expect(first["battery"] as? String == "80%" && first["bond"] as? String == "none")
        #expect(
            first["drift"] as? [String] == [
                "4.11.3, not 4.12.0", "lights disabled, not enabled",
            ]
        )
        let second = yard["bike-02"]?["drift"] as? [String]
        #expect(second?.contains("type 18, and city-4.12 is for 17") ?? false, "\(second ?? [])")
        #expect(yard["bike-04"]?["problem"] as? String == "not heard")
        #expect(yard["bike-04"]?["read"] == nil)
        let third = yard["bike-03"]?["problem"] as? String ?? ""
        #expect(third.contains("bike-03") && third.contains("cannot be read"), "\(third)")
    }

    @Test func `a yard is read, kept, compared with its manifest and shown without a radio`()
        throws
    {
        let looked = try inventory(
            "--manifest",
            "yard.yaml",
            "--simulate",
            "depot.yaml",
            "--json"
        )
        #expect(looked.status == 10, "\(looked.errors)")
        try expectYard(looked)
        let last = try inventory("--manifest", "yard.yaml", "--last", "--json")
        #expect(last.status == 0, "\(last.errors)")
        try expectYard(last)

        let table = try inventory("--last", "--manifest", "yard.yaml", "--limit", "bike-01")
        #expect(table.output.split(separator: "\n").count == 2)
        #expect(table.output.contains("4.11.3, not 4.12.0"), "\(table.output)")
        #expect(table.errors == "1 vehicle, 1 not as the manifest has them\n")
        let csv = try inventory("--last", "--manifest", "yard.yaml", "--csv").output
        #expect(csv.hasPrefix("vehicle,serial,family,profile,model,version,"))
        #expect(csv.split(separator: "\r\n").count == 5, "\(csv)")

        let show = try program.run(["show", "--state", program.state, "bike-01"])
        #expect(show.status == 0, "\(show.errors)")
        #expect(show.output.contains("version 4.11.3") && show.output.contains("bond: none"))
        #expect(show.output.contains("state_of_charge 80 percent"), "\(show.output)")
        let scan = try program.run([
            "scan", "--for", "5s", "--json", "--state", program.state, "--simulate", "depot.yaml",
        ])
        #expect(scan.output.contains(#""secondary":"4.11.3""#), "\(scan.output)")
    }

    @Test func `a served bus gives the same yard as simulated air`() throws {
        let served = try ServedDepot("depot.yaml", of: program)
        let looked = try inventory("--manifest", "yard.yaml", "--bus", served.address, "--json")
        #expect(looked.status == 10, "\(looked.errors)")
        try expectYard(looked)
        withExtendedLifetime(served) {}
    }

    @Test func `anyone who is in reach is read as far as it needs no secret`() throws {
        let looked = try inventory("--simulate", "depot.yaml", "--json")
        #expect(looked.status == 0, "\(looked.errors)")
        let yard = try vehicles(looked)
        #expect(yard.count == 4)
        let bike = yard["00a0000000000001"]?["problem"] as? String
        #expect(bike == "it is opened by a secret, which a fleet list names")
        let lock = try #require(yard["5a000000000a"])
        #expect(lock["problem"] == nil && lock["read"] != nil)
        #expect(!((lock["properties"] as? [Any])?.isEmpty ?? true))
    }

    @Test func `what a run has proven since is newer than the inventory`() throws {
        let image = Program.repository.appending(path: "manifests/demo/city-4.12.0.zip")
        try program.write("city-4.12.0.zip", Data(contentsOf: image))
        _ = try inventory(
            "--manifest",
            "yard.yaml",
            "--simulate",
            "depot.yaml",
            "--limit",
            "bike-01"
        )
        let run = try program.run([
            "run", "yard.yaml", "--simulate", "depot.yaml", "--state", program.state, "--limit",
            "bike-01", "--json",
        ])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains(#""firmware":{"version":"#), "\(run.output)")
        let kept = try vehicles(
            inventory("--last", "--manifest", "yard.yaml", "--json", "--limit", "bike-01")
        )
        #expect((kept["bike-01"]?["firmware"] as? [String: String])?["secondary"] == "4.12.0")
        #expect(kept["bike-01"]?["drift"] as? [String] == ["lights disabled, not enabled"])
        // The simulated depot keeps its settings: a second inventory finds what the manifest
        // requires.
        let again = try inventory(
            "--manifest",
            "yard.yaml",
            "--simulate",
            "depot.yaml",
            "--limit",
            "bike-01",
            "--json"
        )
        #expect(again.status == 0, "\(again.errors)")
        #expect((try vehicles(again)["bike-01"]?["drift"] as? [String]) == [])
    }

    @Test(arguments: [
        (["--last"], 66, "there is no journal"),
        (["--limit", "bike-*"], 64, "--manifest"),
        (["--json", "--csv"], 64, "cannot be used together"),
        (["--bus", "unix:path=/nonexistent"], 69, "doctor"),
    ])
    func `what cannot be listed says why`(line: [String], status: Int32, words: String) throws {
        let result = try program.run(["inventory", "--state", program.state] + line)
        #expect(result.status == status && result.errors.contains(words), "\(result.errors)")
    }
}

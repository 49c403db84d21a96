import Base
import Manifest
import Testing

@Suite struct FrozenPlanTests {
    private func digest(_ manifest: String, fleet: String = Sample.fleet) throws -> SHA256Digest {
        let (plan, diagnostics) = try Sample.read(manifest, fleet: fleet)
        return try #require(plan, "\(diagnostics)").digest
    }

    @Test func `SHA-256 is the standard's`() {
        #expect(
            SHA256.digest(of: Array("abc".utf8)).description
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        )
        #expect(
            SHA256.digest(of: []).description
                == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        )
    }

    /// People sign the digest, so it must not change between releases.
    @Test func `the sample's digest stays the same from release to release`() throws {
        let plan = try #require(try Sample.read().plan)
        let text =
            #"{"form":"yardmaster-plan-1","name":"tallinn-4.12","vehicles":["#
            + #"["EE-1","00112233445566aa","comodule","generic",0],"#
            + #"["EE-2","00112233445566ab","comodule","city",0]],"#
            + #""steps":[[{"require":[["speed","== 0"],["state_of_charge",">= 40"]],"#
            + #""otherwise":"defer"},{"update":"city-4.12","downgrade":false,"healthy":[],"#
            + #""within":120000000000},{"set":[["lights","disabled"]]},{"command":["lock"]}]],"#
            + #""always":[{"command":["lock"]}],"images":[{"name":"city-4.12","sha256":""#
            + Sample.digest
            + #"","version":"4.12.0","family":"comodule","type":17,"variant":0}],"#
            + #""rollout":{"waves":["3","10%","rest"],"pause":{"failed":"5%","at-least":10},"#
            + #""window":{"from":"01:00","for":14400000000000,"zone":"Europe/Tallinn"},"#
            + #""retry":{"transient":4,"device":1},"#
            + #""tolerate":{"unreachable":"0","deferred":"0"}},"#
            + #""settle":{"quiet":20000000000,"confirm-gap":2000000000,"deadline":600000000000},"#
            + #""connect":{"timeout":30000000000,"attempts":4}}"#
        #expect(plan.canonicalText == text)
        #expect(plan.digest == SHA256.digest(of: Array(text.utf8)))
    }

    /// Changes to the sample's text that leave the plan as it is.
    static let harmless: [(String, String)] = [
        ("# or a list", "# changed comment"), ("name: tallinn-4.12", "name:   'tallinn-4.12'"),
        ("lights: disabled", "lights: \"disabled\""), (">= 40", ">=40.0"), ("\"== 0\"", "0"),
        ("{family: comodule, type: 17, variant: 0}", "{variant: 0, type: 17, family: comodule}"),
        ("speed: \"== 0\"", "\"speed\": \"== 0\""), ("version: \"4.12.0\"", "version: \"4.12\""),
        ("for: 4h", "for: 240m"), ("retry: {transient: 4, device: 1}", "x-none: 1"),
        ("    otherwise: defer\n", ""),
        ("  - command: lock\nalways", "  - command: [lock]\nalways"),
        ("https://images.example", "https://mirror.example"),
        ("adapters: [hci0]", "adapters: [hci1]"),
        ("adapters: [hci0]", "adapters: [\"00:1A:7D:DA:71:13\"]"),
        (Sample.digest, Sample.digest.uppercased()),
        ("select: {depot: tallinn-1}", "select: {depot: [tallinn-1]}"),
        ("radio: {adapters: [hci0], links-per-adapter: 1}\n", "settle: {quiet: 20s}\n"),
    ]

    @Test(arguments: harmless)
    func `spelling does not change the digest`(old: String, new: String) throws {
        let changed = Sample.manifest.replacing(old, with: new)
        #expect(changed != Sample.manifest)
        #expect(try digest(changed) == digest(Sample.manifest))
    }

    /// Changes to the sample's text that change what a run does.
    static let meaningful: [(String, String)] = [
        ("name: tallinn-4.12", "name: tallinn-4.13"), (">= 40", ">= 41"), (">= 40", "> 40"),
        ("otherwise: defer", "otherwise: skip"), ("disabled", "enabled"), ("lights:", "horn:"),
        ("version: \"4.12.0\"", "version: \"4.12.1\""), ("0a0a", "0b0a"), ("type: 17", "type: 18"),
        (", variant: 0", ""), ("{to: city-4.12}", "{to: city-4.12, downgrade: allow}"),
        ("{to: city-4.12}", "{to: city-4.12, healthy: {a: 1}}"),
        ("always:\n  - command: lock", "always:\n  - command: locate"),
        ("[3, 10%, rest]", "[2, 10%, rest]"),
        ("failed: 5%", "failed: 5"), ("at-least: 10", "at-least: 9"), ("01:00", "02:00"),
        ("for: 4h", "for: 5h"), ("Europe/Tallinn", "Europe/Riga"), ("device: 1", "device: 2"),
        ("transient: 4", "transient: 3"), ("select: {depot: tallinn-1}", "select: {id: EE-1}"),
        ("radio:", "settle: {quiet: 21s}\nradio:"), ("radio:", "connect: {attempts: 3}\nradio:"),
        ("  retry:", "  tolerate: {unreachable: 1}\n  retry:"),
        ("    fits:", "    size: 5\n    fits:"),
    ]

    @Test(arguments: meaningful)
    func `what changes the work changes the digest`(old: String, new: String) throws {
        let changed = Sample.manifest.replacing(old, with: new)
        #expect(changed != Sample.manifest)
        #expect(try digest(changed) != digest(Sample.manifest))
    }

    @Test func `the fleet file counts by its vehicles only`() throws {
        let before = try digest(Sample.manifest)
        let plain = Sample.fleet.replacing("\n", with: "\r\n").replacing(
            "EE-1,",
            with: "\"EE-1\" ,"
        )
        #expect(try digest(Sample.manifest, fleet: plain) == before)
        // Changes to a vehicle that is not selected, to the place of a secret, and to another
        // label.
        let others = Sample.fleet.replacing("tartu", with: "narva").replacing("keys/", with: "k/")
        #expect(try digest(Sample.manifest, fleet: others) == before)
        let family = Sample.fleet.replacing("comodule,city", with: "comodule,town")
        #expect(try digest(Sample.manifest, fleet: family) != before)
        let lines = Sample.fleet.split(separator: "\n").map(String.init)
        let swapped = [lines[0], lines[2], lines[1], lines[3]].joined(separator: "\n")
        #expect(try digest(Sample.manifest, fleet: swapped) != before)
    }

    @Test func `steps in every row are the same plan as steps for all`() throws {
        let manifest = "name: n\nvehicles: {from: tallinn.csv}\nsteps: [{command: lock}]\n"
        let fleet = "id,serial,family\na,s,mcumgr\nb,t,mcumgr\n"
        let own = "id,serial,family,steps\na,s,mcumgr,command: lock\nb,t,mcumgr,command: lock\n"
        let other = "id,serial,family,steps\na,s,mcumgr,command: lock\nb,t,mcumgr,command: locate\n"
        #expect(try digest(manifest, fleet: fleet) == digest(manifest, fleet: own))
        #expect(try digest(manifest, fleet: fleet) != digest(manifest, fleet: other))
    }

    @Test func `the place of the manifest does not count`() throws {
        let files: ManifestReader.Files = { _, _ throws(FileError) in Array(Sample.fleet.utf8) }
        let bytes = Array(Sample.manifest.utf8)
        let first = try ManifestReader.read(bytes, path: "a/m.yaml", files: files).plan
        let second = try ManifestReader.read(bytes, path: "/srv/x.yaml", files: files).plan
        #expect(first?.digest == second?.digest)
        #expect(first != second)
    }

    @Test(arguments: [
        ("[3, 10%, rest]", 100, [3, 10, 87]), ("[3, 10%, rest]", 2, [2]), ("[rest]", 5, [5]),
        ("[1, 1]", 5, [1, 1, 3]), ("[10%]", 5, [1, 4]), ("[50%, 50%]", 5, [2, 2, 1]),
        ("[100%, 3]", 5, [5]), ("[5, rest]", 5, [5]), ("[1000000, rest]", 3, [3]),
    ])
    func `waves are cut from all vehicles and cover them`(
        waves: String,
        total: Int,
        sizes: [Int]
    ) throws {
        let rows = (0..<total).map { "v\($0),s\($0),mcumgr\n" }.joined()
        let manifest = """
            name: n
            vehicles: {from: tallinn.csv}
            steps: [{command: lock}]
            rollout: {waves: \(waves)}
            """
        let plan = try Sample.read(manifest, fleet: "id,serial,family\n" + rows).plan
        #expect(plan?.waveSizes == sizes)
    }

    @Test func `ten thousand vehicles are read within moments`() throws {
        let rows = (0..<10_000).map { "v\($0),s\($0),mcumgr,command: lock\n" }.joined()
        let manifest = "name: n\nvehicles: {from: tallinn.csv}\n"
        let clock = ContinuousClock()
        let time = try clock.measure {
            let plan = try Sample.read(manifest, fleet: "id,serial,family,steps\n" + rows).plan
            #expect(plan?.vehicles.count == 10_000)
        }
        #expect(time < .seconds(30))
    }
}

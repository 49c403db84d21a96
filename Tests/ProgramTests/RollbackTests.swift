import Base
import Families
import Foundation
import Images
import Testing

/// The release of before the usual one, as a file that a person has.
enum OldCity {
    static func write(in program: Program) throws -> String {
        let firmware = (0..<30_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let packet = InitPacket(
            type: .application,
            applicationSize: UInt32(firmware.count),
            digest: SHA256.digest(of: firmware),
            firmwareVersion: FirmwareVersion(4, 11, 3).packed
        )
        var zip = ZipWriter()
        let manifest = #"{"manifest": {"application": {"dat_file": "a.dat", "bin_file": "a.bin"}}}"#
        try zip.add("manifest.json", Array(manifest.utf8))
        try zip.add("a.dat", packet.serialized)
        try zip.add("a.bin", firmware)
        return try program.write("city-4.11.3.zip", Data(zip.finish()))
    }
}

/// `rollback` and `recall`, as people and scripts use them.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RollbackTests {
    private static let digest = "7505fe5b8af2bb43117d294cd35b8eebf17838e5390865a4b031c76da50094cf"

    private let yard: PromiseYard
    private var program: Program { yard.program }

    init() throws {
        yard = try PromiseYard(bikes: ["", "", ""])
        try yard.manifest(family: "comodule", steps: "[{update: city}]")
    }

    private func rollback(_ words: String...) throws -> Program.Result {
        try program.run(
            ["rollback", "--simulate", "depot.yaml", "--state", program.state] + words
        )
    }

    private func image() throws -> String { try OldCity.write(in: program) }

    @Test func `vehicles go back to what they ran, and the rollout is recalled`() throws {
        #expect(try yard.run().status == 0)
        let file = try image()

        let without = try rollback("--dry-run", "yard")
        #expect(without.status == 0)
        #expect(without.output.contains("b1: stays as it is: it ran 4.11.3 before"))
        #expect(without.output.contains("\n3 stay as they are\n"), "\(without.output)")
        let nothing = try rollback("--yes", "yard")
        #expect(nothing.status == 10 && nothing.errors.contains("nothing is brought back"))
        #expect(try yard.say("status").output.contains("finished"))

        let shown = try rollback("--image", file, "yard")
        #expect(shown.status == 64 && shown.errors.contains("--yes"), "\(shown.errors)")
        #expect(shown.output.contains("b1: 4.12.0 → 4.11.3"), "\(shown.output)")
        #expect(
            shown.output.contains("3 vehicles go back; with that yard is recalled"),
            "\(shown.output)"
        )
        let preview = try rollback("--dry-run", "--image", file, "yard", "b1").output
        #expect(
            preview.contains("1 vehicle goes back; with that")
                && preview.contains("next: yardmaster rollback --state ")
                && preview.contains(" --simulate ")
                && preview.contains("depot.yaml yard --image \(file) b1\n"),
            "\(preview)"
        )

        let done = try rollback("--yes", "--reason", "brakes", "--image", file, "yard")
        #expect(done.status == 0, "\(done.output) \(done.errors.suffix(900))")
        #expect(done.lastLine.contains("rollout=yard-rollback ok=3"), "\(done.lastLine)")

        let status = try yard.say("status", "--rollout", "yard", "--json")
        let document = try yard.document(status)
        #expect(document["state"] as? String == "recalled")
        #expect("\(document["reason"] ?? "")".contains("rolled back by yard-rollback: brakes"))
        #expect(document["author"] is String)
        #expect(
            try yard.say("status", "--rollout", "yard").output.contains("recalled: rolled back")
        )
        let refused = try yard.run()
        #expect(refused.status == 13, "\(refused.lastLine)")
        #expect((refused.output + refused.errors).contains("rollback yard"), "\(refused.output)")

        // Said again, there is nothing left to do.
        let again = try rollback("--yes", "--image", file, "yard")
        #expect(again.status == 0 && again.lastLine.contains("current=3"), "\(again.lastLine)")
    }

    @Test func `a rollback that was cut off goes on when it is said again`() throws {
        #expect(try yard.run().status == 0)
        let file = try image()
        let words = [
            "rollback", "--simulate", "depot.yaml", "--state", program.state, "--pace", "2",
        ]
        let running = try program.begin(
            "cut",
            words + ["--yes", "--image", file, "yard"]
        )
        #expect(running.waits(for: "\"progress\""))
        kill(running.process.processIdentifier, SIGKILL)
        running.process.waitUntilExit()
        #expect(try yard.run().status == 13)
        // The plan is kept, and its image is in the store.
        try FileManager.default.removeItem(atPath: file)
        let done = try rollback("--yes", "yard")
        #expect(done.status == 0, "\(done.output) \(done.errors.suffix(900))")
        #expect(done.lastLine.contains("failed=0"), "\(done.lastLine)")
        #expect(try yard.say("status").output.contains("4.11.3"))
    }

    @Test func `only named vehicles go back, and others have nothing to undo`() throws {
        #expect(try yard.run("yard", "--limit", "b1", "--limit", "b2").lastLine.contains("ok=2"))
        let file = try image()
        let shown = try rollback("--dry-run", "--json", "--image", file, "yard")
        let document = try yard.document(shown)
        let rows = try #require(document["vehicles"] as? [[String: Any]])
        #expect(rows.map { "\($0["fate"] ?? "")" } == ["back", "back", "untouched"])
        let one = try rollback("--yes", "--image", file, "yard", "b1")
        #expect(one.status == 0 && one.lastLine.contains("ok=1"), "\(one.errors) \(one.lastLine)")
        let rest = try rollback("--yes", "--image", file, "yard")
        #expect(rest.status == 0 && rest.lastLine.contains("ok=1 current=1"), "\(rest.lastLine)")
    }

    @Test func `a recalled image is installed by no run until the recall is lifted`() throws {
        #expect(try yard.run("yard", "--limit", "b1").lastLine.contains("ok=1"))
        #expect(try yard.say("recall", "city").status == 64, "a reason is needed")
        #expect(try yard.say("recall", "town", "--reason", "x").status == 66)
        let recalled = try yard.say("recall", "city", "--reason", "brakes")
        #expect(recalled.status == 0, "\(recalled.errors)")
        #expect(recalled.output.contains("b1 runs city"), "\(recalled.output)")
        #expect(recalled.output.contains("\nnext: yardmaster rollback --state "))
        let run = try yard.run("yard", "--events", "recalled.jsonl")
        #expect(run.status == 10, "\(run.lastLine)")
        // No module is searched for.
        let events = try String(
            contentsOfFile: program.folder.path + "/recalled.jsonl",
            encoding: .utf8
        )
        #expect(events.contains("vehicle-ended") && !events.contains("attempt-started"))
        #expect(run.output.contains("its image city is recalled"), "\(run.output.suffix(900))")
        #expect(try yard.say("status").output.contains("b1 runs city, which is recalled"))
        let list = try yard.say("recall", "--list", "--json")
        let all = try #require(try yard.document(list)["recalls"] as? [[String: Any]])
        #expect(all.first?["image"] as? String == Self.digest)
        #expect(all.first?["reason"] as? String == "brakes")
        let lifted = try yard.say("recall", "--lift", "city")
        #expect(lifted.status == 0 && lifted.output.contains("lifted"), "\(lifted.output)")
        #expect(try yard.say("recall", "--list").output.contains("nothing is recalled"))
        #expect(try yard.run().lastLine.contains("ok=2 current=1"))
    }

    @Test
    func `a recall beside a run lets what has begun come to its end, and begins nothing more`()
        throws
    {
        let running = try program.begin("beside", yard.line() + ["--pace", "2"])
        #expect(running.waits(for: "\"progress\""))
        let recalled = try yard.say("recall", Self.digest, "--reason", "brakes")
        #expect(recalled.status == 0 && recalled.output.contains("has "), "\(recalled.output)")
        running.process.waitUntilExit()
        #expect(running.process.terminationStatus == 10)
        let status = try yard.document(try yard.say("status", "--json"))
        let counts = try #require(status["counts"] as? [String: Any])
        #expect(counts["succeeded"] as? Int == 1 && counts["rejected"] as? Int == 2, "\(counts)")
    }
}

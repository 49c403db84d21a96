import Foundation
import Signers
import Testing

/// The facts that a depot has about an image: its signer, the key or role, and its origin.
@Suite struct ProvenanceTests {
    private func inspect(_ program: Program, _ more: String...) throws -> Program.Result {
        try program.run(
            ["image", "inspect", TrustedDepot.digest, "--state", program.state] + more
        )
    }

    @Test func `a signed image names its key, its signer's words and its origin`() throws {
        let depot = try SignedDepot()
        try depot.sign("counter:5 built by hand")
        #expect(try depot.depot.fetch().status == 0)
        let result = try inspect(depot.program)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.contains("came from demo/city-4.12.0.zip, 20"), "\(result.output)")
        #expect(
            result.output.contains(
                "signed by the key \(depot.signer.publicLine), 'counter:5 built by hand', first seen"
            ),
            "\(result.output)"
        )
        // A second key has signed the image, too, and the first one is still reported.
        let other = MinisignSigner(9)
        try depot.sign("counter:5", by: other)
        #expect(try depot.depot.fetch().status == 0)
        let both = try inspect(depot.program, "--json")
        for key in [depot.signer.publicLine, other.publicLine] {
            #expect(
                both.output.contains(key.replacing("/", with: "\\/")) || both.output.contains(key)
            )
        }
        // A copy of the file is recognised by its bytes.
        let file = try depot.program.run([
            "image", "inspect", "demo/city-4.12.0.zip", "--state", depot.program.state,
        ])
        #expect(file.output.contains("signed by the key"))
    }

    @Test func `an image of a repository names the role that lists it`() throws {
        let depot = try TrustedDepot()
        try depot.manifest()
        try depot.serve("good")
        #expect(try depot.fetch().status == 0)
        let result = try inspect(depot.program)
        #expect(
            result.output.contains("listed by the role targets of the repository vendor, first"),
            "\(result.output)"
        )
    }

    @Test func `an image that came with a bundle says so, and the report too`() throws {
        let depot = try SignedDepot()
        try depot.sign()
        try depot.make()
        try depot.trust()
        let target = depot.folder + "/rollout"
        #expect(try depot.verify("--target-dir", target).status == 0)
        #expect(try inspect(depot.program).output.contains("came from the bundle tallinn.bundle, "))
        try FileManager.default.copyItem(
            atPath: depot.folder + "/keys/demo.key",
            toPath: target + "/keys/demo.key"
        )
        _ = try depot.program.run([
            "run", target + "/manifest.yaml", "--simulate", "demo/depot.yaml", "--state",
            depot.program.state, "--report", "night.html", "--events", "events.jsonl",
        ])
        let report = try String(contentsOfFile: depot.folder + "/night.html", encoding: .utf8)
        #expect(report.contains("<br>signed by the key \(depot.signer.publicLine)"))
        #expect(report.contains("<br>came from the bundle tallinn.bundle, "))
        let events = try String(contentsOfFile: depot.folder + "/events.jsonl", encoding: .utf8)
        #expect(events.contains("\"provenance\":["))
    }
}

import Foundation
import Signers
import Testing

/// Plans that people must approve, on several gateways.
extension FleetRunTests {
    /// A run on a gateway whose policy demands `need` of three people.
    private func run(_ gateway: Gateway, need: Int) throws -> Program.Result {
        let people = [
            ("anna", ApprovalYard.anna), ("bo", ApprovalYard.bo), ("carl", ApprovalYard.carl),
        ]
        let keys = people.map { "  \($0.0): {key: \"\($0.1.publicLine)\"}\n" }.joined()
        let path = try gateway.program.write(
            "approvals.yaml",
            "keys:\n\(keys)rollouts: [{name: \"*\", need: \(need)}]\n",
            mode: 0o644
        )
        return try gateway.program.run(
            gateway.program.steeredRun + ["--fleet", gateway.address],
            environment: ["YARDMASTER_GATEWAY": gateway.name, "YARDMASTER_APPROVALS": path]
        )
    }

    /// Saves the plan for a fleet, and signs it.
    private func approve(
        _ gateway: Gateway,
        for fleet: String,
        by signers: [MinisignSigner]
    ) throws {
        let saved = try gateway.program.run([
            "plan", "--save", "steered.yaml.plan", "--fleet", fleet, "steered.yaml",
        ])
        try #require(saved.status == 0, "\(saved.errors)")
        let plan = gateway.program.folder.path + "/steered.yaml.plan"
        let bytes = Array(try Data(contentsOf: URL(filePath: plan)))
        for (index, signer) in signers.enumerated() {
            try gateway.program.write(
                "steered.yaml.plan.\(index).minisig",
                Data(signer.sign(bytes))
            )
        }
    }

    @Test func `signatures that one gateway brings are verified by each of the others`() throws {
        let yard = try Yard()
        let both = [ApprovalYard.anna, ApprovalYard.bo]
        let (north, south) = (try yard.gateway("north"), try yard.gateway("south"))
        #expect(try run(north, need: 2).status == 77)
        // What was signed for another fleet is nothing here.
        try approve(north, for: "postgresql://db.example/test", by: both)
        let other = try run(north, need: 2)
        #expect(other.status == 77)
        #expect(
            other.errors.contains("was approved as db.example:5432/test"),
            "\(other.errors)"
        )
        #expect(try yard.ask("SELECT count(*) FROM yardmaster.module") == "0\n")
        try approve(north, for: north.address, by: both)
        let first = try run(north, need: 2)
        #expect(first.status == 0, "\(first.errors)")
        #expect(
            try yard.ask("SELECT count(*) FROM yardmaster.plan WHERE view LIKE '%trusted comment%'")
                == "1\n"
        )
        // Without any file, by the row in the database.
        let second = try run(south, need: 2)
        #expect(second.status == 0, "\(second.errors)")
        #expect(second.output.contains("approved by anna, bo"), "\(second.output)")
        let strict = try run(try yard.gateway("strict"), need: 3)
        #expect(strict.status == 77)
        #expect(strict.errors.contains("because carl has not approved it"), "\(strict.errors)")
        let status = try Program().run(["fleet", "status", "--fleet", north.address])
        #expect(status.output.contains("approved by anna, bo"), "\(status.output)")
        // Who may write the database approves nothing.
        try yard.ask("UPDATE yardmaster.plan SET view = replace(view, 'timestamp', 'timestomp')")
        let third = try run(try yard.gateway("west"), need: 2)
        #expect(third.status == 77, "\(third.output)")
        #expect(third.errors.contains("anna has approved something else"), "\(third.errors)")
    }
}

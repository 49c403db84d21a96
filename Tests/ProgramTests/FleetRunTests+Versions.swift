import PrivatePostgres
import Testing

/// Programs of two versions on one database, while gateways are upgraded one after the other.
extension FleetRunTests {
    @Test func `a program works on tables one version ahead, or says what to do`() throws {
        let yard = try Yard()
        let rollout = "{waves: [1, rest]}"
        let gateways = try ["north", "south"].map { name in
            Gateway(
                program: try Program.steered(3, rollout: rollout),
                name: name,
                address: yard.server.address(yard.database)
            )
        }
        // What a later version may do to the tables: it only adds.
        try yard.ask(
            """
            UPDATE yardmaster.schema SET version = version + 1;
            ALTER TABLE yardmaster.gateway ADD COLUMN later text NOT NULL DEFAULT 'x';
            ALTER TABLE yardmaster.module ADD COLUMN later bigint DEFAULT 7;
            ALTER TABLE yardmaster.execution ADD COLUMN later text;
            ALTER TABLE yardmaster.verdict ADD COLUMN later integer NOT NULL DEFAULT 0;
            ALTER TABLE yardmaster.history ADD COLUMN later text;
            CREATE TABLE yardmaster.later (a integer);
            """
        )
        let fleet = ["--fleet", yard.server.address(yard.database)]
        let check = try Program().run(["fleet", "check"] + fleet)
        #expect(check.status == 0, "\(check.output)")
        #expect(check.output.contains("which this program can work with"))
        let begun = try gateways.map { try $0.begin() }
        for running in begun {
            let result = running.result()
            #expect(result.status == 0, "\(result.errors)\(result.output)")
            #expect(result.lastLine.contains("ok=3"))
        }
        #expect(try yard.faults() == "")
        #expect(try Program().run(["fleet", "upgrade"] + fleet).output.contains("nothing to do"))

        // One that it may not work with: nothing is begun, and the way out is named.
        try yard.ask("UPDATE yardmaster.schema SET oldest_reader = version")
        for line in [
            ["fleet", "check"], ["fleet", "upgrade"], ["gateways"], ["fleet", "status"],
        ] {
            let refused = try Program().run(line + fleet)
            #expect(refused.status == 78, "\(line): \(refused.output)")
            let words = refused.output + refused.errors
            #expect(words.contains("install the newer program on this machine"), "\(words)")
        }
        let refused = try gateways[0].run("--again")
        #expect(refused.status == 78)
        #expect(refused.errors.contains("install the newer program on this machine"))
        #expect(try yard.ask("SELECT max(epoch) FROM yardmaster.module") == "1\n")
    }

    @Test func `a program on tables of an older version begins nothing and names the upgrade`()
        throws
    {
        let yard = try Yard()
        let north = try yard.gateway("north", 1)
        let fleet = ["--fleet", yard.server.address(yard.database)]
        let version = try #require(
            Int(try yard.ask("SELECT version FROM yardmaster.schema").dropLast())
        )
        try yard.ask("UPDATE yardmaster.schema SET version = version - 1")
        let refusals =
            try [["fleet", "check"], ["gateways"], ["fleet", "status"]]
            .map { try Program().run($0 + fleet) } + [north.run()]
        for refused in refusals {
            let words = refused.output + refused.errors
            #expect(refused.status == 78, "\(words)")
            #expect(words.contains("version \(version - 1), and this program needs \(version)"))
            #expect(words.contains("'yardmaster fleet upgrade'"), "\(words)")
        }
        #expect(try yard.ask("SELECT count(*) FROM yardmaster.module") == "0\n")
        try yard.ask("UPDATE yardmaster.schema SET version = version + 1")
        #expect(try north.run().status == 0)
    }
}

import Foundation
import PrivatePostgres
import Testing
import Workbench

/// Several gateways that go through one rollout together.
extension FleetRunTests {
    private func gateway(
        _ yard: Yard,
        _ name: String,
        _ count: Int,
        bad: Int = 0,
        away: Int = 0,
        _ rollout: String
    ) throws -> Gateway {
        Gateway(
            program: try Program.steered(count, bad: bad, away: away, rollout: rollout),
            name: name,
            address: yard.server.address(yard.database)
        )
    }

    @Test func `two gateways do each vehicle once and tell the same of all`() throws {
        let yard = try Yard()
        let rollout = "{waves: [2, 3, rest], pause-when: {failed: 1}}"
        let all = try ["north", "south"].map { try gateway(yard, $0, 8, rollout) }
        let begun = try all.map { try $0.begin() }
        for running in begun {
            let result = running.result()
            #expect(result.status == 0, "\(result.errors)\(result.output)")
            #expect(result.lastLine.contains("ok=8"), "\(result.lastLine)")
        }
        let told = try yard.ask(
            """
            SELECT count(*), count(DISTINCT vehicle) FROM yardmaster.verdict WHERE counts;
            SELECT state, wave, attempted, failed FROM yardmaster.rollout;
            """
        )
        #expect(told == "8|8\nfinished|2|8|0\n")
        #expect(try yard.faults() == "")
        // Nothing is left for anyone who comes later.
        let third = try gateway(yard, "west", 8, rollout).run()
        #expect(third.status == 0 && third.lastLine.contains("ok=8"), "\(third.output)")
        #expect(try yard.ask("SELECT count(*) FROM yardmaster.verdict") == "8\n")
    }

    @Test func `a gate over gateways stops them all at its failure`() throws {
        let yard = try Yard()
        let rollout = "{waves: [rest], retry: {device: 0}, pause-when: {failed: 2}}"
        let all = try ["north", "south"].map { try gateway(yard, $0, 9, bad: 9, rollout) }
        let begun = try all.map { try $0.begin() }
        for running in begun {
            let result = running.result()
            #expect(result.status == 12, "\(result.errors)\(result.output)")
        }
        let failed = try yard.ask(
            "SELECT failed, hold_author, hold_reason FROM yardmaster.rollout"
        )
        #expect(failed == "3|gate|the gate: 3 of 3 attempted have failed, at most 2 may\n")
        #expect(try yard.ask("SELECT count(*) FROM yardmaster.verdict WHERE counts") == "3\n")
    }

    @Test func `a vehicle that nobody hears is waited for by all and then unreachable`() throws {
        let yard = try Yard()
        let rollout = "{waves: [3, rest]}"
        // South hears one more than north does.
        let north = try gateway(yard, "north", 5, away: 2, rollout)
        let south = try gateway(yard, "south", 5, away: 1, rollout)
        let begun = [try north.begin("--pace", "0.5"), try south.begin("--pace", "0.5")]
        try wait(for: "both gateways to be at work") {
            try yard.ask("SELECT count(*) FROM yardmaster.gateway WHERE rollout IS NOT NULL")
                == "2\n"
        }
        for running in begun { running.hurries() }
        for running in begun {
            let result = running.result()
            #expect(result.status == 11, "\(result.errors)\(result.output)")
            #expect(result.lastLine.contains("unreachable=1"), "\(result.lastLine)")
        }
        let who = try yard.ask(
            "SELECT vehicle, outcome, gateway FROM yardmaster.execution WHERE vehicle >= 'v4' ORDER BY 1"
        )
        #expect(who == "v4|succeeded|south\nv5|unreachable|\n")
    }

    @Test func `in a rehearsal a wave soaks by the simulated clock`() throws {
        let yard = try Yard()
        let rollout = "{waves: [1, rest], between-waves: {soak: 2h}}"
        let result = try gateway(yard, "north", 2, rollout).run()
        #expect(result.status == 0, "\(result.errors)\(result.output)")
        #expect(result.lastLine.contains("ok=2"), "\(result.lastLine)")
    }
}

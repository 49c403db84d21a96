import Foundation
import PrivatePostgres
import Testing
import Workbench

/// Databases that forget what gateways have done: a standby that took over, a backup that was restored. Judged by the
/// modules' own record of what they carried out.
extension FleetRunTests {
    /// Locks with a command that must be done once, and one bus with an image, in the reach of both gateways.
    private struct Lane {
        let program: Program
        let address: String
        static let locks = 9

        init(_ address: String) throws {
            self.address = address
            program = try Program()
            try program.copyDemo()
            let key = "00112233445566778899aabbccddeeff00112233"
            let sealing = String(repeating: "42", count: 32)
            let password = "5F7B2C0A-1111-2222-3333-444455556666"
            try program.write("key", key + "\n")
            try program.write("lock-key", "\(sealing):\(password)\n")
            var (fleet, depot) = (
                "id,serial,family,secret,steps\n", "name: lane\nseed: 3\nmodules:\n"
            )
            for number in 1...Self.locks {
                fleet += "lock-\(number),\(Self.serial(number)),lrdevice,file:lock-key,"
                fleet += "\"[{feature: {auto-lock: 9}}, {wait: 5s}]\"\n"
                depot += "  - {serial: \"\(Self.serial(number))\", family: lrdevice, "
                depot += "key: \"\(sealing)\", password: \(password)}\n"
            }
            fleet += "bus,00f0000000000007,comodule,file:key,\n"
            depot +=
                "  - {serial: \"00f0000000000007\", key: \"\(key)\", type: 17, version: \"4.11.3\"}\n"
            try program.write("fleet.csv", fleet)
            try program.write("depot.yaml", depot)
            try program.write("steered.yaml", Program.steeredManifest("{waves: [rest]}"))
        }

        private static func serial(_ number: Int) -> String { "0a0b0000000\(number)" }

        private func line(_ gateway: String) -> [String] {
            [
                "run", "steered.yaml", "--simulate", "depot.yaml", "--state",
                program.state + "-" + gateway, "--fleet", address,
            ]
        }

        func begin(_ gateway: String, pace: String, _ more: String...) throws -> Program.Running {
            try program.begin(
                "\(gateway)-\(UUID().uuidString)",
                line(gateway) + ["--pace", pace] + more,
                environment: ["YARDMASTER_GATEWAY": gateway]
            )
        }

        func run(_ gateway: String) throws -> Program.Result {
            try program.run(line(gateway), environment: ["YARDMASTER_GATEWAY": gateway])
        }

        func say(_ words: String...) throws -> Program.Result {
            try program.run(words + ["--fleet", address])
        }

        /// How often each lock has carried out its command, by its own record at every gateway.
        var deeds: [String: Int] {
            var counts: [String: Int] = [:]
            for gateway in ["north", "south"] {
                let folder = program.state + "-\(gateway)/simulation"
                let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
                for name in names where name.hasSuffix(".deeds") {
                    let text = try? String(contentsOfFile: folder + "/" + name, encoding: .utf8)
                    for number in 1...Self.locks {
                        let lines = text?.split(separator: "\n") ?? []
                        counts["lock-\(number)", default: 0] +=
                            lines.count { $0.contains(Self.serial(number)) }
                    }
                }
            }
            return counts
        }

        /// Of all that is written down, what each vehicle says agrees with what it did.
        func judge(_ server: PrivatePostgres, _ database: String) throws {
            let rows = try server.query(
                database,
                "SELECT vehicle, outcome FROM yardmaster.execution ORDER BY vehicle"
            ).split(separator: "\n").map { $0.split(separator: "|") }
            #expect(rows.count == Self.locks + 1)
            for row in rows {
                let (vehicle, outcome) = (String(row[0]), row.count > 1 ? row[1] : "")
                let times = vehicle == "bus" ? 1 : deeds[vehicle] ?? 0
                switch outcome {
                case "succeeded", "already-current": #expect(times == 1, "\(vehicle)")
                case "in-doubt": #expect(times <= 1, "\(vehicle)")
                default: Issue.record("\(vehicle) is \(outcome)")
                }
            }
            #expect(deeds.values.allSatisfy { $0 <= 1 }, "\(deeds)")
        }
    }

    private func done(_ server: PrivatePostgres, _ database: String) throws -> Int {
        let text = try server.query(
            database,
            "SELECT count(*) FROM yardmaster.step WHERE outcome = 'done'"
        )
        return Int(text.dropLast()) ?? 0
    }

    /// As if the wait after a take-over had passed.
    private func endWait(_ server: PrivatePostgres, _ database: String) throws {
        try server.query(database, "UPDATE yardmaster.history SET claims_after = now()")
        try server.query(
            database,
            "UPDATE yardmaster.module SET expires = expires - interval '1 h' WHERE holder IS NOT NULL"
        )
    }

    @Test(arguments: [true, false])
    func `a standby that lacks the last moments grants nothing before those are reported`(
        survives: Bool
    ) throws {
        let primary = try PrivatePostgres()
        defer { primary.stop() }
        let yard = try Yard(primary)
        let standby = try PrivatePostgres(standbyOf: primary)
        defer { standby.stop() }
        func host(_ server: PrivatePostgres) -> String {
            server.socket.split(separator: "/").map { "%2F" + $0 }.joined() + ":\(server.port)"
        }
        let lane = try Lane(
            "postgresql://\(PrivatePostgres.superuser)@\(host(primary)),\(host(standby))/\(yard.database)"
        )
        let north = try lane.begin("north", pace: "2")
        try wait(for: "the first command") { try done(primary, yard.database) >= 1 }
        // However long a busy machine takes for what follows, commands are left for afterwards.
        kill(north.process.processIdentifier, SIGSTOP)
        try wait(for: "the standby to follow") { try done(standby, yard.database) >= 1 }
        try standby.loseTouch()
        let kept = try done(standby, yard.database)
        kill(north.process.processIdentifier, SIGCONT)
        try wait(for: "two more commands") { try done(primary, yard.database) >= kept + 2 }
        if !survives {
            kill(north.process.processIdentifier, SIGKILL)
            north.process.waitUntilExit()
        }
        // The number of commands that a busy machine carries out before the kill varies.
        let atKill = deeds(lane)
        try primary.kill()
        // What was acknowledged is gone.
        #expect(try done(standby, yard.database) == kept)
        try standby.promote()
        func grants() throws -> String {
            try standby.query(
                yard.database,
                "SELECT count(DISTINCT (serial, epoch)) FROM watch WHERE after IS NOT NULL"
            )
        }
        let before = try grants()

        let south = try lane.begin("south", pace: "4")
        #expect(south.says("another server took over"), "\(south.result().errors)")
        if survives {
            try wait(for: "what was forgotten to be reported") {
                try done(standby, yard.database) >= kept + 2
            }
        } else {
            let check = try lane.say("fleet", "check")
            #expect(check.output.contains("no right on a module is granted"), "\(check.output)")
            try endWait(standby, yard.database)
            #expect(south.says("north has not reported yet"))
            let named = try lane.say("fleet", "check")
            #expect(named.output.contains("before north has reported"), "\(named.output)")
            #expect(named.output.contains("yardmaster gateway forget NAME"))
            #expect(try grants() == before)
            #expect(deeds(lane) == atKill)
            _ = try lane.run("north")
        }
        try endWait(standby, yard.database)
        south.hurries()
        _ = south.result()
        if survives {
            north.hurries()
            _ = north.result()
        }
        for gateway in ["north", "south", "north"] { _ = try lane.run(gateway) }
        try lane.judge(standby, yard.database)
        let awaited = try standby.query(
            yard.database,
            "SELECT count(*) FROM yardmaster.awaited"
        )
        #expect(awaited == "0\n")
    }

    @Test func `a sign-in that a standby has lost is asked for before a command is repeated`()
        throws
    {
        let primary = try PrivatePostgres()
        defer { primary.stop() }
        let yard = try Yard(primary)
        let standby = try PrivatePostgres(standbyOf: primary)
        defer { standby.stop() }
        func host(_ server: PrivatePostgres) -> String {
            server.socket.split(separator: "/").map { "%2F" + $0 }.joined() + ":\(server.port)"
        }
        let lane = try Lane(
            "postgresql://\(PrivatePostgres.superuser)@\(host(primary)),\(host(standby))/\(yard.database)"
        )
        // Last evening both were at work and signed off.
        for gateway in ["north", "south"] { #expect(try lane.run(gateway).status == 0) }
        let evening = try done(primary, yard.database)
        #expect(evening == Lane.locks && lane.deeds.values.allSatisfy { $0 == 1 })
        let gone = "SELECT count(*) FROM yardmaster.gateway WHERE gone IS NOT NULL"
        try wait(for: "the standby to follow") {
            try standby.query(yard.database, gone) == "2\n"
        }
        try standby.loseTouch()
        // Tonight one signs in, begins the rollout again and does some of it: all of that is lost.
        let north = try lane.begin("north", pace: "2", "--again")
        try wait(for: "two commands of tonight") { try done(primary, yard.database) >= evening + 2 }
        kill(north.process.processIdentifier, SIGKILL)
        north.process.waitUntilExit()
        try primary.kill()
        let atKill = lane.deeds
        try standby.promote()
        let south = try lane.begin("south", pace: "4", "--again")
        #expect(south.says("another server took over"), "\(south.result().errors)")
        try endWait(standby, yard.database)
        south.hurries()
        let result = south.result()
        #expect(result.output.contains("north may have done"), "\(result.errors)\(result.output)")
        #expect(lane.deeds == atKill)
        let check = try lane.say("fleet", "check")
        #expect(check.output.contains("wait until north has reported"), "\(check.output)")

        for gateway in ["north", "south", "north"] {
            _ = try lane.run(gateway)
            try endWait(standby, yard.database)
        }
        #expect(lane.deeds.values.allSatisfy { $0 <= 2 }, "\(lane.deeds)")
        #expect(lane.deeds.values.count { $0 == 2 } >= Lane.locks - 1, "\(lane.deeds)")
        #expect(
            try standby.query(yard.database, "SELECT count(*) FROM yardmaster.awaited") == "0\n"
        )
    }

    private func deeds(_ lane: Lane) -> Int { lane.deeds.values.reduce(0, +) }

    @Test func `from yesterday's backup nothing is granted before all have reported since`() throws
    {
        let yard = try Yard()
        let (server, database) = (yard.server, yard.database)
        let lane = try Lane(server.address(database))
        let north = try lane.begin("north", pace: "2")
        try wait(for: "the first command") { try done(server, database) >= 1 }
        let backup = server.scratch.path + "/backup-\(database)"
        try server.tool("pg_dump", ["-Fc", "-f", backup, database], to: "dump.log")
        north.hurries()
        #expect(north.result().status == 0)
        #expect(deeds(lane) == Lane.locks)

        try server.query("postgres", "DROP DATABASE \(database) WITH (FORCE)")
        try server.query("postgres", "CREATE DATABASE \(database)")
        try server.tool("pg_restore", ["-d", database, backup], to: "restore.log")
        let kept = try done(server, database)
        #expect(kept < Lane.locks)
        let early = try lane.run("south")
        #expect(early.status == 78 && early.errors.contains("fleet accept-restore"))
        let accepted = try lane.say("fleet", "accept-restore")
        #expect(accepted.status == 0 && accepted.output.contains("generation 2"))
        try endWait(server, database)
        let south = try lane.begin("south", pace: "4")
        #expect(south.says("north has not reported yet"), "\(south.result().errors)")
        #expect(try done(server, database) == kept)
        #expect(deeds(lane) == Lane.locks)

        // It has long done all of it, and says so before anything else.
        let told = try lane.run("north")
        #expect(told.status == 0, "\(told.errors)\(told.output)")
        south.hurries()
        let result = south.result()
        #expect(result.status == 0, "\(result.errors)\(result.output)")
        try lane.judge(server, database)
        #expect(try yard.faults() == "")
    }

    @Test func `a gateway that is gone for good is forgotten by name`() throws {
        let yard = try Yard()
        let lane = try Lane(yard.server.address(yard.database))
        #expect(try lane.run("north").status == 0)
        let none = try lane.say("gateway", "forget", "north")
        #expect(none.status == 64 && none.errors.contains("no gateway is waited for"))
        #expect(try lane.say("fleet", "accept-restore").status == 0)
        try endWait(yard.server, yard.database)
        let other = try lane.say("gateway", "forget", "nroth")
        #expect(other.status == 64 && other.errors.contains("the fleet waits for: north"))
        let forgotten = try lane.say("gateway", "forget", "north")
        #expect(forgotten.status == 0 && forgotten.output.contains("nothing waits for it any more"))
        #expect(try lane.run("south").status == 0)
        try lane.judge(yard.server, yard.database)
    }
}

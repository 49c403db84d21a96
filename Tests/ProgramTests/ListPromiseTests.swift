import Foundation
import Testing

/// Lists that change between two runs: accounts follow what they are about, and are told until paid.
///
/// The judges are the records of the modules.
@Suite struct ListPromiseTests {
    private func list(_ yard: PromiseYard, _ rows: String...) throws {
        try yard.program.write(
            "fleet.csv",
            (["id,serial,family,secret,token"] + rows).joined(separator: "\n") + "\n"
        )
    }

    private func bike(_ id: String, _ number: Int) -> String {
        "\(id),00f000000000000\(number),comodule,file:key,"
    }

    private func car(_ id: String) -> String { "\(id),G9-0001,geotab-go,,file:car.token" }

    /// The numbers of the last line, which all reports of the run share.
    private func agreed(_ yard: PromiseYard, _ line: [String]) throws -> (Program.Result, Numbers) {
        let result = try yard.program.run(line + Program.reports)
        let all = try yard.program.numbers(of: result)
        let first = try #require(all.first).numbers
        for (place, numbers) in all {
            #expect(numbers == first, "\(place) against the last line of \(result.output)")
        }
        return (result, first)
    }

    // MARK: Rows that leave the list

    @Test func `what a vehicle owes is told after its row has left the list`() throws {
        let yard = try PromiseYard(bikes: ["", ""], link: "link: {interval: 60ms}\n")
        try yard.manifest(family: "comodule", steps: "[{update: city}]")
        try yard.cut(at: "\"kind\":\"progress\"")
        // The module that is in its bootloader is dropped from the list, and another rollout runs.
        let status = try yard.say("status").output
        let owing = status.contains(/b1 +\S+ +in-bootloader/) ? "b1" : "b2"
        let other = owing == "b1" ? 2 : 1
        try list(yard, bike("b\(other)", other), car("car"))
        try yard.manifest("may", family: "comodule", steps: "[{update: city}]")
        for _ in 1...2 {
            let (run, numbers) = try agreed(yard, yard.line("may"))
            #expect(run.status == 10, "\(run.output) \(run.errors)")
            #expect(numbers["failed"] == 1 && numbers["ok"] + numbers["current"] == 1, "\(numbers)")
            #expect(run.output.contains("it is not in the list of this run"))
        }
        #expect(try yard.say("status").output.contains(owing), "status says it, too")
        let morning = try yard.say("morning").output
        #expect(morning.contains(owing) && morning.contains("bootloader"), "\(morning)")
        #expect(morning.contains("yardmaster clear"), "\(morning)")
        // A run with `--limit` has the whole list, and an order is about its own vehicles.
        #expect(try yard.run("may", "--limit", "b\(other)").status == 10)
        #expect(try yard.exec("b\(other)", "read speed", fleet: "may").status == 0)
        #expect(try yard.say("clear", owing).status == 0)
        #expect(try agreed(yard, yard.line("may")).0.status == 0)
    }

    @Test func `a doubt and an owed step are told after their rows have left the list`() throws {
        let yard = try PromiseYard(bikes: [""], car: ", faults: [{no-result: true}]")
        try yard.manifest(steps: "[{command: open-trunk}]", always: "[{command: lock}]")
        #expect(try yard.run().status == 10)
        try list(yard, bike("b1", 1))
        try yard.manifest("may", family: "comodule", steps: "[{read: speed}]")
        let (run, numbers) = try agreed(yard, yard.line("may"))
        #expect(run.status == 10, "\(run.output) \(run.errors)")
        #expect(numbers["failed"] == 1, "\(run.output)")
        #expect(run.output.contains("open-trunk"), "\(run.output)")
        // The row is back: the vehicle is in its run again, and is told once.
        try list(yard, bike("b1", 1), car("car"))
        let (back, again) = try agreed(yard, yard.line())
        #expect(back.status == 10 && again.total == 1, "\(again)")
        #expect(try yard.say("clear", "car").status == 0)
        #expect(try yard.run("may").status == 0)
    }

    // MARK: Who is who

    @Test func `an inhibition outlives another id of its vehicle`() throws {
        let yard = try PromiseYard(bikes: [""])
        try yard.manifest(steps: "[{command: unlock-all}]")
        #expect(try yard.run().status == 0)
        #expect(try yard.say("inhibit", "car", "--reason", "brakes").status == 0)
        try list(yard, bike("b1", 1), car("car-b"))
        try yard.manifest("may", steps: "[{command: unlock-driver}]")
        let refused = try yard.run("may")
        #expect(refused.status == 65, "\(refused.output) \(refused.errors)")
        #expect(refused.errors.contains("vehicle renamed --state"), "\(refused.errors)")
        #expect(refused.errors.contains("brakes"), "\(refused.errors)")
        #expect(try yard.say("vehicle", "renamed", "car", "car-b").status == 0)
        _ = try yard.run("may", "--json")
        #expect(yard.deeds == ["unlock-all"], "nobody unlocks it under the mechanic")
        let history = try yard.say("history").output
        #expect(history.contains("vehicle renamed"), "\(history)")
        #expect(try yard.say("uninhibit", "car-b").status == 0)
        #expect(try yard.run("may").status == 0)
        #expect(yard.deeds == ["unlock-all", "unlock-driver"])
    }

    @Test func `a doubt outlives another id of its vehicle, and its rollout goes on`() throws {
        let yard = try PromiseYard(bikes: [""], car: ", faults: [{no-result: true}]")
        try yard.manifest(steps: "[{command: open-trunk}]")
        #expect(try yard.run().status == 10)
        let sent = yard.deeds.count
        try yard.depot(bikes: [""])
        try list(yard, bike("b1", 1), car("car-b"))
        #expect(try yard.run().status == 65)
        #expect(yard.deeds.count == sent, "it is not opened again")
        #expect(try yard.say("vehicle", "renamed", "car", "car-b").status == 0)
        let second = try yard.run("yard", "--json")
        #expect(try yard.vehicle("car-b", in: second)["outcome"] as? String == "in-doubt")
        #expect(yard.deeds.count == sent, "it is not opened again")
        #expect(try yard.say("clear", "car-b").output.contains("counts as done"))
    }

    @Test func `a rollout whose doubt is answered goes on, whatever its files say by then`() throws
    {
        let yard = try PromiseYard(bikes: [""], car: ", faults: [{no-result: true}]")
        try yard.manifest(steps: "[{command: open-trunk}, {command: locate}]")
        #expect(try yard.run().status == 10)
        #expect(yard.deeds == ["open-trunk"])
        #expect(try yard.say("clear", "car").status == 0)
        try yard.depot(bikes: [""])
        try yard.manifest(steps: "[{command: unlock-all}]")
        #expect(try yard.run().status == 0)
        #expect(yard.deeds == ["open-trunk", "locate"], "what was begun is brought to its end")
        #expect(try yard.run().status == 0)
        #expect(yard.deeds == ["open-trunk", "locate", "unlock-all"])
    }

    @Test func `a rollout that was begun with an old id goes on with the new one`() throws {
        let yard = try PromiseYard(bikes: [""])
        try yard.manifest(steps: "[{command: unlock-all}, {wait: 30s}, {command: locate}]")
        try yard.cut(at: "\"detail\":\"wait\"")
        #expect(try yard.say("vehicle", "renamed", "car", "car-b").status == 0)
        try list(yard, bike("b1", 1), car("car-b"))
        let last = try yard.run("yard", "--json")
        #expect(last.status == 0, "\(last.output) \(last.errors)")
        #expect(try yard.vehicle("car-b", in: last)["outcome"] as? String == "succeeded")
        #expect(yard.deeds == ["unlock-all", "locate"])
    }

    @Test func `two vehicles of a rollout have each other's ids only when one command says so`()
        throws
    {
        let yard = try PromiseYard(bikes: ["", ""])
        try list(yard, bike("b1", 1), bike("b2", 2))
        try yard.manifest(family: "comodule", steps: "[{read: speed}]")
        #expect(try yard.run().status == 0)
        #expect(try yard.say("pause", "--reason", "look").status == 0)
        // The rollout would have two vehicles of one id.
        let refused = try yard.say("vehicle", "renamed", "b1", "b2")
        #expect(refused.status == 64, "\(refused.output) \(refused.errors)")
        #expect(refused.errors.contains("in the same rollout"), "\(refused.errors)")
        #expect(try yard.say("vehicle", "renamed", "b1", "b2", "b2", "b1").status == 0)
        try list(yard, bike("b2", 1), bike("b1", 2))
        let (held, numbers) = try agreed(yard, yard.line())
        #expect(held.status == 12, "\(held.output) \(held.errors)")
        #expect(numbers["ok"] == 2 && numbers.total == 2, "\(held.output)")
    }

    @Test func `a module takes its debt along to another vehicle, and only that`() throws {
        let yard = try PromiseYard(
            bikes: ["", ""],
            link: "link: {interval: 60ms}\n"
        )
        try list(yard, bike("b1", 1), car("car"))
        try yard.manifest(family: "comodule", steps: "[{update: city}]")
        try yard.cut(at: "\"kind\":\"progress\"")
        #expect(try yard.say("inhibit", "b1", "--reason", "workshop").status == 0)
        // Its module goes into b2, and it gets the one of b2.
        try list(yard, bike("b1", 2), bike("b2", 1), car("car"))
        try yard.manifest("may", family: "comodule", steps: "[{update: city}]")
        #expect(try yard.run("may").status == 65)
        #expect(
            try yard.say("vehicle", "moved", "00f0000000000001", "b2").status == 0
        )
        // The counterpart knows nothing of it.
        let old = try yard.say("status", "--rollout", "yard", "--json")
        let standing = try yard.vehicle("b1", in: old)
        #expect(standing["debt"] == nil && standing["state"] as? String != "in-bootloader")
        let cleared = try yard.say("clear", "b1").output
        #expect(!cleared.contains("is owed no more"), "\(cleared)")
        let run = try yard.run("may", "--json")
        #expect(try yard.vehicle("b1", in: run)["outcome"] as? String == "deferred")
        #expect(try yard.vehicle("b2", in: run)["outcome"] as? String == "succeeded")
    }

    @Test func `a module that was replaced is told by its serial until it is cleared`() throws {
        let yard = try PromiseYard(bikes: ["", ""], link: "link: {interval: 60ms}\n")
        try list(yard, bike("b1", 1))
        try yard.manifest(family: "comodule", steps: "[{update: city}]")
        try yard.cut(at: "\"kind\":\"progress\"")
        try list(yard, bike("b1", 2))
        try yard.manifest("may", family: "comodule", steps: "[{update: city}]")
        let (run, numbers) = try agreed(yard, yard.line("may"))
        #expect(run.status == 10 && numbers["ok"] == 1 && numbers["failed"] == 1, "\(run.output)")
        #expect(run.errors.contains("which had 00f0000000000001"), "\(run.errors)")
        #expect(try yard.say("clear", "b1").output.contains("nothing to clear"))
        #expect(try yard.run("may").status == 10)
        #expect(try yard.say("clear", "00f0000000000001").output.contains("is owed no more"))
        #expect(try yard.run("may").status == 0)
    }

    @Test
    func `a vehicle that has got another device is left alone until its rollout begins again`()
        throws
    {
        let yard = try PromiseYard(bikes: ["", ""], link: "link: {interval: 60ms}\n")
        try list(yard, bike("b1", 1), bike("b2", 2))
        try yard.manifest(
            family: "comodule",
            steps: "[{wait: 30s}, {update: city}]",
            rollout: "{waves: [rest], again: each-run}"
        )
        try yard.cut(at: "\"detail\":\"wait\"")
        // The two exchange their modules while the rollout is in progress.
        try list(yard, bike("b1", 2), bike("b2", 1))
        let run = try yard.run("yard", "--json")
        #expect(run.status == 11, "\(run.output) \(run.errors)")
        for (id, now, before) in [("b1", 2, 1), ("b2", 1, 2)] {
            let vehicle = try yard.vehicle(id, in: run)
            #expect(vehicle["outcome"] as? String == "deferred", "\(vehicle)")
            let message = try #require(vehicle["message"] as? String)
            #expect(
                message.hasPrefix(
                    "its module is 00f000000000000\(now) in the list now, and was "
                        + "00f000000000000\(before) when the rollout was begun"
                ),
                "\(message)"
            )
            #expect(vehicle["bytes"] as? Int == 0)
        }
        let morning = try yard.say("morning").output
        #expect(morning.contains("run --again"), "\(morning)")
        let again = try yard.run("yard", "--again", "--json")
        #expect(again.status == 0, "\(again.output) \(again.errors)")
        #expect(try yard.vehicle("b1", in: again)["outcome"] as? String == "succeeded")
    }

    @Test func `what a person says about modules stands while a rollout goes on`() throws {
        let yard = try PromiseYard(bikes: ["", ""], link: "link: {interval: 60ms}\n")
        try list(yard, bike("b1", 1), bike("b2", 2))
        try yard.manifest(
            family: "comodule",
            steps: "[{wait: 30s}, {update: city}]",
            rollout: "{waves: [rest]}"
        )
        try yard.cut(at: "\"detail\":\"wait\"")
        #expect(try yard.say("inhibit", "b2", "--reason", "brakes").status == 0)
        try list(yard, bike("b1", 2), bike("b2", 1))
        let refused = try yard.run()
        #expect(refused.status == 65, "\(refused.output) \(refused.errors)")
        #expect(refused.errors.contains("the module 00f0000000000002 of b1 was in b2"))
        for (number, id) in [(2, "b1"), (1, "b2")] {
            #expect(try yard.say("vehicle", "moved", "00f000000000000\(number)", id).status == 0)
        }
        let run = try yard.run("yard", "--json")
        #expect(run.status == 11, "\(run.output) \(run.errors)")
        for id in ["b1", "b2"] {
            #expect(try yard.vehicle(id, in: run)["outcome"] as? String == "deferred")
        }
        #expect(try yard.say("uninhibit", "b2").status == 0)
        #expect(try yard.run("yard", "--again").status == 0)
    }

    // MARK: A journal that goes back

    @Test func `a journal from a backup repeats no command`() throws {
        let yard = try PromiseYard()
        try yard.manifest(steps: "[{wait: 30s}, {command: unlock-all}]")
        try yard.cut(at: "\"detail\":\"wait\"")
        let journal = yard.program.state + "/journal.sqlite"
        let backup = yard.program.folder.path + "/backup.sqlite"
        let files = FileManager.default
        _ = try yard.say("status")
        _ = try yard.say("inhibit", "car")
        _ = try yard.say("uninhibit", "car")
        try files.copyItem(atPath: journal, toPath: backup)
        #expect(try yard.run().status == 0)
        #expect(yard.deeds == ["unlock-all"])
        for suffix in ["", "-wal", "-shm"] { try? files.removeItem(atPath: journal + suffix) }
        try files.copyItem(atPath: backup, toPath: journal)
        let refused = try yard.run()
        #expect(refused.status == 78, "\(refused.output) \(refused.errors)")
        #expect(refused.errors.contains("car: `command unlock-all`"), "\(refused.errors)")
        #expect(refused.errors.contains("accept-restore"), "\(refused.errors)")
        #expect(try yard.exec("car", "command locate").status == 78)
        #expect(yard.deeds == ["unlock-all"], "nothing is sent before a person says so")
        let accepted = try yard.say("accept-restore")
        #expect(accepted.output.contains("in doubt from now on: car"), "\(accepted.output)")
        #expect(try yard.run().status == 10, "it is in doubt")
        #expect(yard.deeds == ["unlock-all"])
        #expect(try yard.say("clear", "car").status == 0)
        #expect(try yard.run().status == 0)
        #expect(yard.deeds == ["unlock-all"], "it counts as done")
        #expect(try yard.say("accept-restore").output.contains("no change"))
    }

    @Test func `a command of a rollout that the backup does not know counts as done, too`() throws {
        let yard = try PromiseYard()
        try yard.manifest("first", steps: "[{wait: 1s}]")
        #expect(try yard.run("first").status == 0)
        let journal = yard.program.state + "/journal.sqlite"
        let backup = yard.program.folder.path + "/backup.sqlite"
        let files = FileManager.default
        try files.copyItem(atPath: journal, toPath: backup)
        try yard.manifest(steps: "[{command: unlock-all}]")
        #expect(try yard.run().status == 0)
        for suffix in ["", "-wal", "-shm"] { try? files.removeItem(atPath: journal + suffix) }
        try files.copyItem(atPath: backup, toPath: journal)
        #expect(try yard.run().status == 78)
        #expect(try yard.say("accept-restore").status == 0)
        #expect(try yard.say("clear", "car").status == 0)
        #expect(try yard.run().status == 0)
        #expect(yard.deeds == ["unlock-all"])
    }

    @Test func `what a backup lacks is in doubt on its vehicle, whatever that was called then`()
        throws
    {
        let yard = try PromiseYard(bikes: [""])
        try yard.manifest("first", family: "[geotab-go, comodule]", steps: "[{wait: 1s}]")
        #expect(try yard.run("first").status == 0)
        let journal = yard.program.state + "/journal.sqlite"
        let backup = yard.program.folder.path + "/backup.sqlite"
        let files = FileManager.default
        try files.copyItem(atPath: journal, toPath: backup)
        // The car and the bike get each other's ids; then the car is unlocked.
        func exchange() throws -> Int32 {
            try yard.say("vehicle", "renamed", "car", "b1", "b1", "car").status
        }
        #expect(try exchange() == 0)
        try list(yard, bike("car", 1), car("b1"))
        try yard.manifest(steps: "[{command: unlock-all}]")
        #expect(try yard.run().status == 0)
        for suffix in ["", "-wal", "-shm"] { try? files.removeItem(atPath: journal + suffix) }
        try files.copyItem(atPath: backup, toPath: journal)
        let refused = try yard.run()
        #expect(refused.status == 78)
        #expect(refused.errors.contains("car: `command unlock-all`"), "\(refused.errors)")
        #expect(refused.errors.contains("when it was called b1"), "\(refused.errors)")
        #expect(try yard.say("accept-restore").output.contains("other ids"))
        #expect(try yard.run().status == 65, "the list has the car under another id")
        #expect(try exchange() == 0)
        let again = try yard.run("yard", "--json")
        #expect(try yard.vehicle("b1", in: again)["outcome"] as? String == "in-doubt")
        #expect(yard.deeds == ["unlock-all"], "it is not unlocked twice")
    }

    @Test func `a journal without the file beside it is accepted by a person first`() throws {
        let yard = try PromiseYard()
        try yard.manifest(steps: "[{command: unlock-all}]", rollout: "{again: each-run}")
        #expect(try yard.run().status == 0)
        try FileManager.default.removeItem(atPath: yard.program.state + "/witness.sqlite")
        #expect(try yard.run().status == 78)
        #expect(yard.deeds == ["unlock-all"])
        #expect(try yard.say("accept-restore").status == 0)
        #expect(try yard.run().status == 0)
    }
}

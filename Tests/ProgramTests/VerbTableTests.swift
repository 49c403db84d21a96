import Foundation
import Testing

/// The table of `docs/promises.md` §6: each verb on a rollout in each of its states.
@Suite struct VerbTableTests {
    enum Standing: String, Sendable {
        case open, paused, aborted, finished
    }

    struct Cell: Sendable, CustomTestStringConvertible {
        let verb: String
        let standing: Standing
        /// Whether a run works on it.
        let isAtWork: Bool
        /// The output; a refusal ends with 64.
        let answer: String
        let isRefused: Bool
        /// The exit code of the working run; `next` is that of the following run.
        let exit: Int32
        let next: Int32

        var testDescription: String { "\(verb), \(standing.rawValue)\(isAtWork ? ", work" : "")" }
    }

    private static func row(
        _ verb: String,
        _ standing: Standing,
        idle: (String, next: Int32),
        work: (String, exit: Int32, next: Int32),
        refused: (idle: Bool, work: Bool) = (false, false)
    ) -> [Cell] {
        [
            Cell(
                verb: verb,
                standing: standing,
                isAtWork: false,
                answer: idle.0,
                isRefused: refused.idle,
                exit: 0,
                next: idle.next
            ),
            Cell(
                verb: verb,
                standing: standing,
                isAtWork: true,
                answer: work.0,
                isRefused: refused.work,
                exit: work.exit,
                next: work.next
            ),
        ]
    }

    private static let drains = "the run under way begins nothing new and finishes what it has"
    private static let none = "the next run begins nothing"
    private static let goesOn = "goes on: the run under way drains if it has begun to"

    private static let cells: [Cell] = [
        row("pause", .open, idle: (none, 12), work: (drains, 12, 12)),
        row("pause", .paused, idle: ("no change", 12), work: ("no change", 12, 12)),
        row(
            "pause",
            .aborted,
            idle: ("is aborted", 13),
            work: ("is aborted", 13, 13),
            refused: (true, true)
        ),
        row("pause", .finished, idle: (none, 12), work: (drains, 12, 12)),
        row("resume", .open, idle: ("no change", 10), work: ("no change", 10, 10)),
        row("resume", .paused, idle: ("goes on with the next run", 10), work: (goesOn, 12, 10)),
        row(
            "resume",
            .aborted,
            idle: ("for good", 13),
            work: ("for good", 13, 13),
            refused: (true, true)
        ),
        row("resume", .finished, idle: ("no change", 10), work: ("no change", 10, 10)),
        row("abort", .open, idle: (none, 13), work: (drains, 13, 13)),
        row("abort", .paused, idle: (none, 13), work: (drains, 13, 13)),
        row("abort", .aborted, idle: ("no change", 13), work: ("no change", 13, 13)),
        row(
            "abort",
            .finished,
            idle: ("it is finished", 10),
            work: (drains, 13, 13),
            refused: (true, false)
        ),
        row(
            "retry",
            .open,
            idle: ("by the next run: car", 10),
            work: ("by the run under way: car", 10, 10)
        ),
        row(
            "retry",
            .paused,
            idle: ("after 'resume': car", 12),
            work: ("after 'resume': car", 12, 12)
        ),
        row(
            "retry",
            .aborted,
            idle: ("for good", 13),
            work: ("for good", 13, 13),
            refused: (true, true)
        ),
        row(
            "retry",
            .finished,
            idle: ("by the next run: car", 10),
            work: ("by the run under way: car", 10, 10)
        ),
    ].flatMap(\.self)

    /// A car whose command fails each time, and two bikes that are updated one after the other.
    private func yard() throws -> PromiseYard {
        let yard = try PromiseYard(bikes: ["", ""])
        try yard.program.write(
            "fleet.csv",
            """
            id,serial,family,secret,token,pairing,passkey,steps
            car,G9-0001,geotab-go,,file:car.token,passkey,file:car.passkey,command: check-out
            b1,00f0000000000001,comodule,file:key,,,,
            b2,00f0000000000002,comodule,file:key,,,,

            """
        )
        try yard.manifest(steps: "[{update: city}]", rollout: "{waves: [2, rest]}", more: "")
        let text = try String(
            contentsOfFile: yard.program.folder.path + "/yard.yaml",
            encoding: .utf8
        )
        try yard.program.write(
            "yard.yaml",
            text.replacing(", select: {family: geotab-go}", with: "")
        )
        return yard
    }

    /// Starts a run whose car has failed and whose first bike is in work.
    private func begin(
        _ yard: PromiseYard,
        after standing: Standing,
        isAtWork: Bool
    ) throws -> Program.Running {
        // On a finished rollout a run only looks at the bikes, which takes three seconds.
        let pace = standing == .finished ? "0.5" : isAtWork ? "4" : "8"
        let running = try yard.program.begin("work", yard.line() + ["--pace", pace, "--json"])
        let mark = standing == .finished ? "\"vehicle\":\"b1\"" : "\"kind\":\"progress\""
        #expect(running.waits(for: mark))
        return running
    }

    @Test(arguments: cells)
    func `each verb on a rollout does what its cell of the table says`(cell: Cell) throws {
        let yard = try yard()
        if cell.standing == .finished { #expect(try yard.run().status == 10) }
        var running: Program.Running?
        if cell.isAtWork || cell.standing != .finished {
            running = try begin(yard, after: cell.standing, isAtWork: cell.isAtWork)
        }
        if !cell.isAtWork, let process = running?.process {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            running = nil
        }
        if cell.standing == .paused { #expect(try yard.say("pause").status == 0) }
        if cell.standing == .aborted { #expect(try yard.say("abort").status == 0) }
        if cell.standing == .paused || cell.standing == .aborted, let running {
            #expect(running.waits(for: "\"kind\":\"draining\""))
        }

        let before = try state(yard)
        let said = try yard.say(cell.verb)
        #expect(said.status == (cell.isRefused ? 64 : 0), "\(said.errors)")
        let answer = cell.isRefused ? said.errors : said.output
        #expect(answer.contains(cell.answer), "\(answer)")
        if cell.isRefused || cell.answer == "no change" {
            #expect(try state(yard) == before, "a refusal changes nothing")
        } else if cell.verb == "retry", !cell.isAtWork {
            let car = try yard.vehicle("car", in: try yard.say("status", "--json"))
            #expect(car["outcome"] as? String == nil, "its verdict is taken away")
        }

        if let running {
            running.hurries()
            let result = running.result()
            #expect(result.status == cell.exit, "\(result.errors)")
            let attempts = running.events.split(separator: "\n").count {
                $0.contains("\"kind\":\"vehicle-ended\"") && $0.contains("\"vehicle\":\"car\"")
            }
            let isRetaken = cell.verb == "retry" && cell.answer.contains("under way")
            #expect(attempts == (isRetaken ? 2 : 1))
            if cell.exit == 12 || cell.exit == 13, cell.standing != .finished {
                #expect(
                    !running.events.contains(
                        "\"attempt-started\",\"rollout\":\"yard\",\"vehicle\":\"b2\""
                    )
                )
                #expect(try yard.vehicle("b1", in: result)["outcome"] as? String == "succeeded")
            }
        }
        let next = try yard.run("yard", "--json")
        #expect(next.status == cell.next, "\(next.errors)")
        if cell.next == 10 {
            for bike in ["b1", "b2"] {
                let outcome = try yard.vehicle(bike, in: next)["outcome"] as? String
                #expect(["succeeded", "already-current"].contains(outcome), "\(bike)")
            }
        }
    }

    /// The state of the whole rollout in `status`.
    private func state(_ yard: PromiseYard) throws -> String {
        let status = try yard.document(try yard.say("status", "--json"))
        return try #require(status["state"] as? String)
    }

    @Test(arguments: ["pause", "resume", "abort", "retry"])
    func `a verb on a rollout that never ran is 66`(verb: String) throws {
        let yard = try PromiseYard()
        #expect(try yard.say(verb).status == 66)
        try yard.manifest(steps: "[{command: lock}]")
        #expect(try yard.run().status == 0)
        #expect(try yard.say(verb, "--rollout", "other").status == 66)
    }
}

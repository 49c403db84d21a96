import Base
import Store
import Testing
import Workbench

/// The requests of people, and the answers that programs got.
@Suite struct SayingTests {
    private func saying(_ verb: String, _ rollout: String? = nil, _ ids: [String] = []) throws
        -> Saying
    {
        Saying(
            verb,
            rollout: rollout,
            vehicles: try ids.map(vehicle),
            reason: "brakes",
            author: "anna",
            at: at(5)
        )
    }

    private func said(_ scratch: Scratch, of rollout: String? = nil, since run: Int = 0) throws
        -> [Saying]
    {
        try JournalReader(directory: scratch.path).read { view throws(JournalError) in
            try view.sayings(of: rollout, sinceRun: run, limit: 10)
        }
    }

    @Test func `who has taken something back is written down with it`() async throws {
        let scratch = try Scratch()
        try await withJournal(scratch.path) { journal in
            let bus = try vehicle("bus")
            _ = try await journal.uninhibit(bus, saying: try saying("uninhibit", nil, ["bus"]))
            #expect(try said(scratch).isEmpty, "nothing was taken back")
            try await journal.inhibit(Inhibit(bus, reason: "", expires: nil, at: at(1)))
            #expect(
                try await journal.uninhibit(bus, saying: try saying("uninhibit", nil, ["bus"]))
            )
            let run = try await begin(journal)
            let hold = Hold(.paused, "r", reason: "brakes", author: "anna", at: at(4))
            #expect(
                try await journal.set(hold, isAtWork: true, saying: try saying("pause", "r"))
                    == .done
            )
            #expect(try await journal.resume("r", saying: try saying("resume", "r")) == .done)
            _ = try await journal.resume("r", saying: try saying("resume", "r"))
            let all = try said(scratch)
            #expect(all.map(\.verb) == ["uninhibit", "pause", "resume"])
            #expect(all.map(\.run) == [0, run, run])
            #expect(all.allSatisfy { $0.author == "anna" && $0.made == at(5) })
            #expect(all[0].vehicles == [bus] && all[0].rollout == nil)
            #expect(try said(scratch, of: "r", since: run).map(\.verb) == ["pause", "resume"])
            #expect(try said(scratch, of: "other").map(\.verb) == ["uninhibit"])
        }
    }

    private func reply(_ author: String, _ key: String) throws -> Reply {
        Reply(author: author, key: key, body: try #require(plan))
    }

    @Test func `a key is reserved once for each person, until it is forgotten`() async throws {
        let scratch = try Scratch()
        let (one, other) = (try reply("anna", "one"), try reply("ben", "one"))
        try await withJournal(scratch.path) { journal in
            let first = try await journal.reserve(one)
            let second = try await journal.reserve(other)
            #expect(first == nil && second == nil)
        }
        // After a restart the person's request finds its reservation.
        try await withJournal(scratch.path) { journal in
            let cut = try await journal.reserve(one)
            #expect(cut?.isUnderWay == true)
            try await journal.keep(one.answered(200, "{}"))
            let known = try await journal.reserve(one)
            #expect(known == one.answered(200, "{}"))
            let others = try await journal.reserve(other)
            #expect(others?.isUnderWay == true)
            try await journal.forget(one)
            let again = try await journal.reserve(one)
            #expect(again == nil)
        }
    }

    @Test func `only the newest answers are remembered`() async throws {
        let scratch = try Scratch()
        try await withJournal(scratch.path) { journal in
            for number in 0..<Reply.most + 5 {
                _ = try await journal.reserve(try reply("anna", "key-\(number)"))
            }
            let kept = try await journal.reserve(try reply("anna", "key-5"))
            #expect(kept?.isUnderWay == true)
            let forgotten = try await journal.reserve(try reply("anna", "key-4"))
            #expect(forgotten == nil)
        }
    }
}

import Base
import Store
import Testing

/// Messages to be sent: each once, by one process at a time, and none is forgotten.
@Suite struct OutboxTests {
    private func at(_ seconds: Int64) -> WallTime { WallTime(milliseconds: seconds * 1_000) }

    private func wish(_ key: String, _ target: String) -> OutboxWish {
        OutboxWish(key: key, target: target, kind: "failed", rollout: "r", run: 3)
    }

    private func withJournal(
        _ body: @Sendable (Journal) async throws -> Void
    ) async throws {
        let thread = try ThreadExecutor.start(name: "outbox")
        let journal = try await Journal.inMemory(executor: thread)
        try await body(journal)
        await journal.close()
        thread.stop()
    }

    @Test func `what is posted twice is there once, and is taken by one at a time`() async throws {
        try await withJournal { journal in
            let wishes = [self.wish("run-3", "crew"), self.wish("run-3", "hook")]
            try await journal.post(wishes, at: self.at(10))
            try await journal.post(wishes, at: self.at(11))
            let first = try #require(
                try await journal.takeOutbox(at: self.at(12), until: self.at(72))
            )
            #expect(first.target == "crew" && first.attempts == 1 && first.run == 3)
            #expect(first.made == self.at(10) && first.body == nil)
            // A second process gets the other one, and a third none.
            let other = try await journal.takeOutbox(at: self.at(12), until: self.at(72))
            #expect(other?.target == "hook")
            #expect(try await journal.takeOutbox(at: self.at(12), until: self.at(72)) == nil)
            // The process that had the first one died: it is taken again after its time.
            let again = try await journal.takeOutbox(at: self.at(72), until: self.at(130))
            #expect(again?.id == first.id && again?.attempts == 2)
        }
    }

    @Test func `what a clock that was ahead has put off is sent by the right time`() async throws {
        try await withJournal { journal in
            let (ahead, now) = (self.at(300_000_000), self.at(20))
            try await journal.post([self.wish("run-3", "crew")], at: ahead)
            let first = try await journal.takeOutbox(at: ahead, until: ahead)
            let id = try #require(first?.id)
            try await journal.undelivered(id, because: "no", again: self.at(300_000_060))
            let entry = try await journal.takeOutbox(at: now, until: self.at(80))
            #expect(entry?.id == id && entry?.attempts == 2)
            // From now on its age is known, and it is given up in time.
            try await journal.undelivered(id, because: "no", again: self.at(3_600))
            #expect(try await journal.takeOutbox(at: self.at(90), until: self.at(150)) == nil)
            let again = try await journal.takeOutbox(at: self.at(3_600), until: self.at(3_660))
            #expect(again?.made == now)
        }
    }

    @Test func `what was delivered or given up is not taken again`() async throws {
        try await withJournal { journal in
            try await journal.post(
                ["a", "b", "c"].map { self.wish("run-4", $0) },
                at: self.at(0)
            )
            var ids: [Int64] = []
            for _ in 0..<3 {
                let entry = try await journal.takeOutbox(
                    after: ids.last ?? 0,
                    at: self.at(1),
                    until: self.at(60)
                )
                ids.append(try #require(entry?.id))
            }
            try await journal.word(ids[0], "{}")
            try await journal.delivered(ids[0], at: self.at(2))
            try await journal.undelivered(ids[1], because: "no", again: nil)
            try await journal.undelivered(ids[2], because: "later", again: self.at(7))
            let due = try await journal.takeOutbox(at: self.at(100), until: self.at(160))
            #expect(due?.id == ids[2] && due?.failure == "later")
            #expect(try await journal.takeOutbox(at: self.at(100), until: self.at(160)) == nil)
        }
    }
}

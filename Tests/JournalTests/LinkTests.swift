import Base
import Store
import Testing
import Workbench

/// The numbers of links that a journal remembers.
@Suite struct LinkTests {
    @Test func `a number belongs to an adapter and a family, and the newest counts`() async throws {
        let scratch = try Scratch()
        let (bikes, lights) = (Family(rawValue: "comodule"), Family(rawValue: "mcumgr"))
        try await withJournal(scratch.path) { journal in
            try await journal.learn(3, on: "hci0", for: [bikes, lights])
            try await journal.learn(5, on: "hci0", for: [bikes])
            try await journal.learn(2, on: "hci1", for: [bikes])
        }
        try await withJournal(scratch.path) { journal in
            let records = try await journal.links()
            #expect(records.map(\.links) == [5, 3, 2])
            #expect(LinkRecord.links(records, for: [bikes]) == ["hci0": 5, "hci1": 2])
            // With modules of two families, an adapter begins with what both allow.
            #expect(LinkRecord.links(records, for: [bikes, lights]) == ["hci0": 3])
            #expect(LinkRecord.links(records, for: [Family(rawValue: "esp")]).isEmpty)
        }
    }
}

import Base
import Store
import Testing
import Workbench

/// The records of the inventory in the journal.
@Suite struct InventoryTests {
    private func record(_ id: String?, serial: String, at seconds: Int64) throws -> InventoryRecord
    {
        var record = InventoryRecord(
            serial: try #require(Serial(serial)),
            family: Family(rawValue: "comodule"),
            profile: "generic",
            looked: at(seconds)
        )
        record.vehicle = try id.map(vehicle)
        return record
    }

    private func kept(_ directory: String) throws -> [InventoryRecord] {
        try JournalReader(directory: directory).read { view throws(JournalError) in
            try view.inventory()
        }
    }

    @Test func `a module that is not heard keeps what it said before`() async throws {
        let scratch = try Scratch()
        var read = try record("bus", serial: "aa01", at: 1)
        read.signal = -60
        read.heard = at(1)
        read.read = at(1)
        read.bond = "none"
        read.facts = [
            .init(.property, "state_of_charge", "80", unit: "percent"),
            .init(.version, "secondary", "4.11.3"),
        ]
        var missed = try record("bus", serial: "aa01", at: 2)
        missed.problem = InventoryRecord.notHeard
        try await withJournal(scratch.path) { journal in
            try await journal.keep([read])
            #expect(try kept(scratch.path) == [read])
            try await journal.keep([missed])
            let found = try #require(try kept(scratch.path).first)
            #expect(found.facts == read.facts && found.read == at(1) && found.signal == -60)
            #expect(found.looked == at(2) && found.problem == "not heard")
            var again = read
            again.facts = [.init(.version, "secondary", "4.12.0")]
            try await journal.keep([again])
            #expect(try kept(scratch.path).first?.facts == again.facts)
        }
    }

    @Test func `a vehicle has the module that it was met with last`() async throws {
        let scratch = try Scratch()
        let modules = [
            try record("bus", serial: "aa01", at: 1), try record("bus", serial: "aa02", at: 2),
            try record(nil, serial: "aa00", at: 2),
        ]
        try await withJournal(scratch.path) { journal in
            for module in modules { try await journal.keep([module]) }
            let found = try kept(scratch.path)
            #expect(found.map(\.serial.text) == ["aa02", "aa00", "aa01"])
            #expect(found.map { $0.vehicle?.text } == ["bus", nil, nil])
        }
    }
}

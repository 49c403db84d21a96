import Base
import Images
import Testing
import Workbench

/// Whether the missing images fit, before any of them is fetched.
@Suite struct StoreBudgetTests {
    private func digest(_ number: Int) throws -> SHA256Digest {
        try #require(SHA256Digest(String(repeating: "a", count: 63) + "\(number)"))
    }

    private func store(_ scratch: Scratch) throws -> StoreFolder {
        try run("mkdir", "-p", scratch.path + "/images/sha256/aa")
        return StoreFolder(stateDirectory: scratch.path)
    }

    @Test func `what the disk has no room for is reported`() throws {
        let scratch = try Scratch()
        let budget = try StoreBudget(
            for: [(try digest(1), ByteCount(count: 1 << 60))],
            in: try store(scratch)
        )
        #expect(budget.complaint(limit: nil)?.contains(", and the disk has ") == true)
    }

    @Test func `what is here needs no room, what was begun needs the rest`() throws {
        let scratch = try Scratch()
        let store = try store(scratch)
        try write([UInt8](repeating: 1, count: 5_000), to: store.path(of: try digest(1)))
        try write([UInt8](repeating: 1, count: 300), to: store.path(of: try digest(2)) + ".part")
        let budget = try StoreBudget(
            for: [
                (try digest(1), ByteCount(count: 5_000)), (try digest(2), ByteCount(count: 1_000)),
                (try digest(2), ByteCount(count: 1_000)), (try digest(3), nil),
            ],
            in: store
        )
        #expect(budget.missing == 2 && budget.unsized == 1)
        #expect(budget.needed == ByteCount(count: 700) && budget.held == ByteCount(count: 5_300))
        #expect(budget.complaint(limit: ByteCount(count: 6_000)) == nil)
        #expect(budget.complaint(limit: ByteCount(count: 5_999)) != nil)
        // When nothing has to be fetched, a store that is already too full is no reason to refuse.
        let none = try StoreBudget(for: [(try digest(1), nil)], in: store)
        #expect(none.complaint(limit: ByteCount(count: 1)) == nil)
    }
}

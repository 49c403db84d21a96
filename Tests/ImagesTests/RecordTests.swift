import Base
import Foundation
import Images
import Testing
import Workbench

/// The file with the origins of the images of a store.
@Suite struct RecordTests {
    private static let digests = (0..<3 as Range<UInt8>).map { SHA256.digest(of: [$0]) }

    private let scratch: Scratch
    private let records: ImageRecords

    init() throws {
        scratch = try Scratch()
        records = ImageRecords(StoreFolder(stateDirectory: scratch.path))
    }

    private var path: String { scratch.path + "/images/origins" }

    private func keep(_ text: String, of digest: SHA256Digest) throws {
        try records.update([digest]) { _, _ in Array(text.utf8) }
    }

    @Test func `of several records of an image the last counts`() throws {
        #expect(records.all() == [:])
        try records.update(Self.digests) { index, known in
            #expect(known == nil)
            return Array("first \(index)".utf8)
        }
        try records.update([Self.digests[1], Self.digests[1]]) { _, known in
            (known ?? []) + Array(" more".utf8)
        }
        #expect(
            records.all().mapValues { String(decoding: $0, as: UTF8.self) } == [
                Self.digests[0]: "first 0", Self.digests[1]: "first 1 more more",
                Self.digests[2]: "first 2",
            ]
        )
    }

    @Test func `what is known already is not written again`() throws {
        try keep("a", of: Self.digests[0])
        let before = try contents(path)
        try keep("a", of: Self.digests[0])
        #expect(try contents(path) == before)
    }

    @Test func `a last line that is torn anywhere costs no other line`() throws {
        try keep("whole", of: Self.digests[0])
        let start = try contents(path)
        try keep("torn", of: Self.digests[1])
        let all = try contents(path)
        for count in start.count..<all.count {
            for zeros in [0, 5] {
                try write(all.prefix(count) + [UInt8](repeating: 0, count: zeros), to: path)
                #expect(records.all() == [Self.digests[0]: Array("whole".utf8)], "\(count)")
                try keep("new", of: Self.digests[2])
                #expect(
                    records.all() == [
                        Self.digests[0]: Array("whole".utf8), Self.digests[2]: Array("new".utf8),
                    ],
                    "\(count)"
                )
            }
        }
    }

    @Test(arguments: [[], [0x0A, 0x0A], [UInt8](repeating: 0, count: 8_192), Array("{}\n".utf8)])
    func `a file that is none of ours is no obstacle`(bytes: [UInt8]) throws {
        try keep("a", of: Self.digests[0])
        try write(bytes, to: path)
        #expect(records.all() == [:])
        try keep("b", of: Self.digests[1])
        #expect(records.all() == [Self.digests[1]: Array("b".utf8)])
    }

    @Test func `records that change again and again take no more and more room`() throws {
        for round in 0..<500 { try keep("round \(round)", of: Self.digests[round % 3]) }
        #expect(try contents(path).count < 100 * 80)
        #expect(records.all()[Self.digests[499 % 3]] == Array("round 499".utf8))
        #expect(records.all().count == 3)
    }

    @Test func `what several write at once is all kept`() async throws {
        let records = records
        await withTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    for round in 0..<40 {
                        try? records.update([Self.digests[round % 2]]) { _, known in
                            (known ?? []) + Array("\(writer).\(round) ".utf8)
                        }
                    }
                }
            }
        }
        let words = records.all().values.flatMap {
            String(decoding: $0, as: UTF8.self).split(separator: " ")
        }
        #expect(words.count == 160)
        #expect(Set(words).count == 160)
    }

    @Test func `a clean-up forgets images that are gone, and no other`() async throws {
        let bytes = random(1_000, seed: 90)
        let digest = SHA256.digest(of: bytes)
        let source = scratch.path + "/source"
        try write(bytes, to: source)
        try await withStore(scratch.path) { store in
            _ = try await store.acquire(try request(digest), from: LocalFile(path: source))
        }
        try records.update([digest] + Self.digests) { _, _ in Array("from there".utf8) }
        let store = StoreFolder(stateDirectory: scratch.path)
        try ImageReferences(store).set("tallinn", [digest])
        guard let lock = try StoreLock(store, for: .cleaning) else {
            Issue.record("nobody else is at the store")
            return
        }
        _ = try ImageInventory(store).prune(under: lock)
        lock.release()
        #expect(records.all() == [digest: Array("from there".utf8)])
        #expect(try contents(path).split(separator: 0x0A).count == 1)
    }
}

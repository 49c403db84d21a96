import Base
import Families
import Moments
import Radio
import Testing

private func record(_ id: UInt16, _ fill: UInt8) -> [UInt8] {
    [UInt8(id >> 8), UInt8(id & 0xFF)] + Array(repeating: fill, count: 8)
}

private func reading(held: UInt16?) -> RegisterReader {
    var reader = RegisterReader(id: 0x0300, held: held)
    _ = reader.begin(at: at(0))
    return reader
}

@Suite struct RegisterReaderTests {
    @Test func `a record that replaces another one counts at once`() {
        var reader = RegisterReader(id: 0x0300, held: 0x0201)
        #expect(reader.begin(at: at(0)) == .select([0x03, 0x00]))
        #expect(reader.deadline == at(10))
        #expect(reader.selected(at: at(1)) == .read(at: at(1)))
        #expect(
            reader.read(record(0x0300, 7), at: at(1.002)) == .record(Array(repeating: 7, count: 8))
        )
        #expect(reader.held == 0x0300)
        #expect(reader.deadline == nil)
    }

    @Test func `a stale copy is read past`() {
        var reader = reading(held: 0x0201)
        _ = reader.selected(at: at(1))
        #expect(reader.read(record(0x0201, 1), at: at(1.002)) == .read(at: at(1.010)))
        #expect(reader.read(record(0x0201, 1), at: at(1.012)) == .read(at: at(1.025)))
        #expect(
            reader.read(record(0x0300, 7), at: at(1.026)) == .record(Array(repeating: 7, count: 8))
        )
    }

    @Test func `the last reading decides that a record is absent`() {
        var reader = reading(held: 0x0201)
        _ = reader.selected(at: at(1))
        _ = reader.read(record(0x0201, 1), at: at(1.002))
        _ = reader.read(record(0x0201, 1), at: at(1.012))
        #expect(reader.read(record(0x0201, 1), at: at(1.027)) == .read(at: at(1.075)))
        #expect(reader.read(record(0x0201, 1), at: at(1.077)) == .absent)
        #expect(reader.held == 0x0201)
    }

    @Test(arguments: [nil, 0x0300] as [UInt16?])
    func `where the same id may have been before, only a loaded copy counts`(held: UInt16?) {
        var reader = reading(held: held)
        #expect(reader.selected(at: at(1)) == .read(at: at(1.025)))
        #expect(
            reader.read(record(0x0300, 7), at: at(1.027)) == .record(Array(repeating: 7, count: 8))
        )
    }

    @Test func `a slow link reads one after another without waiting`() {
        var reader = reading(held: 0x0201)
        _ = reader.selected(at: at(1))
        #expect(reader.read(record(0x0201, 1), at: at(1.090)) == .read(at: at(1.090)))
        #expect(
            reader.read(record(0x0300, 7), at: at(1.180)) == .record(Array(repeating: 7, count: 8))
        )
    }

    @Test(arguments: [0, 1, 2, 9, 11, 512])
    func `a register of another size is an error`(count: Int) {
        var reader = reading(held: nil)
        _ = reader.selected(at: at(1))
        let value = Array(repeating: UInt8(3), count: count)
        #expect(reader.read(value, at: at(2)) == .failed(.length(count)))
    }

    @Test func `a lost link and an overdue answer end it`() {
        var reader = reading(held: nil)
        #expect(reader.timeout(at: at(9)) == .wait)
        #expect(reader.timeout(at: at(10)) == .failed(.link(.timedOut)))
        reader = reading(held: nil)
        _ = reader.selected(at: at(1))
        #expect(reader.deadline == at(11.025))
        #expect(reader.linkFailed(.lost, at: at(2)) == .failed(.link(.lost)))
        #expect(reader.read(record(0x0300, 7), at: at(3)) == .failed(.link(.lost)))
    }

    @Test func `events that belong nowhere change nothing`() {
        var reader = RegisterReader(id: 0xFCFC)
        #expect(reader.read(record(0xFCFC, 1), at: at(0)) == .wait)
        #expect(reader.selected(at: at(0)) == .wait)
        #expect(reader.timeout(at: at(0)) == .wait)
        _ = reader.begin(at: at(0))
        #expect(reader.begin(at: at(0)) == .wait)
        #expect(reader.read(record(0xFCFC, 1), at: at(0)) == .wait)
        _ = reader.selected(at: at(1))
        #expect(reader.selected(at: at(1)) == .wait)
        _ = reader.read(record(0xFCFC, 1), at: at(2))
        #expect(reader.selected(at: at(3)) == .record(Array(repeating: 1, count: 8)))
        #expect(reader.timeout(at: at(99)) == .record(Array(repeating: 1, count: 8)))
    }

    /// A register that loads the selected record some time after the selection, if the record
    /// exists.
    @Test(arguments: 1...200)
    func `whatever is selected in whatever order, the value read is the one of now`(
        seed: UInt64
    ) throws {
        var random = SplitMix64(seed: seed)
        var now = at(0)
        var held: UInt16?
        var content = record(2, 99)
        for round in UInt8(0)..<40 {
            let id = UInt16(random.below(4))
            var reader = RegisterReader(id: id, held: held)
            #expect(reader.begin(at: now) == .select([0, UInt8(id)]))
            let loaded = now.advanced(by: .milliseconds(random.below(16)))
            var action = reader.selected(at: now)
            while case .read(let due) = action {
                now = max(now, due)
                // Record 3 does not exist.
                if now >= loaded, id != 3 { content = record(id, round) }
                let value = content
                now = now.advanced(by: .milliseconds(random.below(30)))
                action = reader.read(value, at: now)
            }
            if id != 3, now >= loaded { content = record(id, round) }
            held = reader.held
            let expected: RegisterReader.Action =
                id == 3 ? .absent : .record(Array(repeating: round, count: 8))
            #expect(action == expected, "seed \(seed), round \(round)")
        }
    }
}

import Base
import Families
import Testing

/// The records of a module, according to the published layouts.
@Suite struct RecordTests {
    @Test func `the versions record has its numbers where they are known to be`() throws {
        let bytes = try #require(Hex.bytes("fcfc040c00010002" + "0001"))
        let record = try #require(ComoduleRecord(bytes).flatMap { VersionsRecord($0) })
        #expect(record.primary == FirmwareVersion(4, 12))
        #expect(record.variant == 1)
        #expect(record.handoff == 2)
        #expect(record.record.bytes == bytes)
    }

    @Test func `the preflight record has a big-endian checksum`() throws {
        let preflight = PreflightRecord(target: .external, crc: 0x1234_5678, file: 3)
        #expect(Hex.text(preflight.record.bytes) == "f0cc8012345678030000")
        #expect(PreflightRecord(preflight.record) == preflight)
        #expect(PreflightRecord(ComoduleRecord(id: 0xFCFC, data: [])) == nil)
    }

    @Test func `power and motion say nothing that cannot be`() {
        #expect(PowerRecord(PowerRecord(stateOfCharge: 80, millivolts: 36_000).record) != nil)
        #expect(PowerRecord(ComoduleRecord(id: PowerRecord.id, data: [101])) == nil)
        #expect(MotionRecord(MotionRecord(speedTenths: 123).record)?.speedTenths == 123)
    }

    @Test func `random bytes are a record or none`() {
        var random = SplitMix64(seed: 99)
        for _ in 0..<100_000 {
            let bytes = (0..<random.below(40)).map { _ in
                UInt8(truncatingIfNeeded: random.next())
            }
            if let record = ComoduleRecord(bytes) { #expect(record.bytes == bytes) }
        }
    }
}

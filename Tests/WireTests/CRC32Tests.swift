import Base
import Testing

@Suite struct CRC32Tests {
    @Test(arguments: [
        ("", UInt32(0)), ("a", 0xE8B7_BE43), ("123456789", 0xCBF4_3926),
        ("The quick brown fox jumps over the lazy dog", 0x414F_A339),
    ])
    func `the published check values come out`(text: String, value: UInt32) {
        #expect(CRC32.of(text.utf8) == value)
        #expect(CRC32.of(Array(text.utf8)) == value)
    }

    @Test func `every length agrees with the checksum one bit at a time`() {
        var random = SplitMix64(seed: 1)
        let bytes = (0..<70).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        for start in 0..<9 {
            for end in start...bytes.count {
                #expect(CRC32.of(bytes[start..<end]) == bitwise(bytes[start..<end]))
            }
        }
    }

    @Test func `any split and any continuation gives the whole's value`() {
        var random = SplitMix64(seed: 2)
        let bytes = (0..<300).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        let whole = CRC32.of(bytes)
        for cut in 0...bytes.count {
            var crc = CRC32()
            crc.update(bytes[..<cut])
            var next = CRC32(continuing: crc.value)
            next.update(bytes[cut...])
            #expect(next.value == whole)
        }
    }

    @Test func `a sequence without storage is taken byte by byte`() {
        #expect(CRC32.of((0x31...0x39).lazy.map { UInt8($0) }) == 0xCBF4_3926)
    }

    private func bitwise(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        var crc: UInt32 = 0xFFFF_FFFF
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        return ~crc
    }
}

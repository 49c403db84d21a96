import Base
import Radio
import Testing

@Suite struct PrefixChecksumsTests {
    @Test(arguments: [0, 1, 4_095, 4_096, 4_097, 20_000])
    func `the checksum of any prefix is right, in any order of questions`(count: Int) {
        var random = SplitMix64(seed: UInt64(count))
        let bytes = (0..<count).map { _ in UInt8(random.below(256)) }
        let checksums = PrefixChecksums(bytes)
        for _ in 0..<100 {
            let offset = random.below(count + 1)
            #expect(checksums.value(upTo: offset) == CRC32.of(bytes.prefix(offset)))
        }
        #expect(checksums.whole == CRC32.of(bytes))
        #expect(checksums.value(upTo: count + 1) == nil)
        #expect(checksums.value(upTo: -1) == nil)
    }
}

import Domain
import Testing
import Trust

@Suite struct MetadataTimeTests {
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0), ("2026-11-21T03:36:05Z", 1_795_232_165),
        ("2024-02-29T23:59:59Z", 1_709_251_199), ("0001-03-01T00:00:00Z", -62_130_499_200),
    ])
    func `a time is read to the second`(text: String, seconds: Int) {
        #expect(WallTime(metadata: text)?.milliseconds == Int64(seconds) * 1_000)
    }
}

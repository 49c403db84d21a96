import Domain
import Testing

@Suite struct ValueTests {
    @Test(arguments: [
        ("4.12", "4.12.0"), ("4.12.0", "4.12.0"), ("1.2.3.45", "1.2.3.45"),
        ("1.2.3+45", "1.2.3.45"),
    ])
    func `a version is read and printed in full`(text: String, printed: String) {
        #expect(FirmwareVersion(text)?.description == printed)
    }

    @Test(arguments: ["", "4", "4.", ".1", "1.2.3.4.5", "1.2+3", "a.b", "1.-2", "99999999999.1"])
    func `what is no version is refused`(text: String) {
        #expect(FirmwareVersion(text) == nil)
    }

    @Test func `versions compare by number, not by letter`() throws {
        #expect(FirmwareVersion(4, 9) < FirmwareVersion(4, 12))
        #expect(FirmwareVersion(1, 2, 3) < FirmwareVersion(1, 2, 3, build: 1))
        #expect(FirmwareVersion("4.12") == FirmwareVersion("4.12.0"))
    }

    @Test(arguments: [
        ("10%", 1_000), ("2.5%", 250), ("0.25%", 25), ("100%", 10_000), ("0%", 0),
    ])
    func `a percentage is kept exactly`(text: String, hundredths: Int) {
        let percent = Percent(text)
        #expect(percent?.hundredths == hundredths)
        #expect(percent?.description == text)
    }

    @Test(arguments: ["", "%", "101%", "10", "1.234%", "-1%", "10 %", ".5%"])
    func `what is no percentage is refused`(text: String) {
        #expect(Percent(text) == nil)
    }

    @Test(arguments: [
        ("20s", Duration.seconds(20)), ("1500ms", .milliseconds(1_500)), ("1h30m", .seconds(5_400)),
        ("7d", .seconds(604_800)),
    ])
    func `a duration is read`(text: String, duration: Duration) {
        #expect(Duration(text: text) == duration)
    }

    @Test(arguments: ["", "20", "s", "20 s", "-1s", "1.5s", "1w", "9999999999s"])
    func `what is no duration is refused`(text: String) {
        #expect(Duration(text: text) == nil)
    }

    @Test(arguments: [
        (Duration.milliseconds(850), "850ms"), (.milliseconds(2_400), "2.4s"),
        (.seconds(20), "20s"),
        (.seconds(185), "3m05s"), (.seconds(14_400), "4h"), (.seconds(5_400), "1h30m"),
        (.seconds(187_200), "2d04h"),
    ])
    func `a duration prints briefly`(duration: Duration, text: String) {
        #expect(duration.brief == text)
    }

    @Test(arguments: [
        (Int64(0), "1970-01-01T00:00:00.000Z"), (1_774_749_600_123, "2026-03-29T02:00:00.123Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
    ])
    func `wall time prints in UTC`(milliseconds: Int64, text: String) {
        #expect(WallTime(milliseconds: milliseconds).description == text)
    }

    @Test(arguments: [("512KiB", 524_288), ("8MiB", 8_388_608), ("200kB", 200_000), ("7", 7)])
    func `a byte count is read`(text: String, bytes: Int) {
        #expect(ByteCount(text)?.bytes == bytes)
    }

    @Test(arguments: ["", "KiB", "1 KiB", "1.5KiB", "999999999999999GiB", "-1"])
    func `what is no byte count is refused`(text: String) {
        #expect(ByteCount(text) == nil)
    }

    @Test func `hex is lower case with two digits a byte`() {
        #expect(Hex.text([0x01, 0x02, 0xAF]) == "0102af")
        #expect(Hex.bytes("0102aF") == [1, 2, 0xAF])
        #expect(Hex.bytes("010") == nil)
        #expect(Hex.bytes("0g") == nil)
    }

    @Test func `a secret never prints`() {
        let secret = Secret([1, 2, 3])
        #expect("\(secret)" == "<secret>")
        #expect(String(reflecting: secret) == "<secret>")
        var dumped = ""
        dump(secret, to: &dumped)
        #expect(dumped == "- <secret>\n")
    }

    @Test func `one seed gives one sequence`() {
        var random = SplitMix64(seed: 0)
        #expect(random.next() == 0xE220_A839_7B1D_CDAF)
        #expect((0..<1_000).allSatisfy { _ in (0..<10).contains(random.below(10)) })
    }
}

import Base
import Testing

@Suite struct ValueTests {
    @Test(arguments: [
        "113 ÕÄB", "car-7", "d-tallinn-1", "7", "A+B", "bike@north", "#12", "Straße 5", "車1", "a,b",
        "it's", "a/b", "O\u{303}",
    ])
    func `an id of a vehicle may be what stands on a plate`(text: String) {
        #expect(VehicleID(text)?.text == text)
        #expect(text.visible == text)
    }

    /// Formulas, flags, groups, patterns, selections by label, and what cannot be seen.
    @Test(arguments: [
        "", " a", "a ", "=cmd|'/C calc'!A0", "+1", "-x", "--help", "@failed", "*", "a*", "?", "b?1",
        "depot=north", "a\tb", "a\nb", "\u{7F}", "a\u{9B}m", "a\u{61C}b", "a\u{200B}b",
        "a\u{200D}b",
        "a\u{202E}b", "\u{2066}a", "a\u{FEFF}", "a\u{AD}b", "a\u{2028}b", "a\u{A0}b", "a\u{3000}b",
        "\u{303}a", "a\u{E0041}", "a\u{FE0F}", "a\u{E000}", "a\u{180E}b",
        String(repeating: "x", count: 129),
    ])
    func `an id of a vehicle is nothing else than an id`(text: String) {
        #expect(VehicleID(text) == nil)
    }

    @Test(arguments: ["=cmd|x", "--help", "-1", "+1", "@a", "a*", "?", "a b", "ä", "", "a\u{61C}"])
    func `a serial is nothing else than a serial`(text: String) {
        #expect(Serial(text) == nil)
        #expect(Serial("a" + text) == nil || !text.contains { "*? äß\u{61C}".contains($0) })
    }

    @Test func `text from outside that is not seen is shown as what it is`() {
        let text = "a\u{1B}[2J\u{61C}\u{200B}\u{202E}\u{FEFF}\u{AD}\nb 113 ÕÄB"
        #expect(text.visible == #"a\u{1b}[2J\u{61c}\u{200b}\u{202e}\u{feff}\u{ad}\u{a}b 113 ÕÄB"#)
        #expect(text.visible.visible == text.visible)
    }

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

    @Test func `a secret is zeros when the last copy of it is dropped`() {
        let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 3)
        defer { memory.deallocate() }
        _ = memory.initialize(from: [1, 2, 3])
        var first: Secret? = Secret(SecretStorage(in: memory))
        var second = first
        #expect(first == Secret([1, 2, 3]))
        first = nil
        #expect(second?.withBytes { $0 } == [1, 2, 3], "somebody still has it")
        second = nil
        #expect(Array(memory) == [0, 0, 0])
    }

    @Test func `a copy of a secret that is wiped leaves others as they are`() {
        let secret = Secret([1, 2, 3])
        secret.withBytes { bytes in
            var copy = bytes
            copy.wipe()
            #expect(copy == [0, 0, 0] && bytes == [1, 2, 3])
        }
        #expect(secret == Secret([1, 2, 3]) && secret != Secret([1, 2]))
    }

    @Test func `one seed gives one sequence`() {
        var random = SplitMix64(seed: 0)
        #expect(random.next() == 0xE220_A839_7B1D_CDAF)
        #expect((0..<1_000).allSatisfy { _ in (0..<10).contains(random.below(10)) })
    }
}

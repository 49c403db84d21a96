import Base
import Images
import Testing

/// The small parts of the client.
@Suite struct SmallPartsTests {
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0), ("2026-11-21T03:36:05Z", 1_795_232_165),
        ("2024-02-29T23:59:59Z", 1_709_251_199), ("0001-03-01T00:00:00Z", -62_130_499_200),
        ("9999-12-31T23:59:59Z", 253_402_300_799),
    ])
    func `a time is read to the second`(text: String, seconds: Int) {
        let time = WallTime(metadata: text)
        #expect(time?.milliseconds == Int64(seconds) * 1_000)
        #expect(time?.description == text.dropLast() + ".000Z")
    }

    @Test(arguments: [
        "", "2026-11-21", "2023-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
        "2026-04-31T00:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T23:60:00Z",
        "2026-11-21T23:59:60Z", "+026-11-21T23:59:59Z", "2026-11-21T23:59:59+",
        "2026-11-21T23:59:59Z ", " 2026-11-21T23:59:59Z", "1900-02-29T00:00:00Z",
    ])
    func `what is no time is none`(text: String) {
        #expect(WallTime(metadata: text) == nil)
    }

    @Test func `the canonical form sorts by bytes and escapes two characters`() throws {
        let value = try JSONValue(
            json: #"{ "b": [1, -0, true, null], "\u00e9": "\"\\\n\u0001/", "z": {}, "a": -5 }"#
        )
        let expected = "{\"a\":-5,\"b\":[1,0,true,null],\"z\":{},\"é\":\"\\\"\\\\\n\u{1}/\"}"
        #expect(value.canonicalBytes == Array(expected.utf8))
        #expect(JSONValue.number(1.5).canonicalBytes == nil)
        #expect(JSONValue.array([.object(["x": .number(2)])]).canonicalBytes == nil)
    }

    @Test(arguments: [
        ("*", "a", true), ("*", "", true), ("*", "a/b", false), ("a/*", "a/b", true),
        ("a/*", "a/b/c", false), ("a/*", "a", false), ("?", "é", true), ("?", "", false),
        ("foo-?.tgz", "foo-1.tgz", true), ("foo-?.tgz", "foo-12.tgz", false),
        ("*.md", "README.MD", false), ("a*b*c", "axxbyybzc", true), ("a*b*c", "axxbyybz", false),
        ("**", "abc", true), ("[ab]", "a", false), ("[ab]", "[ab]", true), ("", "", true),
        ("*/x", "/x", true), ("?", "/", false),
    ])
    func `a pattern matches within the parts of a path`(
        pattern: String,
        path: String,
        matches: Bool
    ) {
        #expect(PathPattern(pattern).matches(ExactText(path)) == matches)
    }

    @Test func `a pattern of many stars takes no time`() {
        let pattern = PathPattern(String(repeating: "*a", count: 200))
        #expect(!pattern.matches(ExactText(String(repeating: "a", count: 199))))
        #expect(pattern.matches(ExactText(String(repeating: "a", count: 900))))
    }

    @Test func `text is distinguished by its bytes`() {
        let (one, two) = (ExactText("caf\u{E9}"), ExactText("cafe\u{301}"))
        #expect("caf\u{E9}" == "cafe\u{301}")
        #expect(one != two)
        #expect(Set([one, two]).count == 2)
    }

    @Test(arguments: [
        ("image", "image"), ("a/b c", "a%2Fb%20c"), ("é", "%C3%A9"), ("a?b#c", "a%3Fb%23c"),
    ])
    func `the file of a target has one plain name`(path: String, name: String) {
        #expect(TargetPath(path)?.fileName == name)
    }

    @Test(arguments: [".hidden", String(repeating: "long/", count: 100) + "x"])
    func `a name that no folder should have becomes a digest`(path: String) throws {
        let name = try #require(TargetPath(path)?.fileName)
        #expect(name.hasPrefix("%sha256-"))
        #expect(name.utf8.count < 100)
    }

    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy"),
    ])
    func `base64 goes both ways`(text: String, encoded: String) {
        #expect(Base64.text(Array(text.utf8)) == encoded)
        #expect(Base64.bytes(Array(encoded.utf8)) == Array(text.utf8))
    }

    @Test(arguments: [
        "Z", "Zg", "Zg=", "Zh==", "Zm9=", "Z===", "Zm9v=", "Zm9v====", "Zm 9", "Zg==Zg==",
    ])
    func `base64 has one spelling`(text: String) {
        #expect(Base64.bytes(Array(text.utf8)) == nil)
    }

    @Test(
        arguments: [
            ("comodule", nil, nil), ("comodule-17", 17, nil), ("comodule-17-0", 17, 0),
        ] as [(String, UInt32?, UInt32?)]
    )
    func `a kind of module is read`(text: String, type: UInt32?, variant: UInt32?) {
        let id = HardwareID(text)
        #expect(
            id == HardwareID(family: Family(rawValue: "comodule"), type: type, variant: variant)
        )
        #expect(id?.description == text)
    }

    @Test(arguments: [
        "", "bicycle", "comodule-", "comodule17", "comodule-1-2-3", "comodule--1", "comodule-x",
    ])
    func `what is no kind of module is none`(text: String) {
        #expect(HardwareID(text) == nil)
    }
}

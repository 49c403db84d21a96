import Base
import Families
import Testing

private func key(_ text: String) throws(ComoduleKeyError) -> [UInt8] {
    try ComoduleKey(Secret(Array(text.utf8))).withBytes { $0 }
}

@Suite struct ComoduleKeyTests {
    @Test(arguments: [
        (String(repeating: "11", count: 20), Array(repeating: UInt8(0x11), count: 20)),
        ("aB", [0xAB] + Array(repeating: UInt8(0), count: 19)),
        (" 0102\r\n", [1, 2] + Array(repeating: UInt8(0), count: 18)),
    ])
    func `a key is hex of either case, filled up with zeros`(text: String, bytes: [UInt8]) throws {
        #expect(try key(text) == bytes)
    }

    @Test func `keys of either case are one key`() throws {
        let (small, large) = (Secret(Array("abcdef".utf8)), Secret(Array("ABCDEF".utf8)))
        #expect(try ComoduleKey(small) == ComoduleKey(large))
    }

    @Test(arguments: [
        ("", ComoduleKeyError.empty), (" \n", .empty), ("abc", .oddDigits(3)),
        ("12zx", .notHex(position: 3)), ("12 34", .notHex(position: 3)),
        ("é", .notHex(position: 1)),
        (String(repeating: "0", count: 42), .tooLong(digits: 42)),
        (String(repeating: "0", count: 41), .tooLong(digits: 41)),
    ])
    func `what is no key is refused without being repeated`(
        text: String,
        error: ComoduleKeyError
    ) {
        #expect(throws: error) { try key(text) }
    }

    @Test func `a key and what is wrong with one never print it`() throws {
        let secret = Secret(Array("c0ffee".utf8))
        #expect("\(try ComoduleKey(secret))" == "<secret>")
        var dumped = ""
        dump(try ComoduleKey(secret), to: &dumped)
        #expect(!dumped.contains("255") && !dumped.contains("ffee"))
        #expect(!ComoduleKeyError.notHex(position: 2).description.contains("z"))
    }
}

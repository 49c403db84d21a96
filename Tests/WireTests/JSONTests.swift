import Base
import Testing

@Suite struct JSONTests {
    @Test(arguments: [
        ("null", JSONValue.null),
        (" true ", .bool(true)),
        ("\t[\r\n]", .array([])),
        ("{}", .object([JSONMember]())),
        ("0", .integer(0)),
        ("-0", .integer(0)),
        ("9223372036854775807", .integer(.max)),
        ("-9223372036854775808", .integer(.min)),
        ("0.5", .number(0.5)),
        ("-12.25e2", .number(-1_225)),
        ("1E+2", .number(100)),
        (#""""#, .string("")),
        (#""a\"\\\/\b\f\n\r\t\u0041\u00e9\uD83D\uDE97""#, .string("a\"\\/\u{8}\u{C}\n\r\tAé🚗")),
        (#"[1,[2,{"a":null}]]"#, .array([1, .array([2, .object([JSONMember("a", .null)])])])),
        (
            #"{"b":1 , "a":[ ]}"#,
            .object([JSONMember("b", 1), JSONMember("a", .array([]))])
        ),
    ])
    func `a value is read`(text: String, value: JSONValue) throws {
        #expect(try JSONValue(json: text) == value)
    }

    @Test(arguments: [
        ("", JSONError.Reason.endsEarly, 0),
        ("  ", .endsEarly, 2),
        ("nul", .endsEarly, 3),
        ("nulL", .unexpectedByte(0x4C), 3),
        ("[1,2", .endsEarly, 4),
        ("[1,]", .unexpectedByte(0x5D), 3),
        ("[1 2]", .unexpectedByte(0x32), 3),
        ("[,1]", .unexpectedByte(0x2C), 1),
        (#"{"a":1,}"#, .unexpectedByte(0x7D), 7),
        (#"{"a"}"#, .unexpectedByte(0x7D), 4),
        (#"{a:1}"#, .unexpectedByte(0x61), 1),
        (#"{"a":1,"a":2}"#, .duplicateMember("a"), 7),
        (#"{"a":1,"\u0061":2}"#, .duplicateMember("a"), 7),
        ("1 2", .trailingBytes, 2),
        ("{}\0", .trailingBytes, 2),
        ("01", .badNumber, 0),
        ("-", .endsEarly, 1),
        ("-a", .badNumber, 1),
        ("1.", .endsEarly, 2),
        ("1.x", .badNumber, 2),
        ("1e", .endsEarly, 2),
        ("+1", .unexpectedByte(0x2B), 0),
        (".5", .unexpectedByte(0x2E), 0),
        ("NaN", .unexpectedByte(0x4E), 0),
        ("9223372036854775808", .numberOutOfRange, 0),
        ("1e400", .numberOutOfRange, 0),
        (#""abc"#, .endsEarly, 4),
        (#""\"#, .endsEarly, 2),
        (#""\x""#, .badEscape, 1),
        (#""\u12g4""#, .badEscape, 5),
        (#""\u12"#, .endsEarly, 5),
        (#""\ud83d""#, .loneSurrogate, 1),
        (#""\ud83d\n""#, .loneSurrogate, 1),
        (#""\ud83d\u0041""#, .loneSurrogate, 1),
        (#""\ude97""#, .loneSurrogate, 1),
        ("\"a\nb\"", .controlCharacterInString, 2),
        ("\u{FEFF}1", .unexpectedByte(0xEF), 0),
    ])
    func `what is no JSON is refused with its place`(
        text: String,
        reason: JSONError.Reason,
        offset: Int
    ) {
        #expect(throws: JSONError(reason, at: offset)) { try JSONValue(json: text) }
    }

    @Test(arguments: [
        [0xFF], [0xC0, 0xAF], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80],
    ])
    func `invalid UTF-8 is refused`(bytes: [UInt8]) {
        #expect(throws: JSONError(.invalidUTF8, at: 1)) {
            try JSONValue(json: [0x22] + bytes + [0x22])
        }
    }

    @Test func `a number of more digits than anybody needs is refused`() throws {
        let digits = "0." + String(repeating: "1", count: 62)
        #expect(try JSONValue(json: digits) != .null)
        #expect(throws: JSONError(.numberOutOfRange, at: 0)) { try JSONValue(json: digits + "1") }
    }

    @Test func `nesting ends at 64`() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(try JSONValue(json: nested(64)).array?.count == 1)
        #expect(throws: JSONError(.nestedTooDeeply, at: 64)) { try JSONValue(json: nested(65)) }
        #expect(throws: JSONError(.nestedTooDeeply, at: 64)) {
            try JSONValue(json: String(repeating: "[", count: 1_000_000))
        }
    }

    @Test func `names that are one in Unicode but differ in bytes are two members`() throws {
        let value = try JSONValue(json: "{\"\u{E9}\":1,\"e\u{301}\":2}")
        #expect(value.members?.count == 2)
        #expect(value["e\u{301}"] == 2)
        #expect(value["\u{E9}"] == 1)
    }

    @Test func `a value is written compactly with its members in order`() {
        let value = JSONValue.object([
            "z": "a\"b\\c/\u{1}\n\u{7F}é🚗",
            "left out": nil,
            "a": [1, -2, 2.5, true, .null],
            "m": .object([JSONMember]()),
        ])
        #expect(
            value.text
                == #"{"z":"a\"b\\c/\u0001\n"# + "\u{7F}é🚗" + #"","a":[1,-2,2.5,true,null],"m":{}}"#
        )
    }

    @Test func `what is no number in JSON is written as null`() {
        #expect(JSONValue.number(.infinity).text == "null")
        #expect(JSONValue.number(.nan).text == "null")
    }

    @Test func `members and elements are asked for by name and kind`() throws {
        let value = try JSONValue(json: #"{"s":"x","i":7,"b":true,"a":[1],"o":{"k":1}}"#)
        #expect(value["s"]?.string == "x")
        #expect(value["i"]?.integer == 7)
        #expect(value["b"]?.bool == true)
        #expect(value["a"]?.array == [1])
        #expect(value["o"]?.members == [JSONMember("k", 1)])
        #expect(value["none"] == nil)
        #expect(value["s"]?["s"] == nil)
        #expect(value["s"]?.integer == nil)
    }

    @Test func `an error says what and where`() {
        #expect(JSONError(.unexpectedByte(0x7D), at: 3).description == "unexpected '}' at byte 3")
        #expect(JSONError(.unexpectedByte(0), at: 0).description == "unexpected byte 0x0 at byte 0")
    }
}

/// Properties that must hold for any value and any bytes; a failure prints the seed.
@Suite struct JSONPropertyTests {
    /// A random value whose size shrinks with its depth.
    private func value(_ random: inout SplitMix64, depth: Int = 0) -> JSONValue {
        let scalars: [Unicode.Scalar] = [
            "a", "\"", "\\", "\n", "\0", "\u{7F}", "é", "🚗", "\u{FFFF}",
        ]
        func text(_ random: inout SplitMix64) -> String {
            var text = String.UnicodeScalarView()
            for _ in 0..<random.below(6) { text.append(scalars[random.below(scalars.count)]) }
            return String(text)
        }
        switch random.below(depth > 4 ? 5 : 7) {
        case 0: return .null
        case 1: return .bool(random.chance(0.5))
        case 2: return .integer(Int64(bitPattern: random.next() >> UInt64(random.below(64))))
        case 3:
            let number = Double(bitPattern: random.next())
            return number.isFinite ? .number(number) : .number(1.5)
        case 4: return .string(text(&random))
        case 5:
            return .array((0..<random.below(4)).map { _ in value(&random, depth: depth + 1) })
        default:
            return .object(
                (0..<random.below(4)).map {
                    JSONMember("\($0)" + text(&random), value(&random, depth: depth + 1))
                }
            )
        }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `what is written reads back the same`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<200 {
            let value = value(&random)
            let read = try JSONValue(json: value.bytes)
            #expect(read == value)
            #expect(read.bytes == value.bytes)
        }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `any bytes are read or refused, and what is read can be written`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let alphabet = Array("{}[]:,\"\\u0123456789abdefnrtlse+-. \n".utf8)
        for _ in 0..<500 {
            var bytes: [UInt8]
            if random.chance(0.5) {
                bytes = value(&random).bytes
                for _ in 0...random.below(3) where !bytes.isEmpty {
                    let place = random.below(bytes.count)
                    switch random.below(3) {
                    case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
                    case 1: bytes.remove(at: place)
                    default: bytes.insert(alphabet[random.below(alphabet.count)], at: place)
                    }
                }
            } else {
                bytes = (0..<random.below(24)).map { _ in alphabet[random.below(alphabet.count)] }
            }
            do throws(JSONError) {
                let read = try JSONValue(json: bytes)
                #expect(try JSONValue(json: read.bytes).bytes == read.bytes)
            } catch {
                #expect((0...bytes.count).contains(error.offset))
            }
        }
    }
}

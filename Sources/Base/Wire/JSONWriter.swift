extension JSONValue {
    /// The value as compact text: the same value always gives the same bytes, with members in their
    /// order.
    package var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The value as compact UTF-8.
    package var bytes: [UInt8] {
        var writer = JSONWriter()
        writer.bytes.reserveCapacity(256)
        writer.write(self)
        return writer.bytes
    }

    /// The value as text for people: a line for each member and element, with a line feed at the
    /// end.
    package var indented: String {
        var writer = JSONWriter()
        writer.writeLines(self, depth: 0)
        return String(decoding: writer.bytes, as: UTF8.self) + "\n"
    }
}

/// Writes JSON, with only the escapes that RFC 8259 section 7 requires.
private struct JSONWriter {
    var bytes: [UInt8] = []

    /// With a line for each part of a non-empty value.
    mutating func writeLines(_ value: JSONValue, depth: Int) {
        let inner = "\n" + String(repeating: "  ", count: depth + 1)
        let outer = "\n" + String(repeating: "  ", count: depth)
        switch value {
        case .array(let elements) where !elements.isEmpty:
            for (index, element) in elements.enumerated() {
                write(ascii: (index == 0 ? "[" : ",") + inner)
                writeLines(element, depth: depth + 1)
            }
            write(ascii: outer + "]")
        case .object(let members) where !members.isEmpty:
            for (index, member) in members.enumerated() {
                write(ascii: (index == 0 ? "{" : ",") + inner)
                write(string: member.name)
                write(ascii: ": ")
                writeLines(member.value, depth: depth + 1)
            }
            write(ascii: outer + "}")
        case .null, .bool, .integer, .number, .string, .array, .object: write(value)
        }
    }

    /// Without white space.
    mutating func write(_ value: JSONValue) {
        switch value {
        case .null: write(ascii: "null")
        case .bool(let bool): write(ascii: bool ? "true" : "false")
        case .integer(let integer): write(ascii: String(integer))
        case .number(let number): write(number)
        case .string(let text): write(string: text)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                write(element)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                write(string: member.name)
                bytes.append(UInt8(ascii: ":"))
                write(member.value)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private mutating func write(ascii text: String) { bytes.append(contentsOf: text.utf8) }

    /// The shortest text that is read back as the same number.
    ///
    /// JSON has no infinity and no not-a-number: both are written as null.
    private mutating func write(_ number: Double) {
        write(ascii: number.isFinite ? number.description : "null")
    }

    private static let digits = Array("0123456789abcdef".utf8)

    private mutating func write(string text: String) {
        bytes.append(UInt8(ascii: "\""))
        defer { bytes.append(UInt8(ascii: "\"")) }
        let isPlain = text.utf8.allSatisfy {
            $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
        }
        if isPlain { return bytes.append(contentsOf: text.utf8) }
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): write(ascii: "\\\"")
            case UInt8(ascii: "\\"): write(ascii: "\\\\")
            case 0x08: write(ascii: "\\b")
            case 0x09: write(ascii: "\\t")
            case 0x0A: write(ascii: "\\n")
            case 0x0C: write(ascii: "\\f")
            case 0x0D: write(ascii: "\\r")
            case 0x00...0x1F:
                write(ascii: "\\u00")
                bytes.append(Self.digits[Int(byte >> 4)])
                bytes.append(Self.digits[Int(byte & 15)])
            default: bytes.append(byte)
            }
        }
    }
}

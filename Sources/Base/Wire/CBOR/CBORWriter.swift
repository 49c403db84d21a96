/// Appends CBOR items, with every number in its shortest form.
package struct CBORWriter {
    package private(set) var bytes: [UInt8]

    /// Begins after the given bytes.
    package init(_ bytes: [UInt8] = []) { self.bytes = bytes }

    /// The length of an item's head with this number.
    package static func headLength(_ argument: Int) -> Int {
        switch argument {
        case ..<24: 1
        case ..<0x100: 2
        case ..<0x1_0000: 3
        case ..<0x1_0000_0000: 5
        default: 9
        }
    }

    package mutating func beginMap(_ count: Int) { head(5, UInt64(count)) }

    package mutating func integer(_ number: Int) {
        number >= 0 ? head(0, UInt64(number)) : head(1, UInt64(-1 - number))
    }

    package mutating func text(_ text: String) {
        head(3, UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    package mutating func string(_ string: ArraySlice<UInt8>) {
        head(2, UInt64(string.count))
        bytes.append(contentsOf: string)
    }

    package mutating func bool(_ bool: Bool) { bytes.append(bool ? 0xF5 : 0xF4) }

    /// Any item; with `isOpen`, its arrays and maps have indefinite length, like Zephyr's.
    package mutating func item(_ value: CBORValue, isOpen: Bool = false) {
        switch value {
        case .unsigned(let number): head(0, number)
        case .negative(let number): head(1, number)
        case .bytes(let string): self.string(string[...])
        case .text(let text): self.text(text)
        case .array(let items):
            isOpen ? bytes.append(0x9F) : head(4, UInt64(items.count))
            for item in items { self.item(item, isOpen: isOpen) }
            if isOpen { bytes.append(0xFF) }
        case .map(let members):
            isOpen ? bytes.append(0xBF) : head(5, UInt64(members.count))
            for member in members {
                item(member.key, isOpen: isOpen)
                item(member.value, isOpen: isOpen)
            }
            if isOpen { bytes.append(0xFF) }
        case .bool(let bool): self.bool(bool)
        case .null: bytes.append(0xF6)
        case .undefined: bytes.append(0xF7)
        case .float(let number):
            bytes.append(0xFB)
            self.number(number.bitPattern, of: 8)
        case .simple(let value): head(7, UInt64(value))
        case .tagged(let tag, let value):
            head(6, tag)
            item(value, isOpen: isOpen)
        }
    }

    private mutating func head(_ major: UInt8, _ argument: UInt64) {
        switch argument {
        case ..<24: bytes.append(major << 5 | UInt8(argument))
        case ..<0x100:
            bytes.append(major << 5 | 24)
            bytes.append(UInt8(argument))
        case ..<0x1_0000:
            bytes.append(major << 5 | 25)
            number(argument, of: 2)
        case ..<0x1_0000_0000:
            bytes.append(major << 5 | 26)
            number(argument, of: 4)
        default:
            bytes.append(major << 5 | 27)
            number(argument, of: 8)
        }
    }

    private mutating func number(_ number: UInt64, of length: Int) {
        for index in (0..<length).reversed() {
            bytes.append(UInt8(truncatingIfNeeded: number >> (8 * index)))
        }
    }
}

extension CBORValue {
    package var serialized: [UInt8] {
        var writer = CBORWriter()
        writer.item(self)
        return writer.bytes
    }
}

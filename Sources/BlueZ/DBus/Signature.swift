/// The type of a value in the notation of the D-Bus specification, such as `a{sv}`.
package struct Signature: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let text: String

    /// Nil unless the text is exactly one complete type, nested no deeper than 32 each way.
    package init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard bytes.count <= 255,
            Self.end(of: bytes, from: 0, arrays: 0, structures: 0) == bytes.count
        else { return nil }
        self.text = String(text)
    }

    /// A signature that is known to be valid: written in this program, or checked by libdbus.
    init(checked text: String) { self.text = text }

    package static let byte = Signature(checked: "y")
    package static let boolean = Signature(checked: "b")
    package static let int16 = Signature(checked: "n")
    package static let uint16 = Signature(checked: "q")
    package static let int32 = Signature(checked: "i")
    package static let uint32 = Signature(checked: "u")
    package static let int64 = Signature(checked: "x")
    package static let uint64 = Signature(checked: "t")
    package static let double = Signature(checked: "d")
    package static let string = Signature(checked: "s")
    package static let objectPath = Signature(checked: "o")
    package static let signature = Signature(checked: "g")
    package static let descriptor = Signature(checked: "h")
    package static let variant = Signature(checked: "v")
    package static let bytes = Signature(checked: "ay")
    package static let properties = Signature(checked: "a{sv}")

    package var description: String { text }

    package static func < (left: Signature, right: Signature) -> Bool { left.text < right.text }

    /// Whether a key of a dictionary may have this type.
    package var isBasic: Bool {
        guard text.utf8.count == 1, let first = text.utf8.first else { return false }
        return Self.isBasic(first)
    }

    /// The complete types of a sequence, as in the signature of a message; nil when it is invalid.
    package static func list(_ text: some StringProtocol) -> [Signature]? {
        let bytes = Array(text.utf8)
        guard bytes.count <= 255 else { return nil }
        var start = 0
        var list: [Signature] = []
        while start < bytes.count {
            guard let end = end(of: bytes, from: start, arrays: 0, structures: 0) else {
                return nil
            }
            list.append(Signature(checked: String(decoding: bytes[start..<end], as: UTF8.self)))
            start = end
        }
        return list
    }

    private static let deepest = 32

    private static func isBasic(_ code: UInt8) -> Bool {
        switch code {
        case UInt8(ascii: "y"), UInt8(ascii: "b"), UInt8(ascii: "n"), UInt8(ascii: "q"),
            UInt8(ascii: "i"), UInt8(ascii: "u"), UInt8(ascii: "x"), UInt8(ascii: "t"),
            UInt8(ascii: "d"), UInt8(ascii: "s"), UInt8(ascii: "o"), UInt8(ascii: "g"),
            UInt8(ascii: "h"):
            true
        default: false
        }
    }

    /// The end of the complete type that begins at `start`; nil when there is none.
    private static func end(
        of bytes: [UInt8],
        from start: Int,
        arrays: Int,
        structures: Int
    ) -> Int? {
        guard start < bytes.count else { return nil }
        switch bytes[start] {
        case UInt8(ascii: "v"): return start + 1
        case UInt8(ascii: "a"):
            guard arrays < deepest, start + 1 < bytes.count else { return nil }
            guard bytes[start + 1] == UInt8(ascii: "{") else {
                return end(of: bytes, from: start + 1, arrays: arrays + 1, structures: structures)
            }
            guard structures < deepest, start + 2 < bytes.count, isBasic(bytes[start + 2]),
                let value = end(
                    of: bytes,
                    from: start + 3,
                    arrays: arrays + 1,
                    structures: structures + 1
                ),
                value < bytes.count, bytes[value] == UInt8(ascii: "}")
            else { return nil }
            return value + 1
        case UInt8(ascii: "("):
            guard structures < deepest else { return nil }
            var next = start + 1
            while next < bytes.count, bytes[next] != UInt8(ascii: ")") {
                guard
                    let end = end(
                        of: bytes,
                        from: next,
                        arrays: arrays,
                        structures: structures + 1
                    )
                else { return nil }
                next = end
            }
            return next < bytes.count && next > start + 1 ? next + 1 : nil
        case let code: return isBasic(code) ? start + 1 : nil
        }
    }
}

/// The path of an object on a bus: `/`, or parts of letters, digits and underscores.
package struct ObjectPath: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let text: String

    /// Nil unless the text is a path by the rules of the D-Bus specification.
    package init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard bytes.first == 0x2F else { return nil }
        if bytes.count > 1 {
            let parts = bytes.dropFirst().split(separator: 0x2F, omittingEmptySubsequences: false)
            guard parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(Self.isAllowed) }) else {
                return nil
            }
        }
        self.text = String(text)
    }

    /// A path that libdbus has already checked.
    init(checked text: String) { self.text = text }

    package static let root = ObjectPath(checked: "/")

    /// The path with one more part; nil when the part contains anything but letters, digits and
    /// underscores.
    package func appending(_ part: some StringProtocol) -> ObjectPath? {
        guard !part.isEmpty, part.utf8.allSatisfy(Self.isAllowed) else { return nil }
        return ObjectPath(checked: (self == .root ? "" : text) + "/" + part)
    }

    /// Whether this is `other` or is below it.
    package func isWithin(_ other: ObjectPath) -> Bool {
        if other == .root || text == other.text { return true }
        let (own, outer) = (text.utf8, other.text.utf8)
        guard own.count > outer.count, text.hasPrefix(other.text) else { return false }
        return own[own.index(own.startIndex, offsetBy: outer.count)] == 0x2F
    }

    /// The last part; empty for the root.
    package var name: Substring {
        text.utf8.lastIndex(of: 0x2F).map { text[text.utf8.index(after: $0)...] } ?? ""
    }

    /// The path without its last part; nil for the root.
    package var parent: ObjectPath? {
        guard self != .root, let slash = text.utf8.lastIndex(of: 0x2F) else { return nil }
        return slash == text.startIndex ? .root : ObjectPath(checked: String(text[..<slash]))
    }

    package var description: String { text }

    package static func < (left: ObjectPath, right: ObjectPath) -> Bool {
        left.text < right.text
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F: true
        default: false
        }
    }
}

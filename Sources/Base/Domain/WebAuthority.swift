/// Host and port of a web address (RFC 3986, section 3.2), checked.
package struct WebAuthority: Sendable, Hashable {
    package enum Fault: Error, Equatable, Sendable {
        case noHost
        /// The text after the last colon is not a port from 1 to 65535.
        case noPort
        /// There is a name or password before an `@`.
        case hasCredentials
    }

    /// The host, with its brackets if it is an IPv6 address.
    package let host: String
    package let port: UInt16?

    /// Parses the part between `//` and the next `/`, `?` or `#`.
    package init(_ text: some StringProtocol) throws(Fault) {
        let bytes = Array(text.utf8)
        guard !bytes.contains(0x40) else { throw .hasCredentials }
        let end: Int
        if bytes.first == 0x5B {
            guard let closing = bytes.firstIndex(of: 0x5D),
                Self.isIPv6(bytes[1..<closing])
            else { throw .noHost }
            end = closing + 1
        } else {
            end = bytes.firstIndex(of: 0x3A) ?? bytes.count
            guard Self.isName(bytes[..<end]) else { throw .noHost }
        }
        host = String(decoding: bytes[..<end], as: UTF8.self)
        let rest = bytes[end...]
        guard !rest.isEmpty else {
            port = nil
            return
        }
        guard rest.first == 0x3A else { throw .noHost }
        // An IPv6 address without brackets must not be read as a port.
        guard !rest.dropFirst().contains(0x3A) else { throw .noHost }
        guard let port = Self.port(rest.dropFirst()) else { throw .noPort }
        self.port = port
    }

    private static func port(_ digits: ArraySlice<UInt8>) -> UInt16? {
        guard (1...5).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return UInt16(String(decoding: digits, as: UTF8.self)).flatMap { $0 > 0 ? $0 : nil }
    }

    /// Labels of letters, digits, `-` and `_`; four numbers if the last label is a number.
    private static func isName(_ name: ArraySlice<UInt8>) -> Bool {
        let name = name.last == 0x2E ? name.dropLast() : name
        guard (1...253).contains(name.count) else { return false }
        let labels = name.split(separator: 0x2E, omittingEmptySubsequences: false)
        let areLabels = labels.allSatisfy { label in
            (1...63).contains(label.count) && label.first != 0x2D && label.last != 0x2D
                && label.allSatisfy { byte in
                    switch byte {
                    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
                    default: false
                    }
                }
        }
        guard areLabels, let last = labels.last else { return false }
        guard last.allSatisfy({ (0x30...0x39).contains($0) }) else { return true }
        return isIPv4(name)
    }

    private static func isIPv4(_ text: ArraySlice<UInt8>) -> Bool {
        let numbers = text.split(separator: 0x2E, omittingEmptySubsequences: false)
        return numbers.count == 4
            && numbers.allSatisfy { digits in
                (1...3).contains(digits.count)
                    && digits.allSatisfy { (0x30...0x39).contains($0) }
                    && (digits.count == 1 || digits.first != 0x30)
                    && UInt8(String(decoding: digits, as: UTF8.self)) != nil
            }
    }

    /// RFC 4291, section 2.2, with a zone after `%25` (RFC 6874).
    private static func isIPv6(_ text: ArraySlice<UInt8>) -> Bool {
        var text = text
        if let percent = text.firstIndex(of: 0x25) {
            let zone = text[percent...]
            guard zone.starts(with: "%25".utf8), isName(zone.dropFirst(3)) else { return false }
            text = text[..<percent]
        }
        let colons = text.indices.filter {
            text[$0] == 0x3A && $0 + 1 < text.endIndex && text[$0 + 1] == 0x3A
        }
        switch colons.count {
        case 0: return groups(text) == 8
        case 1:
            let (left, right) = (text[..<colons[0]], text[(colons[0] + 2)...])
            guard let before = left.isEmpty ? 0 : groups(left, isEnd: false),
                let after = right.isEmpty ? 0 : groups(right)
            else { return false }
            return before + after < 8
        default: return false
        }
    }

    /// The number of an address's eight groups that this text contains; nil when it is invalid.
    private static func groups(_ text: ArraySlice<UInt8>, isEnd: Bool = true) -> Int? {
        let parts = text.split(separator: 0x3A, omittingEmptySubsequences: false)
        var count = 0
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            if isEnd, isLast, part.contains(0x2E) {
                guard isIPv4(part) else { return nil }
                count += 2
                continue
            }
            let areDigits = part.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
                default: false
                }
            }
            guard (1...4).contains(part.count), areDigits else { return nil }
            count += 1
        }
        return count
    }
}

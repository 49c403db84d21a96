/// How YAML readers, including this one, interpret an unquoted scalar.
package enum PlainNumber {
    /// A whole number in decimal, as JSON and YAML 1.2 write it; nil for anything else.
    package static func integer(_ text: String) -> Int? {
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        guard isDigits(digits), digits == "0" || !digits.hasPrefix("0") else { return nil }
        return Int(text)
    }

    /// True for text that a YAML reader may take for a number, which would lose its spelling.
    package static func looksLikeOne(_ text: String) -> Bool {
        var rest = text[...]
        if rest.hasPrefix("-") || rest.hasPrefix("+") { rest = rest.dropFirst() }
        if rest.hasPrefix("0x") || rest.hasPrefix("0o") {
            return rest.utf8.count > 2 && rest.dropFirst(2).allSatisfy(\.isHexDigit)
        }
        let parts = rest.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), isDigits(parts[0]) else { return false }
        guard parts.count == 2 else { return true }
        return parts[1].isEmpty || isDigits(parts[1])
    }

    private static func isDigits(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}

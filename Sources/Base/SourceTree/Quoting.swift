/// A piece of a file in the form for messages: short, on one line, and never a bare key.
///
/// Control characters could move a terminal's cursor. A long run of hex digits is probably a secret
/// in the wrong field.
package func quoted(_ text: some StringProtocol) -> String {
    let bytes = text.utf8
    if bytes.count >= 24, looksLikeSecret(text) { return "<\(bytes.count) hex digits>" }
    var shown = ""
    var count = 0
    for scalar in text.unicodeScalars {
        guard count < 60 else {
            shown += "…"
            break
        }
        count += 1
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF:
            shown += "\\u{\(String(scalar.value, radix: 16))}"
        default:
            shown.unicodeScalars.append(scalar)
        }
    }
    return "`\(shown)`"
}

/// True for text of only hex digits, in the lengths of keys.
package func looksLikeSecret(_ text: some StringProtocol) -> Bool {
    let bytes = text.utf8
    return bytes.count >= 16
        && bytes.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
            default: false
            }
        }
}

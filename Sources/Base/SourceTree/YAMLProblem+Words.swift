extension YAMLProblem {
    /// libyaml's error as a sentence with a hint, for common mistakes.
    func fault(in bytes: [UInt8], origin: (_ line: Int, _ column: Int) -> Place) -> YAMLFault {
        let place = origin(line, column)
        let opened = start.map { origin($0.line, $0.column) }
        func syntax(_ message: String, _ hint: String, at other: Place? = nil) -> YAMLFault {
            .syntax(other ?? place, message, hint: hint)
        }
        switch words {
        case "found character that cannot start any token":
            if character(in: bytes) == 0x09 || hasTabBefore(in: bytes) { return .tab(place) }
            return syntax("no value can start with this character", "quote the text")
        case "found a tab character that violates indentation",
            "found a tab character where an indentation space is expected":
            return .tab(place)
        case "mapping values are not allowed in this context":
            return syntax(
                "a `:` is not allowed here",
                "check the indentation, or quote text that holds a colon"
            )
        case "did not find expected key", "block sequence entries are not allowed in this context",
            "mapping keys are not allowed in this context", "did not find expected '-' indicator":
            if hasTabBefore(in: bytes) { return .tab(place) }
            return syntax("this line does not fit what is above it", "check its indentation")
        case "did not find expected ',' or '}'", "did not find expected ',' or ']'":
            let what = words.hasSuffix("'}'") ? "{" : "["
            let where_ = opened.map { " opened at line \($0.line), column \($0.column)" } ?? ""
            return syntax(
                "the `\(what)`\(where_) is not closed before this",
                "add a comma, or close it"
            )
        case "could not find expected ':'":
            return syntax("a key without `:`", "write `key: value`", at: opened)
        case "found unexpected end of stream":
            return syntax("a text in quotes is not closed", "close the quote", at: opened)
        case "found unknown escape character":
            return syntax("an unknown `\\` escape", "use single quotes, or write `\\\\`")
        case "found undefined tag handle", "did not find expected tag URI",
            "did not find expected whitespace or line break", "did not find expected '!'",
            "did not find the expected '>'", "did not find URI escaped octet":
            return .tag(place)
        case "did not find expected <document start>":
            return syntax(
                "a value ended above and another one starts here",
                "check the indentation"
            )
        case "did not find expected alphabetic or numeric character":
            return syntax("`*` or `&` without a name", "quote text that starts with it")
        default:
            return syntax("this is not YAML: \(words)", "check the brackets and quotes before it")
        }
    }

    /// The bytes of the line with the problem.
    private func sourceLine(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        var (number, index) = (1, bytes.startIndex)
        while number < line, index < bytes.endIndex {
            if bytes[index] == 0x0D, index + 1 < bytes.endIndex, bytes[index + 1] == 0x0A {
                index += 1
            }
            if bytes[index] == 0x0A || bytes[index] == 0x0D { number += 1 }
            index += 1
        }
        return bytes[index...].prefix { $0 != 0x0A && $0 != 0x0D }
    }

    private func character(in bytes: [UInt8]) -> UInt8? {
        sourceLine(bytes).dropFirst(column - 1).first
    }

    private func hasTabBefore(in bytes: [UInt8]) -> Bool {
        sourceLine(bytes).prefix { $0 == 0x20 || $0 == 0x09 }.contains(0x09)
    }
}

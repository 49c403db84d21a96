/// Methods that each read one type of value, or report what was found instead and return nil.
extension SourceNode {
    private func refuse(_ expected: String, _ diagnostics: Diagnostics, hint: String) {
        let message =
            isNothing
            ? "a value is missing: expected \(expected)"
            : "expected \(expected), found \(kind)"
        diagnostics.error(place, message, hint: hint)
    }

    /// The characters of a scalar of any style; nil after an error.
    private func characters(
        _ expected: String,
        _ diagnostics: Diagnostics,
        hint: @autoclosure () -> String
    ) -> String? {
        guard case .scalar(let text, _) = value, !isNothing else {
            refuse(expected, diagnostics, hint: hint())
            return nil
        }
        return text
    }

    /// Any text; an unquoted number is text too, in its original spelling.
    package func text(_ diagnostics: Diagnostics, _ expected: String = "a text") -> String? {
        guard
            let text = characters(expected, diagnostics, hint: "write one word, or text in quotes")
        else { return nil }
        guard !text.isEmpty else {
            diagnostics.error(place, "expected \(expected), found an empty one", hint: "fill it in")
            return nil
        }
        guard
            text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) }
            )
        else {
            diagnostics.error(
                place,
                "\(expected) may not hold control characters or line breaks",
                hint: "write it on one line"
            )
            return nil
        }
        return text
    }

    /// Text that must be quoted, because some YAML reader takes it for a number or a time.
    package func quotedText(_ diagnostics: Diagnostics, _ expected: String) -> String? {
        if case .scalar(let text, .plain) = value, !isNothing {
            diagnostics.error(
                place,
                "\(expected) must be quoted",
                hint: "write \"\(text.utf8.count <= 20 ? text : "…")\": unquoted, 1.10 reads as 1.1"
            )
            return nil
        }
        return text(diagnostics, expected)
    }

    package func integer(in range: ClosedRange<Int>, _ diagnostics: Diagnostics) -> Int? {
        let expected = "a whole number"
        let from =
            range.upperBound == .max
            ? "of at least \(range.lowerBound)"
            : "from \(range.lowerBound) to \(range.upperBound)"
        guard case .scalar(let text, let style) = value, !isNothing else {
            refuse(expected, diagnostics, hint: "write a number \(from)")
            return nil
        }
        guard let number = PlainNumber.integer(text) else {
            refuse(expected, diagnostics, hint: "write a number \(from), without a unit")
            return nil
        }
        guard style == .plain else {
            refuse(expected, diagnostics, hint: "remove the quotes")
            return nil
        }
        guard range.contains(number) else {
            diagnostics.error(place, "\(number) is out of range", hint: "write a number \(from)")
            return nil
        }
        return number
    }

    package func boolean(_ diagnostics: Diagnostics) -> Bool? {
        if case .scalar(let text, .plain) = value {
            switch text {
            case "true", "True", "TRUE": return true
            case "false", "False", "FALSE": return false
            default: break
            }
        }
        refuse("true or false", diagnostics, hint: "write `true` or `false`, without quotes")
        return nil
    }

    package func duration(
        in range: ClosedRange<Duration>,
        _ diagnostics: Diagnostics
    ) -> Duration? {
        let form = "write a number with its unit: 500ms, 20s, 15m, 4h, 7d, 1h30m"
        guard let text = characters("a duration", diagnostics, hint: form) else { return nil }
        guard let duration = Duration(text: text) else {
            let bare = PlainNumber.integer(text) != nil
            diagnostics.error(
                place,
                bare ? "the duration has no unit" : "expected a duration, found \(quoted(text))",
                hint: bare ? "did you mean `\(text)s`? Units are ms, s, m, h, d" : form
            )
            return nil
        }
        guard range.contains(duration) else {
            diagnostics.error(
                place,
                "\(duration.brief) is out of range",
                hint: "write \(range.lowerBound.brief) to \(range.upperBound.brief)"
            )
            return nil
        }
        return duration
    }

    package func byteCount(
        in range: ClosedRange<Int> = 0...Int.max,
        _ diagnostics: Diagnostics
    ) -> ByteCount? {
        let form = "write bytes, or a number with its unit: 512KiB, 8MiB, 200kB"
        guard let text = characters("a size", diagnostics, hint: form) else { return nil }
        guard let count = ByteCount(text) else {
            diagnostics.error(place, "expected a size, found \(quoted(text))", hint: form)
            return nil
        }
        guard range.contains(count.bytes) else {
            let most = ByteCount(bytes: range.upperBound)?.description ?? ""
            diagnostics.error(
                place,
                "\(count) is out of range",
                hint: "write \(range.lowerBound) B to \(most)"
            )
            return nil
        }
        return count
    }

    package func percent(_ diagnostics: Diagnostics) -> Percent? {
        let form = "write a share between 0% and 100%, such as 10% or 2.5%"
        guard let text = characters("a percentage", diagnostics, hint: form) else { return nil }
        guard let percent = Percent(text) else {
            diagnostics.error(place, "expected a percentage, found \(quoted(text))", hint: form)
            return nil
        }
        return percent
    }

    /// One of a fixed set of words.
    package func word(
        of words: [String],
        _ diagnostics: Diagnostics,
        _ expected: String = "a word"
    ) -> String? {
        let text = characters(
            expected,
            diagnostics,
            hint: "write one of " + words.map { "`\($0)`" }.joined(separator: ", ")
        )
        guard let text else { return nil }
        guard words.contains(text) else {
            diagnostics.error(
                place,
                "\(quoted(text)) is not \(expected) known here",
                hint: Nearest.hint(text, among: words)
            )
            return nil
        }
        return text
    }

    /// A case of an enum by its raw text.
    package func choice<Choice: CaseIterable & RawRepresentable<String>>(
        _ type: Choice.Type,
        _ diagnostics: Diagnostics,
        _ expected: String = "a word"
    ) -> Choice? {
        word(of: type.allCases.map(\.rawValue), diagnostics, expected)
            .flatMap(Choice.init(rawValue:))
    }

    package func items(_ diagnostics: Diagnostics, of what: String = "values") -> [SourceNode]? {
        guard case .list(let items) = value else {
            refuse(
                "a list of \(what)",
                diagnostics,
                hint: "write `[a, b]`, or a line with `- ` each"
            )
            return nil
        }
        return items
    }

    package func entries(
        _ diagnostics: Diagnostics,
        of what: @autoclosure () -> String = "a map"
    ) -> [Entry]? {
        guard case .map(let entries) = value else {
            refuse(
                what(),
                diagnostics,
                hint: "write `{key: value}`, or `key: value` lines below it"
            )
            return nil
        }
        return entries
    }
}

import Base

/// Readers of the kinds of value that only profiles have.
extension SourceNode {
    func hex8(_ diagnostics: Diagnostics) -> UInt8? {
        hex(digits: 2, diagnostics).flatMap { UInt8(exactly: $0) }
    }

    func hex16(_ diagnostics: Diagnostics) -> UInt16? {
        hex(digits: 4, diagnostics).flatMap { UInt16(exactly: $0) }
    }

    private func hex(digits: Int, _ diagnostics: Diagnostics) -> Int? {
        let expected = "\(digits) hex digits"
        guard let text = text(diagnostics, expected) else { return nil }
        guard text.utf8.count == digits, Hex.bytes(text) != nil, let number = Int(text, radix: 16)
        else {
            diagnostics.error(
                place,
                "expected \(expected), found \(quoted(text))",
                hint: digits == 2 ? "as in \"1f\"" : "as in \"00d1\""
            )
            return nil
        }
        return number
    }

    func uuid(_ diagnostics: Diagnostics) -> GATTUUID? {
        guard let text = text(diagnostics, "a UUID") else { return nil }
        guard let uuid = GATTUUID(text) else {
            diagnostics.error(
                place,
                "expected a UUID, found \(quoted(text))",
                hint: "write four hex digits, or 32 with dashes after 8, 12, 16 and 20"
            )
            return nil
        }
        return uuid
    }

    func decimal(_ diagnostics: Diagnostics) -> Decimal? {
        let hint = "at most twelve digits, six of them after the point"
        guard let text = text(diagnostics, "a number") else { return nil }
        guard let number = Decimal(text) else {
            diagnostics.error(place, "expected a number, found \(quoted(text))", hint: hint)
            return nil
        }
        return number
    }

    /// `[0, 100]`: the lower limit first.
    func limits(_ diagnostics: Diagnostics) -> ClosedRange<Double>? {
        guard let items = items(diagnostics, of: "two numbers") else { return nil }
        guard items.count == 2 else {
            diagnostics.error(
                place,
                "limits are two numbers, here are \(items.count)",
                hint: "write `[0, 100]`"
            )
            return nil
        }
        let numbers = items.compactMap { $0.decimal(diagnostics)?.number }
        guard numbers.count == 2 else { return nil }
        guard numbers[0] <= numbers[1] else {
            diagnostics.error(place, "the lower limit comes first", hint: "swap the two")
            return nil
        }
        return numbers[0]...numbers[1]
    }

    /// `{disabled: 0, enabled: 1}`; empty after an error.
    func states(in range: ClosedRange<Int>, _ diagnostics: Diagnostics) -> [StatesForm.State] {
        guard let entries = entries(diagnostics, of: "a map of states to numbers") else {
            return []
        }
        if entries.isEmpty {
            diagnostics.error(place, "there are no states", hint: "write `{off: 0, on: 1}`")
        }
        var seen: [Int: String] = [:]
        var states: [StatesForm.State] = []
        var isWhole = true
        for entry in entries {
            let name = entry.nameNode.propertyName(diagnostics)
            let raw = entry.value.integer(in: range, diagnostics)
            if name == PropertyValue.unknown {
                diagnostics.error(
                    entry.keyPlace,
                    "`\(PropertyValue.unknown)` stands for what has no name",
                    hint: "name the state otherwise"
                )
                isWhole = false
            }
            guard let name, let raw else {
                isWhole = false
                continue
            }
            if let other = seen[raw] {
                diagnostics.error(
                    entry.value.place,
                    "\(raw) is `\(other)` already",
                    hint: "give each state a number of its own"
                )
                isWhole = false
            }
            seen[raw] = name
            states.append(StatesForm.State(name, UInt64(raw)))
        }
        return isWhole ? states : []
    }

    /// A property's name, in the form that manifests can write.
    func propertyName(_ diagnostics: Diagnostics) -> String? {
        guard let text = text(diagnostics, "a name") else { return nil }
        let bytes = Array(text.utf8)
        let isLetter: (UInt8) -> Bool = { (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) }
        let isName =
            bytes.count <= 64 && isLetter(bytes[0])
            && bytes.allSatisfy {
                isLetter($0) || (0x30...0x39).contains($0) || [0x2D, 0x2E, 0x5F].contains($0)
            }
        guard isName else {
            diagnostics.error(
                place,
                "\(quoted(text)) is no name",
                hint: "a letter, then up to 63 of letters, digits, `_`, `.` and `-`"
            )
            return nil
        }
        return text
    }
}

extension SourceNode.Entry {
    /// The key as a separate node, so that it can be read like a value.
    fileprivate var nameNode: SourceNode { SourceNode(.scalar(key, .quoted), at: keyPlace) }
}

import Base

/// The kind of a value, as parser, help and completions need it.
package protocol ValueKind: Sendable {
    /// The name in the help, such as `DIR`.
    var name: String { get }
    /// A description of valid text.
    var expected: String { get }
    var completion: ValueCompletion { get }
    func isValid(_ text: String) -> Bool
}

/// What a shell completes a value with.
package enum ValueCompletion: Sendable {
    case files, directories, nothing
    case words([String])
    case known(Completion.Known)
    /// The first words of commands.
    case commands
}

/// A kind of value with its type: how a text is read, and so which texts are valid.
struct ValueForm<Value: Sendable>: ValueKind {
    let name: String
    let expected: String
    let completion: ValueCompletion
    /// Nil for a text that is not valid.
    let read: @Sendable (String) -> Value?

    func isValid(_ text: String) -> Bool { read(text) != nil }
}

extension ValueForm<String> {
    private init(
        _ name: String,
        _ expected: String,
        _ completion: ValueCompletion = .nothing,
        upTo limit: Int = .max
    ) {
        self.init(name: name, expected: expected, completion: completion) {
            $0.isEmpty || $0.utf8.count > limit ? nil : $0
        }
    }

    static func file(_ name: String) -> Self { Self(name, "a path", .files) }

    static func directory(_ name: String) -> Self { Self(name, "a path", .directories) }

    /// A file whose name has one of these endings.
    static func file(_ name: String, ending endings: [String]) -> Self {
        let expected = "a file that ends in " + endings.joined(separator: ", ")
        return Self(name: name, expected: expected, completion: .files) { text in
            endings.contains { text.hasSuffix($0) && text.utf8.count > $0.utf8.count } ? text : nil
        }
    }

    /// Any text that is not empty.
    static func text(_ name: String) -> Self {
        Self(name, "up to 2,000 bytes of text", upTo: 2_000)
    }

    /// A line that `fleet invite` has printed.
    static func invitation(_ name: String) -> Self {
        Self(name, "an invitation, or '-'", upTo: 16_384)
    }

    /// The name of a property of a module.
    static func property(_ name: String) -> Self { Self(name, "a property's name", upTo: 64) }

    static func rollout(_ name: String) -> Self {
        Self(name, "a rollout's name", .known(.rollouts), upTo: 2_000)
    }

    /// The number of a run, or `last`.
    static func run(_ name: String) -> Self { Self(name, "a run's number, or last", .known(.runs)) }

    static func words(_ name: String, _ words: [String]) -> Self {
        Self(name: name, expected: words.joined(separator: ", "), completion: .words(words)) {
            words.contains($0) ? $0 : nil
        }
    }

    /// The words of a command's name.
    static func command(_ name: String) -> Self {
        Self(name: name, expected: "", completion: .commands) { $0 }
    }
}

extension ValueForm<VehicleSelection> {
    static func vehicles(_ name: String) -> Self {
        Self(
            name: name,
            expected: VehicleSelection.expected,
            completion: .known(.vehicles)
        ) { VehicleSelection($0) }
    }
}

extension ValueForm<FirmwareVersion> {
    static func version(_ name: String) -> Self {
        Self(name: name, expected: "a version such as 2.0.0", completion: .nothing) {
            FirmwareVersion($0)
        }
    }
}

extension ValueForm<UInt64> {
    /// A whole number of at most 64 bits, without sign.
    static func whole(_ name: String) -> Self {
        Self(
            name: name,
            expected: "a whole number from 0 to \(UInt64.max)",
            completion: .nothing
        ) { UInt64(digits: $0) }
    }
}

extension UInt64 {
    /// Nil when the text has anything but digits, or too many.
    package init?(digits text: String) {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        self.init(text)
    }
}

extension ValueForm<Int> {
    /// The same as a count of things, of which there are never more than a billion.
    static func count(_ name: String) -> Self {
        let whole = ValueForm<UInt64>.whole(name)
        return Self(name: name, expected: whole.expected, completion: .nothing) {
            whole.read($0).map { Int(min($0, 1_000_000_000)) }
        }
    }
}

extension ValueForm<Double> {
    /// A decimal number above zero, such as `2` or `0.5`.
    static func positive(_ name: String) -> Self {
        Self(
            name: name,
            expected: "a number above 0, such as 2 or 0.5",
            completion: .nothing
        ) { text in
            let parts = text.utf8.split(separator: 0x2E, omittingEmptySubsequences: false)
            guard (1...2).contains(parts.count),
                parts.allSatisfy({
                    (1...9).contains($0.count) && $0.allSatisfy { (0x30...0x39).contains($0) }
                }),
                let number = Double(text), number > 0
            else { return nil }
            return number
        }
    }
}

extension ValueForm<Duration> {
    /// A number with its unit, such as `30s` or `1h30m`.
    static func duration(_ name: String) -> Self {
        Self(
            name: name,
            expected: "a time above 0 with its unit, such as 30s, 5m or 1h30m",
            completion: .nothing
        ) { Duration(text: $0).flatMap { $0 > .zero ? $0 : nil } }
    }
}

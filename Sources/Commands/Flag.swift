/// One flag of one or more commands: parsed, explained and completed from here.
package struct Flag: Sendable, Equatable {
    /// Without the dashes.
    package let long: String
    package let short: Character?
    /// Nil for a flag that is only there or not.
    package let value: Value?
    package let help: String
    /// What holds without the flag, as help shows it.
    package let fallback: String?
    package let isRepeatable: Bool
    /// The long name of a flag without which this one means nothing.
    package let needs: String?

    package init(
        _ long: String,
        short: Character? = nil,
        value: Value? = nil,
        help: String,
        fallback: String? = nil,
        isRepeatable: Bool = false,
        needs: String? = nil
    ) {
        self.long = long
        self.short = short
        self.value = value
        self.help = help
        self.fallback = fallback
        self.isRepeatable = isRepeatable
        self.needs = needs
    }

    /// What a flag takes.
    package struct Value: Sendable, Equatable {
        /// As help shows it, such as `DIR`.
        package let name: String
        package let kind: ValueKind

        package init(_ name: String, _ kind: ValueKind) {
            self.name = name
            self.kind = kind
        }
    }

    /// Help's text with what else the table knows.
    package var fullHelp: String {
        var text = help
        if let needs { text += " Only with --\(needs)." }
        if isRepeatable { text += " May be given several times." }
        if let fallback { text += " Default: \(fallback)." }
        return text
    }
}

/// One word of a command line that is no flag.
package struct Argument: Sendable, Equatable {
    package enum Count: Sendable, Equatable {
        case one, atMostOne, any
    }

    package let name: String
    package let kind: ValueKind
    package let count: Count
    package let help: String

    package init(_ name: String, _ kind: ValueKind, _ count: Count = .one, help: String) {
        self.name = name
        self.kind = kind
        self.count = count
        self.help = help
    }

    /// As usage lines show it: brackets mean that it may be left out.
    package var usage: String {
        switch count {
        case .one: name
        case .atMostOne: "[\(name)]"
        case .any: "[\(name)...]"
        }
    }
}

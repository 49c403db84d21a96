/// One flag of one or more commands, as parser, help and completions need it.
package struct Flag: Sendable, Equatable {
    /// The name without the dashes.
    package let long: String
    package let short: Character?
    /// Nil for a flag without a value.
    package let value: Value?
    package let help: String
    /// The default, as the help shows it.
    package let fallback: String?
    package let isRepeatable: Bool
    /// The long name of another flag that this one requires.
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

    /// The same flag for a command on which it needs no other.
    var alone: Flag {
        Flag(
            long,
            short: short,
            value: value,
            help: help,
            fallback: fallback,
            isRepeatable: isRepeatable
        )
    }

    /// The value of a flag.
    package struct Value: Sendable, Equatable {
        /// The name in the help, such as `DIR`.
        package let name: String
        package let kind: ValueKind

        package init(_ name: String, _ kind: ValueKind) {
            self.name = name
            self.kind = kind
        }
    }

    /// The help text with the other facts from the table.
    package var fullHelp: String {
        var text = help
        if let needs { text += " Only with --\(needs)." }
        if isRepeatable { text += " May be given several times." }
        if let fallback { text += " Default: \(fallback)." }
        return text
    }
}

/// A word of a command line that is not a flag.
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

    /// The argument in usage lines; brackets mean that it is optional.
    package var usage: String {
        switch count {
        case .one: name
        case .atMostOne: "[\(name)]"
        case .any: "[\(name)...]"
        }
    }
}

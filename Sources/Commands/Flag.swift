/// One flag of one or more commands, as parser, help and completions need it.
package protocol FlagRow: Sendable {
    /// The name without the dashes.
    var long: String { get }
    var short: Character? { get }
    /// Nil for a flag without a value.
    var value: (any ValueKind)? { get }
    var help: String { get }
    /// The default, as the help shows it.
    var fallback: String? { get }
    var isRepeatable: Bool { get }
    /// The long name of another flag that this one requires.
    var needs: String? { get }
}

/// A flag with the type of what a command line gives of it: `Bool` without a value, or else an optional, a value
/// when there is a default, or an array when it may be repeated.
package struct Flag<Value: Sendable>: FlagRow {
    package let long: String
    private(set) package var short: Character?
    private(set) package var value: (any ValueKind)?
    package let help: String
    private(set) package var fallback: String?
    private(set) package var isRepeatable = false
    private(set) package var needs: String?
    /// Reads the texts that are given, which are valid; none when the flag is not given.
    let read: @Sendable ([String]) -> Value

    init(_ long: String, short: Character? = nil, help: String, needs: String? = nil)
    where Value == Bool {
        self.long = long
        self.short = short
        self.help = help
        self.needs = needs
        read = { !$0.isEmpty }
    }

    init<Element>(
        _ long: String,
        _ form: ValueForm<Element>,
        help: String,
        fallback: String? = nil,
        needs: String? = nil
    ) where Value == Element? {
        self.long = long
        value = form
        self.help = help
        self.fallback = fallback
        self.needs = needs
        read = { $0.first.flatMap(form.read) }
    }

    /// A flag with a default, which is read like a given value.
    init(_ long: String, _ form: ValueForm<Value>, help: String, standard: String) {
        guard let value = form.read(standard) else {
            preconditionFailure("the default of --\(long)")
        }
        self.long = long
        self.value = form
        self.help = help
        fallback = standard
        read = { $0.first.flatMap(form.read) ?? value }
    }

    init<Element>(
        repeatable long: String,
        _ form: ValueForm<Element>,
        help: String,
        fallback: String? = nil
    ) where Value == [Element] {
        self.long = long
        value = form
        self.help = help
        self.fallback = fallback
        isRepeatable = true
        read = { $0.compactMap(form.read) }
    }

    /// The same flag for a command on which it needs no other.
    var alone: Flag {
        var flag = self
        flag.needs = nil
        return flag
    }
}

extension FlagRow {
    /// The help text with the other facts from the table.
    var fullHelp: String {
        var text = help
        if let needs { text += " Only with --\(needs)." }
        if isRepeatable { text += " May be given several times." }
        if let fallback { text += " Default: \(fallback)." }
        return text
    }
}

/// A word of a command line that is not a flag.
package struct Argument: Sendable {
    package enum Count: Sendable, Equatable {
        case one, atMostOne, any
    }

    let kind: any ValueKind
    package let count: Count
    let help: String

    init<Value>(_ form: ValueForm<Value>, _ count: Count = .one, help: String) {
        kind = form
        self.count = count
        self.help = help
    }

    var name: String { kind.name }

    /// The argument in usage lines; brackets mean that it is optional.
    var usage: String {
        switch count {
        case .one: name
        case .atMostOne: "[\(name)]"
        case .any: "[\(name)...]"
        }
    }
}

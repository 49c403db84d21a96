package import Base
package import Commands

/// A run that a command names.
package enum RunWish: Sendable, Equatable, CustomStringConvertible {
    case last
    /// A run of this machine's journal or, with a gateway, of a fleet.
    case run(RunName)

    package init(_ text: String) throws(CommandError) {
        if text == "last" {
            self = .last
        } else if let name = RunName(text) {
            self = .run(name)
        } else if let number = UInt64(digits: text).flatMap({ Int(exactly: $0) }) {
            self = .run(RunName(number))
        } else {
            throw CommandError(
                .usage,
                "'\(text.visible)' is no run",
                hint:
                    "give a run that 'yardmaster history' lists, such as 12 or north/12, or 'last'"
            )
        }
    }

    package var description: String {
        switch self {
        case .last: "last"
        case .run(let name): name.description
        }
    }

    /// Nil for the last run.
    package var number: Int? {
        switch self {
        case .last: nil
        case .run(let name): name.number
        }
    }
}

/// The limits for a YAML file.
package struct YAMLLimits: Sendable, Equatable {
    package var bytes = 4 << 20
    package var depth = 64
    /// Counted after aliases are expanded, although expanded nodes share memory.
    package var nodes = 1_000_000

    package init() {}
}

/// Why a file could not be parsed; all cases but the first have a place.
package enum YAMLFault: Error, Equatable, Sendable {
    case tooLarge(limit: Int)
    case empty(Place)
    /// The file contains a zero byte, so it is not text.
    case binary(Place)
    case invalidUTF8(Place)
    /// UTF-16 or UTF-32, recognised by the first bytes.
    case otherEncoding(Place)
    case controlCharacter(Place, UInt32)
    case tab(Place)
    case syntax(Place, String, hint: String)
    case directive(Place)
    case tooDeep(Place, limit: Int)
    case tooManyNodes(Place, limit: Int)
    case severalDocuments(Place)
    case tag(Place)
    case mergeKey(Place)
    case keyNotText(Place)
    case duplicateKey(Place, String, first: Place)
    case unknownAlias(Place, String)
    case aliasOfItself(Place, String)

    package func diagnostic(file: String) -> Diagnostic {
        func error(_ place: Place, _ message: String, _ hint: String) -> Diagnostic {
            Diagnostic(.error, place, message, hint: hint)
        }
        return switch self {
        case .tooLarge(let limit):
            error(
                Place(file: file, line: 1, column: 1),
                "the file is larger than \(ByteCount(bytes: limit)?.description ?? "allowed")",
                "is this the right file? Long lists of vehicles belong in a CSV file"
            )
        case .empty(let place):
            error(place, "the file is empty", "is this the right file?")
        case .binary(let place):
            error(place, "this is not a text file: it holds a zero byte", "is this the right file?")
        case .invalidUTF8(let place):
            error(place, "this is not UTF-8", "save the file as UTF-8")
        case .otherEncoding(let place):
            error(place, "this is UTF-16 or UTF-32, not UTF-8", "save the file as UTF-8")
        case .controlCharacter(let place, let value):
            error(
                place,
                "a control character (U+\(Self.hex(value))) is not allowed here",
                "remove it; in quotes it can be written as an escape"
            )
        case .tab(let place):
            error(place, "a tab cannot indent", "use spaces")
        case .syntax(let place, let message, let hint):
            error(place, message, hint)
        case .directive(let place):
            error(place, "directives (`%`) are not supported", "remove the line, or quote the text")
        case .tooDeep(let place, let limit):
            error(place, "nested more than \(limit) deep", "a list or map here is never closed?")
        case .tooManyNodes(let place, let limit):
            error(
                place,
                "more than \(limit) values once aliases (`*`) are expanded",
                "write lists of vehicles as a CSV file; do not nest aliases"
            )
        case .severalDocuments(let place):
            error(place, "a second document starts here", "keep one document in a file")
        case .tag(let place):
            error(place, "tags (`!`) are not supported", "remove the tag, or quote the text")
        case .mergeKey(let place):
            error(place, "merge keys (`<<`) are not supported", "write the keys out")
        case .keyNotText(let place):
            error(place, "a key must be a word", "quote it if it starts with `[`, `{`, `*` or `?`")
        case .duplicateKey(let place, let key, let first):
            error(
                place,
                "the key \(quoted(key)) occurs twice",
                "the first one is at \(first); remove one of them"
            )
        case .unknownAlias(let place, let name):
            error(place, "no anchor is named \(quoted(name))", "quote text that starts with `*`")
        case .aliasOfItself(let place, let name):
            error(place, "the anchor \(quoted(name)) contains itself", "write the value out")
        }
    }

    private static func hex(_ value: UInt32) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
    }
}

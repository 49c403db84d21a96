package import Base

/// An error that ends a command before or instead of its result, written for a person.
package struct CommandError: Error, Sendable, Equatable {
    package enum Kind: String, CaseIterable, Sendable {
        case usage, manifest
        case inputMissing = "input-missing"
        case unavailable
        case cannotCreate = "cannot-create"
        case cannotWrite = "cannot-write"
        case busy, trust, configuration, `internal`

        package var exitCode: ExitCode {
            switch self {
            case .usage: .usage
            case .manifest: .invalidManifest
            case .inputMissing: .inputMissing
            case .unavailable: .unavailable
            case .cannotCreate: .cannotCreate
            case .cannotWrite: .cannotWrite
            case .busy: .busy
            case .trust: .trustRefused
            case .configuration: .configuration
            case .internal: .internalError
            }
        }
    }

    package let kind: Kind
    /// What failed.
    package let sentence: String
    /// Why it failed, the direct cause first.
    package let causes: [String]
    /// What to try next.
    package let hint: String?

    package init(
        _ kind: Kind,
        _ sentence: String,
        because causes: [String] = [],
        hint: String? = nil
    ) {
        self.kind = kind
        self.sentence = sentence
        self.causes = causes
        self.hint = hint
    }

    package var exitCode: ExitCode { kind.exitCode }

    /// The lines for standard error, each with a line feed at its end.
    ///
    /// Further lines of a text with several lines are indented, so that a list of errors stays
    /// together.
    package var text: String {
        var text = "yardmaster: error: " + Self.indented(sentence)
        for cause in causes { text += "  because " + Self.indented(cause) }
        if let hint { text += "  hint: " + Self.indented(hint) }
        return text
    }

    private static func indented(_ text: String) -> String {
        let lines = text.split(separator: "\n")
        return lines.map(\.visible).joined(separator: "\n    ") + "\n"
    }

    /// The document for standard output under `--json`.
    package var document: JSONValue { json }
}

extension CommandError.Kind: JSONDescribed {}

extension CommandError: JSONDescribed {
    private typealias Member = JSONForm<Self>.Member

    package static let jsonForm = JSONForm<Self>.object("Failure", "Why there is no document.") {
        Member.version
        Member("error", as: error, \.self)
        Member("exit", \.exitCode)
    }

    private static let error = JSONForm<Self>.object {
        Member("kind", \.kind)
        Member("message", "What could not be done.", \.sentence)
        Member("causes", "Why, the nearest first.", \.causes)
        Member(ifAny: "hint", "What to try next.", \.hint)
    }
}

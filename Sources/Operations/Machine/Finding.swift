package import Base
package import Commands

/// One finding of a check.
package struct Finding: Equatable, Sendable {
    package enum Grade: String, Sendable {
        case good, warning, bad

        var mark: String {
            switch self {
            case .good: "ok      "
            case .warning: "warning "
            case .bad: "BAD     "
            }
        }
    }

    /// The subject of findings about main.conf.
    package static let settings = "settings"

    /// One line for each finding, with the remedy below it.
    package static func text(_ findings: [Finding], quietly: Bool) -> String {
        let shown = quietly ? findings.filter { $0.grade != .good } : findings
        return shown.map { finding in
            let hint = finding.hint.map { "\n         do: \($0)" } ?? ""
            return "\(finding.grade.mark) \(finding.subject): \(finding.sentence)\(hint)\n"
        }.joined()
    }

    /// The JSON document for programs.
    package static func document(_ findings: [Finding], _ code: ExitCode) -> String {
        JSONValue.object([
            "schema": 1,
            "exit": .integer(Int64(code.rawValue)),
            "findings": .array(
                findings.map { finding in
                    .object([
                        "grade": .string(finding.grade.rawValue),
                        "subject": .string(finding.subject),
                        "sentence": .string(finding.sentence),
                        "do": finding.hint.map { .string($0) } ?? .null,
                    ])
                }
            ),
        ]).text + "\n"
    }

    /// A finding for each place that a manifest's reader warns about.
    package static func warnings(_ diagnostics: [Diagnostic]) -> [Finding] {
        diagnostics.map { Finding(.warning, "\($0.place)", $0.message, $0.hint) }
    }

    package let grade: Grade
    package let subject: String
    package let sentence: String
    package let hint: String?

    package init(_ grade: Grade, _ subject: String, _ sentence: String, _ hint: String? = nil) {
        self.grade = grade
        self.subject = subject
        self.sentence = sentence
        self.hint = hint
    }
}

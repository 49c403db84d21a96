/// What is wrong at one place of a file, and what to do about it.
package struct Diagnostic: Hashable, Sendable, CustomStringConvertible {
    package enum Severity: String, Sendable, Hashable {
        /// What was read cannot be used.
        case error
        /// It can be used, and someone may regret it.
        case warning
    }

    package let severity: Severity
    package let place: Place
    package let message: String
    package let hint: String?
    /// What those have in common that are reported as one; nil where the words say it.
    package let topic: String?

    package init(
        _ severity: Severity,
        _ place: Place,
        _ message: String,
        hint: String? = nil,
        topic: String? = nil
    ) {
        self.severity = severity
        self.place = place
        self.message = message
        self.hint = hint
        self.topic = topic
    }

    /// The same where it is in nobody's way.
    package var asWarning: Diagnostic {
        Diagnostic(.warning, place, message, hint: hint, topic: topic)
    }

    /// `file:line:column: error: message`, and the hint on a line of its own.
    package var description: String {
        let first = "\(place): \(severity.rawValue): \(message)"
        guard let hint else { return first }
        return first + "\n  hint: " + hint
    }
}

/// An error or warning at one place of a file, with a hint.
package struct Diagnostic: Hashable, Sendable, CustomStringConvertible {
    package enum Severity: String, Sendable, Hashable {
        /// The file cannot be used.
        case error
        /// The file can be used, but this may be a mistake.
        case warning
    }

    package let severity: Severity
    package let place: Place
    package let message: String
    package let hint: String?
    /// The common topic of diagnostics that are reported as one group; nil where the message
    /// decides.
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

    /// The same diagnostic as a warning, where it does not prevent anything.
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

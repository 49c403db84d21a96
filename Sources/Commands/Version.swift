/// This program's own version.
package enum Version {
    package static let current = "0.1.0"
    /// The date of the last change of the manual page's content, in mdoc's format.
    static let manualDate = "November 21, 2026"
}

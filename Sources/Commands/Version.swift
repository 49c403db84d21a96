/// This program's own version.
package enum Version {
    package static let current = "0.1.0"
    /// When the manual page last changed in substance, as mdoc writes dates.
    package static let manualDate = "November 21, 2026"
}

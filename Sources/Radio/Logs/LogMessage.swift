package import Base

/// A sentence for a log, built so that no secret can get into it.
///
/// Only the types listed here can be interpolated. Secrets are shown as `<secret>`, and of bytes
/// only the number is shown, since a module's answer may hold anything.
package struct LogMessage: Sendable, ExpressibleByStringInterpolation, CustomStringConvertible {
    package struct Pieces: StringInterpolationProtocol {
        fileprivate var text = ""

        package init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + 16 * interpolationCount)
        }

        package mutating func appendLiteral(_ literal: String) { text += literal }

        package mutating func appendInterpolation(_ secret: Secret) { text += "<secret>" }

        package mutating func appendInterpolation(_ bytes: [UInt8]) {
            text += "<\(counted(bytes.count, "byte"))>"
        }

        package mutating func appendInterpolation(_ number: some FixedWidthInteger) {
            text += String(number)
        }

        package mutating func appendInterpolation(_ duration: Duration) { text += duration.brief }
        package mutating func appendInterpolation(_ serial: Serial) { text += serial.text }
        package mutating func appendInterpolation(_ version: FirmwareVersion) {
            text += version.description
        }

        /// A name that came from a file or from the air.
        package mutating func appendInterpolation(name: String) { text += name.visible }

        package mutating func appendInterpolation(_ reading: PropertyReading) {
            text += reading.name + " " + reading.value.text
        }

        package mutating func appendInterpolation(_ error: some Explained) {
            text += error.description.visible
        }
    }

    private let text: String

    package init(stringLiteral text: String) { self.text = text }
    package init(stringInterpolation pieces: Pieces) { text = pieces.text }

    package var description: String { text }
}

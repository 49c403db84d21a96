import Base

/// A value as text, which can be read as a number, a version or a word.
package struct Literal: Sendable, Hashable, CustomStringConvertible {
    /// A number has one spelling, so that 40 and 40.0 are the same.
    package let text: String

    package init(_ text: String) {
        self.text = Self.number(text).map(Self.spelling) ?? text
    }

    package init(_ number: Double) { text = Self.spelling(number) }

    package var number: Double? { Self.number(text) }

    /// Text such as 4.12 is both a decimal number and a version.
    var version: FirmwareVersion? { FirmwareVersion(text) }

    package var description: String { text }

    private static func spelling(_ number: Double) -> String {
        Int(exactly: number).map(String.init) ?? number.description
    }

    /// A decimal number of at most 15 digits, so that no digit is lost.
    private static func number(_ text: String) -> Double? {
        let bytes = text.utf8
        let digits = bytes.count { (0x30...0x39).contains($0) }
        let isDecimal = bytes.allSatisfy { (0x2B...0x39).contains($0) && $0 != 0x2C && $0 != 0x2F }
        guard isDecimal, digits <= 15, PlainNumber.looksLikeOne(text) else { return nil }
        return Double(text)
    }
}

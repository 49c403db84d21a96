package import Base

/// A time in a token: seconds since 1970 according to the documents, milliseconds in real tokens.
package struct CarShareTime: Hashable, Sendable, CustomStringConvertible {
    /// The number in the token.
    package let number: UInt64
    package let wallTime: WallTime

    package enum Unit: Sendable, Hashable { case seconds, milliseconds }

    package var unit: Unit { number < Self.boundary ? .seconds : .milliseconds }

    /// As milliseconds this is spring 1973, as seconds the year 5138: no real time is between the
    /// two.
    private static let boundary: UInt64 = 100_000_000_000
    /// The end of the year 9999 in milliseconds.
    private static let last: UInt64 = 253_402_300_799_999

    /// Nil for 0, which means that no time is given, and for times after the year 9999.
    package init?(_ number: UInt64) {
        guard number > 0, number <= Self.last else { return nil }
        self.number = number
        let milliseconds = number < Self.boundary ? number * 1_000 : number
        guard milliseconds <= Self.last else { return nil }
        wallTime = WallTime(milliseconds: Int64(milliseconds))
    }

    package var description: String { wallTime.description }
}

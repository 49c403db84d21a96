package import Domain

/// A time in a token: seconds since 1970 by the documents, milliseconds in real ones.
package struct CarShareTime: Hashable, Sendable, CustomStringConvertible {
    /// As it stands in the token.
    package let number: UInt64
    package let wallTime: WallTime

    package enum Unit: Sendable, Hashable { case seconds, milliseconds }

    package var unit: Unit { number < Self.boundary ? .seconds : .milliseconds }

    /// In milliseconds the spring of 1973, in seconds the year 5138: nothing real lies between.
    private static let boundary: UInt64 = 100_000_000_000
    /// The end of the year 9999 in milliseconds.
    private static let last: UInt64 = 253_402_300_799_999

    /// Nil for 0, which means that none is given, and for what no calendar has.
    package init?(_ number: UInt64) {
        guard number > 0, number <= Self.last else { return nil }
        self.number = number
        let milliseconds = number < Self.boundary ? number * 1_000 : number
        guard milliseconds <= Self.last else { return nil }
        wallTime = WallTime(milliseconds: Int64(milliseconds))
    }

    package var description: String { wallTime.description }
}

/// A decimal number as a profile writes it, without the rounding errors of binary fractions.
package struct Decimal: Sendable, Hashable, CustomStringConvertible {
    package static let mostDigits = 12
    package static let mostPlaces = 6

    /// The number without its point.
    package let digits: Int64
    /// The number of digits after the point.
    package let places: Int

    package static let one = Decimal(1)
    package static let zero = Decimal(0)

    package init(_ whole: Int32) {
        digits = Int64(whole)
        places = 0
    }

    /// Reads `40`, `-40` and `0.05`: at most twelve digits, six of them after the point.
    package init?(_ text: some StringProtocol) {
        var rest = Array(text.utf8)[...]
        let isNegative = rest.first == 0x2D
        if isNegative { rest = rest.dropFirst() }
        let parts = rest.split(separator: 0x2E, omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count),
            parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy { (0x30...0x39).contains($0) } }),
            parts.map(\.count).reduce(0, +) <= Self.mostDigits,
            parts.count == 1 || parts[1].count <= Self.mostPlaces
        else { return nil }
        let number = parts.joined().reduce(Int64(0)) { $0 * 10 + Int64($1 - 0x30) }
        digits = isNegative ? -number : number
        places = parts.count == 2 ? parts[1].count : 0
    }

    /// The digits of the number with `wanted` places after the point; nil where digits would be
    /// lost.
    func digits(places wanted: Int) -> Int64? {
        guard wanted >= places else { return nil }
        return Self.power(wanted - places).flatMap { power in
            let (product, overflow) = digits.multipliedReportingOverflow(by: power)
            return overflow ? nil : product
        }
    }

    package var number: Double { Double(digits) / Double(Self.power(places) ?? 1) }

    package var description: String { PropertyValue.number(number).text }

    static func power(_ exponent: Int) -> Int64? {
        (0...12).contains(exponent) ? (0..<exponent).reduce(1) { power, _ in power * 10 } : nil
    }
}

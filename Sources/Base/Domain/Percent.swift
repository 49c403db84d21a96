/// A share between 0 and 100 %, kept exactly in hundredths of a percent.
package struct Percent: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let hundredths: Int

    /// Nil outside 0 to 100 %.
    package init?(hundredths: Int) {
        guard (0...10_000).contains(hundredths) else { return nil }
        self.hundredths = hundredths
    }

    /// Reads `10%`, `2.5%`, `0.25%`; nil for anything else.
    package init?(_ text: some StringProtocol) {
        let characters = Array(text.utf8)
        guard characters.last == 0x25 else { return nil }
        let parts = characters.dropLast().split(separator: 0x2E, omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), (1...3).contains(parts[0].count),
            parts.allSatisfy({ $0.allSatisfy { (0x30...0x39).contains($0) } }),
            let whole = Int(String(decoding: parts[0], as: UTF8.self))
        else { return nil }
        var fraction = 0
        if parts.count == 2 {
            guard (1...2).contains(parts[1].count),
                let digits = Int(String(decoding: parts[1], as: UTF8.self))
            else { return nil }
            fraction = parts[1].count == 1 ? digits * 10 : digits
        }
        self.init(hundredths: whole * 100 + fraction)
    }

    /// This share of `count` as a whole number, rounded down.
    package func share(of count: Int) -> Int { count * hundredths / 10_000 }

    package var description: String {
        let (whole, rest) = (hundredths / 100, hundredths % 100)
        guard rest != 0 else { return "\(whole)%" }
        return rest.isMultiple(of: 10)
            ? "\(whole).\(rest / 10)%" : "\(whole).\(rest < 10 ? "0" : "")\(rest)%"
    }

    package static func < (left: Percent, right: Percent) -> Bool {
        left.hundredths < right.hundredths
    }
}

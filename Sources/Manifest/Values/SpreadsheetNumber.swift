/// A number as a spreadsheet writes it in place of a long serial, such as `1,23457E+11`.
package enum SpreadsheetNumber {
    package static let sentence = "a spreadsheet made a number of this"
    package static let remedy = "format the column as text and paste the value again"

    package static func isOne(_ text: some StringProtocol) -> Bool {
        let halves = Array(text.utf8).split(omittingEmptySubsequences: false) { $0 | 0x20 == 0x65 }
        guard halves.count == 2, let sign = halves[1].first, sign == 0x2B || sign == 0x2D else {
            return false
        }
        let exponent = halves[1].dropFirst()
        // A point or a comma, as the country has it.
        let number = halves[0].split(omittingEmptySubsequences: false) { $0 == 0x2E || $0 == 0x2C }
        return (2...3).contains(exponent.count) && number[0].count == 1 && number.count <= 2
            && number.allSatisfy { !$0.isEmpty && isDigits($0) } && isDigits(exponent)
    }

    package static func isDigits(_ bytes: some Sequence<UInt8>) -> Bool {
        bytes.allSatisfy { (0x30...0x39).contains($0) }
    }
}

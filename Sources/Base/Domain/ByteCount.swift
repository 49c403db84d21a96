/// A number of bytes.
package struct ByteCount: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let bytes: Int

    /// Nil when negative.
    package init?(bytes: Int) {
        guard bytes >= 0 else { return nil }
        self.bytes = bytes
    }

    /// Reads `4096`, `512KiB`, `8MiB`, `1GiB`, `200kB`, `5MB`; nil for anything else.
    package init?(_ text: some StringProtocol) {
        let digits = text.prefix { ("0"..."9").contains($0) }
        guard (1...15).contains(digits.utf8.count), let number = Int(digits) else { return nil }
        let unit: Int
        switch text[digits.endIndex...] {
        case "", "B": unit = 1
        case "KiB": unit = 1 << 10
        case "MiB": unit = 1 << 20
        case "GiB": unit = 1 << 30
        case "kB": unit = 1_000
        case "MB": unit = 1_000_000
        case "GB": unit = 1_000_000_000
        default: return nil
        }
        let (product, overflow) = number.multipliedReportingOverflow(by: unit)
        guard !overflow else { return nil }
        bytes = product
    }

    package var description: String {
        func tenths(_ unit: Int, _ name: String) -> String {
            let value = (bytes * 10 + unit / 2) / unit
            return value.isMultiple(of: 10)
                ? "\(value / 10) \(name)" : "\(value / 10).\(value % 10) \(name)"
        }
        return switch bytes {
        case ..<(1 << 10): "\(bytes) B"
        case ..<(1 << 20): tenths(1 << 10, "KiB")
        case ..<(1 << 30): tenths(1 << 20, "MiB")
        case ..<(1 << 50): tenths(1 << 30, "GiB")
        default: "\(bytes >> 30) GiB"
        }
    }

    package static func < (left: ByteCount, right: ByteCount) -> Bool { left.bytes < right.bytes }
}

extension ByteCount {
    package static let zero = ByteCount(count: 0)

    /// The number of bytes of something, which is never negative.
    package init(count: UInt) { bytes = Int(clamping: count) }

    /// The size of a collection of bytes.
    package init(of bytes: some Collection<UInt8>) { self.init(count: UInt(bytes.count)) }
}

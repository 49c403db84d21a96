import Base
import Synchronization

/// The CRC-32 of any prefix of a firmware, computed once for all modules that get it.
package final class PrefixChecksums: Sendable {
    private static let page = 4_096

    package let bytes: [UInt8]
    private struct Known {
        /// At index k the checksum of the first k pages, as far as one was asked for.
        var pages: [UInt32] = [0]
        /// By offset, between two pages: modules of one kind ask for the same offsets.
        var between: [Int: UInt32] = [:]
    }

    private let known = Mutex(Known())
    /// The number of offsets between pages that are kept.
    private static let mostBetween = 4_096

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The checksum of the whole firmware.
    package var whole: UInt32 { value(upTo: bytes.count) ?? 0 }

    /// Nil when the firmware is shorter.
    package func value(upTo offset: Int) -> UInt32? {
        guard (0...bytes.count).contains(offset) else { return nil }
        return known.withLock { known in
            if let value = known.between[offset] { return value }
            let page = offset / Self.page
            while known.pages.count <= page {
                let start = (known.pages.count - 1) * Self.page
                let before = known.pages[known.pages.count - 1]
                known.pages.append(Self.extend(before, by: bytes[start..<start + Self.page]))
            }
            guard offset > page * Self.page else { return known.pages[page] }
            let value = Self.extend(known.pages[page], by: bytes[page * Self.page..<offset])
            if known.between.count < Self.mostBetween { known.between[offset] = value }
            return value
        }
    }

    private static func extend(_ value: UInt32, by bytes: ArraySlice<UInt8>) -> UInt32 {
        var crc = CRC32(continuing: value)
        crc.update(bytes)
        return crc.value
    }
}

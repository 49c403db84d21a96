import Wire

/// The CRC-32 of any prefix of an image, computed once for each page that is requested.
struct PrefixChecksums: Sendable {
    private static let page = 4_096

    let bytes: [UInt8]
    /// At index k, the checksum of the first k pages.
    private var pages: [UInt32] = [0]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Nil when the image is shorter.
    mutating func value(upTo offset: Int) -> UInt32? {
        guard (0...bytes.count).contains(offset) else { return nil }
        let page = offset / Self.page
        while pages.count <= page {
            let start = (pages.count - 1) * Self.page
            pages.append(Self.extend(pages[pages.count - 1], by: bytes[start..<start + Self.page]))
        }
        return Self.extend(pages[page], by: bytes[page * Self.page..<offset])
    }

    private static func extend(_ value: UInt32, by bytes: ArraySlice<UInt8>) -> UInt32 {
        var crc = CRC32(continuing: value)
        crc.update(bytes)
        return crc.value
    }
}

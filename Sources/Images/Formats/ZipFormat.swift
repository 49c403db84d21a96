/// The numbers of the zip format (APPNOTE.TXT 6.3.10, section 4.3).
enum ZipFormat {
    static let localHeader: UInt32 = 0x0403_4B50
    static let localHeaderLength = 30
    static let centralHeader: UInt32 = 0x0201_4B50
    static let centralHeaderLength = 46
    static let endRecord: UInt32 = 0x0605_4B50
    static let endRecordLength = 22
    static let zip64Locator: UInt32 = 0x0706_4B50
    static let zip64LocatorLength = 20
    static let dataDescriptor: UInt32 = 0x0807_4B50

    static let encryptedFlags: UInt16 = 1 << 0 | 1 << 6 | 1 << 13
    static let descriptorFlag: UInt16 = 1 << 3
    static let unicodeFlag: UInt16 = 1 << 11
    /// Bits 1 and 2 only contain the compression level.
    static let knownFlags: UInt16 = 1 << 1 | 1 << 2 | descriptorFlag | unicodeFlag

    static let zip64ExtraField: UInt16 = 0x0001
    /// Would give the entry another name in some readers.
    static let unicodePathExtraField: UInt16 = 0x7075

    /// 1 January 1980 at midnight, the earliest time of the format.
    static let epochDate: UInt16 = 1 << 5 | 1

    static let largestExpansion = 1_032

    /// Whether an entry may have this name: relative, inside its folder, and with the same meaning
    /// on every system.
    static func isAcceptable(name: [UInt8]) -> Bool {
        guard (1...255).contains(name.count),
            name.allSatisfy({ $0 >= 0x20 && $0 != 0x7F && $0 != 0x5C && $0 != 0x3A }),
            String(validating: name, as: UTF8.self) != nil
        else { return false }
        // A directory's name ends with a slash, which gives an empty part at the end.
        var parts = name.split(separator: 0x2F, omittingEmptySubsequences: false)
        if parts.count > 1, parts.last?.isEmpty == true { parts.removeLast() }
        return parts.allSatisfy {
            !$0.isEmpty && !$0.elementsEqual([0x2E]) && !$0.elementsEqual([0x2E, 0x2E])
        }
    }
}

extension [UInt8] {
    /// Two bytes, little-endian; nil outside the array.
    func uint16(at offset: Int) -> UInt16? {
        guard offset >= 0, offset <= count - 2 else { return nil }
        return UInt16(self[offset]) | UInt16(self[offset + 1]) << 8
    }

    /// Four bytes, little-endian; nil outside the array.
    func uint32(at offset: Int) -> UInt32? {
        guard let low = uint16(at: offset), let high = uint16(at: offset + 2) else { return nil }
        return UInt32(low) | UInt32(high) << 16
    }

    mutating func append(_ value: UInt16) {
        append(UInt8(truncatingIfNeeded: value))
        append(UInt8(truncatingIfNeeded: value >> 8))
    }

    mutating func append(_ value: UInt32) {
        append(UInt16(truncatingIfNeeded: value))
        append(UInt16(truncatingIfNeeded: value >> 16))
    }
}

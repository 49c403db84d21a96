/// The data at the end of a file that was padded to the size of its slot.
enum MCUbootTrailer {
    /// The magic number of trailers with the usual alignment of 8 bytes.
    private static let magic: [UInt8] = [
        0x77, 0xC2, 0x95, 0xF3, 0x60, 0xD2, 0xEF, 0x7F, 0x35, 0x52, 0x50, 0x0F, 0x2C, 0xB6, 0x79,
        0x80,
    ]
    /// The magic number of other trailers, after two bytes with their alignment.
    private static let alignedMagic: [UInt8] = [
        0x2D, 0xE1, 0x5D, 0x29, 0x41, 0x0B, 0x8D, 0x77, 0x67, 0x9C, 0x11, 0x0F, 0x1F, 0x8A,
    ]

    /// Reads the trailer after byte `end`; nil when there is only erased flash.
    static func read(
        _ bytes: [UInt8],
        from end: Int
    ) throws(MCUbootError) -> MCUbootImage.Trailer? {
        let rest = bytes[end...]
        guard let first = rest.firstIndex(where: { $0 != 0xFF }) else { return nil }
        guard rest.count >= 32, let alignment = alignment(rest.suffix(16)) else {
            throw MCUbootError(.trailingBytes, at: first)
        }
        // "Image ok" is one byte, padded to the alignment, before the magic number, which is
        // aligned, too.
        let magicRoom = (16 + alignment - 1) / alignment * alignment
        let okay = bytes.count - magicRoom - alignment
        guard okay >= end else { throw MCUbootError(.trailingBytes, at: first) }
        for index in end..<bytes.count - 16 where bytes[index] != 0xFF {
            guard index == okay, bytes[index] == 1 else {
                throw MCUbootError(.trailingBytes, at: index)
            }
        }
        return MCUbootImage.Trailer(isConfirmed: bytes[okay] == 1)
    }

    private static func alignment(_ end: ArraySlice<UInt8>) -> Int? {
        if end.elementsEqual(magic) { return 8 }
        guard end.dropFirst(2).elementsEqual(alignedMagic) else { return nil }
        let bytes = Array(end.prefix(2))
        let alignment = Int(bytes[0]) | Int(bytes[1]) << 8
        return (8...32).contains(alignment) ? alignment : nil
    }
}

/// One entry in an archive's central directory, checked as far as that is possible without the
/// rest.
struct ZipEntry: Equatable {
    let name: String
    let nameBytes: [UInt8]
    let flags: UInt16
    let method: ZipMethod
    let checksum: UInt32
    let compressedSize: Int
    let size: Int
    let headerOffset: Int

    var isDirectory: Bool { nameBytes.last == 0x2F }

    /// Reads the header at `offset`; returns the entry and the offset of the next header.
    static func read(
        _ bytes: [UInt8],
        at offset: Int
    ) throws(ZipError) -> (entry: ZipEntry, next: Int) {
        guard let signature = bytes.uint32(at: offset),
            let flags = bytes.uint16(at: offset + 8), let method = bytes.uint16(at: offset + 10),
            let checksum = bytes.uint32(at: offset + 16),
            let compressedSize = bytes.uint32(at: offset + 20),
            let size = bytes.uint32(at: offset + 24),
            let nameLength = bytes.uint16(at: offset + 28),
            let extraLength = bytes.uint16(at: offset + 30),
            let commentLength = bytes.uint16(at: offset + 32),
            let disk = bytes.uint16(at: offset + 34),
            let attributes = bytes.uint32(at: offset + 38),
            let headerOffset = bytes.uint32(at: offset + 42)
        else { throw ZipError(.endsEarly) }
        guard signature == ZipFormat.centralHeader else { throw ZipError(.notAnArchive) }
        let nameStart = offset + ZipFormat.centralHeaderLength
        let extraStart = nameStart + Int(nameLength)
        let next = extraStart + Int(extraLength) + Int(commentLength)
        guard next <= bytes.count else { throw ZipError(.endsEarly) }

        let nameBytes = Array(bytes[nameStart..<extraStart])
        let name = String(decoding: nameBytes, as: UTF8.self)
        func refused(_ reason: ZipError.Reason) -> ZipError { ZipError(reason, entry: name) }
        guard ZipFormat.isAcceptable(name: nameBytes) else { throw refused(.badName) }
        // Without this flag, bytes outside ASCII belong to an old code page.
        guard flags & ZipFormat.unicodeFlag != 0 || nameBytes.allSatisfy({ $0 < 0x80 }) else {
            throw refused(.badName)
        }
        guard flags & ZipFormat.encryptedFlags == 0 else { throw refused(.encrypted) }
        let unknown = flags & ~ZipFormat.knownFlags
        guard unknown == 0 else { throw refused(.unknownFlags(unknown)) }
        guard disk == 0 else { throw refused(.spansDisks) }
        guard ![compressedSize, size, headerOffset].contains(.max) else { throw refused(.zip64) }
        try checkExtraFields(bytes, extraStart, Int(extraLength), name: name)
        guard let known = ZipMethod(rawValue: method) else {
            throw refused(.unknownMethod(method))
        }
        let entry = ZipEntry(
            name: name,
            nameBytes: nameBytes,
            flags: flags,
            method: known,
            checksum: checksum,
            compressedSize: Int(compressedSize),
            size: Int(size),
            headerOffset: Int(headerOffset)
        )
        try entry.check(unixMode: attributes >> 16)
        return (entry, next)
    }

    /// Refuses links and devices, directories with content, and impossible sizes.
    private func check(unixMode: UInt32) throws(ZipError) {
        let kind = unixMode & 0xF000
        let fits =
            isDirectory ? [0, 0x4000].contains(kind) && size == 0 : [0, 0x8000].contains(kind)
        guard fits else { throw ZipError(.notAFile, entry: name) }
        switch method {
        case .stored:
            guard size == compressedSize else { throw ZipError(.wrongSize, entry: name) }
        case .deflated:
            // A ratio that deflate cannot reach is false, and would make us reserve memory.
            guard size / ZipFormat.largestExpansion <= compressedSize else {
                throw ZipError(.wrongSize, entry: name)
            }
        }
    }

    /// The range of the data, after checking that the entry's own header agrees with the directory.
    ///
    /// `end` is after the data descriptor, if there is one.
    func data(in bytes: [UInt8]) throws(ZipError) -> (data: Range<Int>, end: Int) {
        func refused(_ reason: ZipError.Reason) -> ZipError { ZipError(reason, entry: name) }
        let start = headerOffset
        guard let signature = bytes.uint32(at: start), let flags = bytes.uint16(at: start + 6),
            let method = bytes.uint16(at: start + 8), let checksum = bytes.uint32(at: start + 14),
            let compressedSize = bytes.uint32(at: start + 18),
            let size = bytes.uint32(at: start + 22), let nameLength = bytes.uint16(at: start + 26),
            let extraLength = bytes.uint16(at: start + 28)
        else { throw refused(.endsEarly) }
        let nameStart = start + ZipFormat.localHeaderLength
        let extraStart = nameStart + Int(nameLength)
        let dataStart = extraStart + Int(extraLength)
        let dataEnd = dataStart + self.compressedSize
        guard dataEnd <= bytes.count else { throw refused(.endsEarly) }
        try Self.checkExtraFields(bytes, extraStart, Int(extraLength), name: name)
        guard signature == ZipFormat.localHeader, flags == self.flags,
            method == self.method.rawValue, bytes[nameStart..<extraStart].elementsEqual(nameBytes)
        else { throw refused(.headersDiffer) }

        let told = (checksum, Int(compressedSize), Int(size))
        let known = (self.checksum, self.compressedSize, self.size)
        guard flags & ZipFormat.descriptorFlag != 0 else {
            guard told == known else { throw refused(.headersDiffer) }
            return (dataStart..<dataEnd, dataEnd)
        }
        // The values follow the data; before the data they are zero, or already right.
        guard told == known || told == (0, 0, 0) else { throw refused(.headersDiffer) }
        for length in [16, 12] {
            let at = dataEnd + length - 12
            let marked = length == 12 || bytes.uint32(at: dataEnd) == ZipFormat.dataDescriptor
            if marked, bytes.uint32(at: at) == self.checksum,
                bytes.uint32(at: at + 4).map(Int.init) == self.compressedSize,
                bytes.uint32(at: at + 8).map(Int.init) == self.size
            {
                return (dataStart..<dataEnd, dataEnd + length)
            }
        }
        throw refused(.headersDiffer)
    }

    private static func checkExtraFields(
        _ bytes: [UInt8],
        _ start: Int,
        _ length: Int,
        name: String
    ) throws(ZipError) {
        var offset = start
        let end = start + length
        while offset < end {
            guard offset + 4 <= end, let id = bytes.uint16(at: offset),
                let size = bytes.uint16(at: offset + 2), offset + 4 + Int(size) <= end
            else { throw ZipError(.badExtraField, entry: name) }
            switch id {
            case ZipFormat.zip64ExtraField: throw ZipError(.zip64, entry: name)
            case ZipFormat.unicodePathExtraField: throw ZipError(.badName, entry: name)
            default: offset += 4 + Int(size)
            }
        }
    }
}

/// The compression of an entry.
package enum ZipMethod: UInt16, CaseIterable, Sendable {
    case stored = 0
    case deflated = 8
}

/// A zip archive of a few small files, read from memory and not trusted.
///
/// All headers are checked when it is opened; the data of an entry is checked when it is requested.
/// Names are only compared, never used as paths.
package struct ZipArchive: Sendable {
    static let entryLimit = 64
    /// The limit for the archive, and for all unpacked entries together.
    static let sizeLimit = 64 << 20

    private let bytes: [UInt8]
    private let files: [(entry: ZipEntry, data: Range<Int>)]

    /// The names of the files in the order of the directory; folders are left out.
    package var names: [String] { files.map(\.entry.name) }

    package init(_ bytes: [UInt8]) throws(ZipError) {
        guard bytes.count <= Self.sizeLimit else {
            throw ZipError(.tooLarge(limit: Self.sizeLimit))
        }
        let directory = try Directory(bytes)
        var entries: [ZipEntry] = []
        var names: Set<String> = []
        var offset = directory.range.lowerBound
        var unpacked = 0
        for _ in 0..<directory.count {
            let (entry, next) = try ZipEntry.read(bytes, at: offset)
            guard next <= directory.range.upperBound else {
                throw ZipError(.endsEarly, entry: entry.name)
            }
            guard names.insert(entry.name.lowercased()).inserted else {
                throw ZipError(.duplicateName, entry: entry.name)
            }
            unpacked += entry.size
            guard unpacked <= Self.sizeLimit else {
                throw ZipError(.tooLarge(limit: Self.sizeLimit), entry: entry.name)
            }
            entries.append(entry)
            offset = next
        }
        guard offset == directory.range.upperBound else { throw ZipError(.notAnArchive) }

        var files: [(entry: ZipEntry, data: Range<Int>)] = []
        var taken: [(start: Int, end: Int, name: String)] = []
        for entry in entries {
            let (data, end) = try entry.data(in: bytes)
            taken.append((entry.headerOffset, end, entry.name))
            if !entry.isDirectory { files.append((entry, data)) }
        }
        taken.sort { $0.start < $1.start }
        var free = 0
        for range in taken {
            guard range.start >= free, range.end <= directory.range.lowerBound else {
                throw ZipError(.overlaps, entry: range.name)
            }
            free = range.end
        }
        self.bytes = bytes
        self.files = files
    }

    /// The bytes of one file, unpacked and checked.
    package func contents(of name: String) throws(ZipError) -> [UInt8] {
        guard let (entry, range) = files.first(where: { $0.entry.name == name }) else {
            throw ZipError(.noSuchEntry, entry: name)
        }
        let contents = try unpack(entry, range)
        guard Deflate.checksum(contents.span) == entry.checksum else {
            throw ZipError(.wrongChecksum, entry: name)
        }
        return contents
    }

    private func unpack(_ entry: ZipEntry, _ range: Range<Int>) throws(ZipError) -> [UInt8] {
        guard entry.method == .deflated else { return Array(bytes[range]) }
        do throws(Deflate.Failure) {
            return try Deflate.inflate(bytes.span.extracting(range), size: entry.size)
        } catch {
            switch error {
            case .wrongSize, .inputLeft: throw ZipError(.wrongSize, entry: entry.name)
            case .badData: throw ZipError(.badData, entry: entry.name)
            }
        }
    }

    /// The position of the central directory.
    private struct Directory {
        let count: Int
        let range: Range<Int>

        init(_ bytes: [UInt8]) throws(ZipError) {
            guard let end = Self.end(of: bytes), let disk = bytes.uint16(at: end + 4),
                let startDisk = bytes.uint16(at: end + 6), let here = bytes.uint16(at: end + 8),
                let count = bytes.uint16(at: end + 10), let size = bytes.uint32(at: end + 12),
                let offset = bytes.uint32(at: end + 16)
            else { throw ZipError(.notAnArchive) }
            let locator = bytes.uint32(at: end - ZipFormat.zip64LocatorLength)
            guard locator != ZipFormat.zip64Locator, count != .max, size != .max, offset != .max
            else { throw ZipError(.zip64) }
            guard disk == 0, startDisk == 0, here == count else { throw ZipError(.spansDisks) }
            guard count <= ZipArchive.entryLimit else {
                throw ZipError(.tooManyEntries(limit: ZipArchive.entryLimit))
            }
            // No bytes may be between the directory and its end record, so that there is only one
            // way to find it.
            guard Int(offset) + Int(size) == end else { throw ZipError(.endsEarly) }
            self.count = Int(count)
            range = Int(offset)..<end
        }

        /// The end record is last, except for a comment with the length that it states.
        private static func end(of bytes: [UInt8]) -> Int? {
            let last = bytes.count - ZipFormat.endRecordLength
            guard last >= 0 else { return nil }
            return stride(from: last, through: max(0, last - 0xFFFF), by: -1).first { offset in
                bytes.uint32(at: offset) == ZipFormat.endRecord
                    && bytes.uint16(at: offset + 20).map(Int.init) == last - offset
            }
        }
    }
}

/// Makes zip archives that `ZipArchive` accepts; the same entries always give the same bytes.
package struct ZipWriter {
    private var entries: [UInt8] = []
    private var directory: [UInt8] = []
    private var names: Set<String> = []

    package init() {}

    /// Adds a file; the name must be new, and one that a reader accepts.
    package mutating func add(
        _ name: String,
        _ contents: [UInt8],
        method: ZipMethod = .deflated
    ) throws(ZipError) {
        let nameBytes = Array(name.utf8)
        guard ZipFormat.isAcceptable(name: nameBytes), nameBytes.last != 0x2F else {
            throw ZipError(.badName, entry: name)
        }
        guard names.count < ZipArchive.entryLimit else {
            throw ZipError(.tooManyEntries(limit: ZipArchive.entryLimit), entry: name)
        }
        let data =
            switch method {
            case .stored: contents
            case .deflated: Deflate.deflate(contents.span)
            }
        // For each entry, the directory needs as much again as the two headers of the entry.
        let limit = ZipArchive.sizeLimit - (1 << 20)
        guard contents.count <= limit, entries.count + data.count <= limit else {
            throw ZipError(.tooLarge(limit: limit), entry: name)
        }
        guard names.insert(name.lowercased()).inserted else {
            throw ZipError(.duplicateName, entry: name)
        }
        let flags = nameBytes.allSatisfy { $0 < 0x80 } ? 0 : ZipFormat.unicodeFlag

        // Version 2.0 is the first with deflate.
        var common: [UInt8] = []
        common.append(UInt16(20))
        common.append(flags)
        common.append(method.rawValue)
        common.append(UInt16(0))
        common.append(ZipFormat.epochDate)
        common.append(Deflate.checksum(contents.span))
        common.append(UInt32(data.count))
        common.append(UInt32(contents.count))
        common.append(UInt16(nameBytes.count))
        common.append(UInt16(0))

        directory.append(ZipFormat.centralHeader)
        directory.append(UInt16(3 << 8 | 20))
        directory += common
        // No comment, first disk, no internal attributes; a regular file with mode 0644.
        for _ in 0..<3 { directory.append(UInt16(0)) }
        directory.append(UInt32(0o100644) << 16)
        directory.append(UInt32(entries.count))
        directory += nameBytes

        entries.append(ZipFormat.localHeader)
        entries += common
        entries += nameBytes
        entries += data
    }

    /// The archive with all added files.
    package func finish() -> [UInt8] {
        var bytes = entries
        bytes += directory
        bytes.append(ZipFormat.endRecord)
        bytes.append(UInt32(0))
        bytes.append(UInt16(names.count))
        bytes.append(UInt16(names.count))
        bytes.append(UInt32(directory.count))
        bytes.append(UInt32(entries.count))
        bytes.append(UInt16(0))
        return bytes
    }
}

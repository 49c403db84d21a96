import Base

/// Why a file is no archive that can be read.
package enum CpioError: Error, Sendable, Equatable, CustomStringConvertible {
    case notAnArchive
    case endsEarly
    case tooManyFiles(limit: Int)
    case missing(String)
    case twice(String)

    package var description: String {
        switch self {
        case .notAnArchive: "it is no archive of cpio, as SWUpdate's files are"
        case .endsEarly: "the archive ends early"
        case .tooManyFiles(let limit): "the archive has more than \(limit) files"
        case .missing(let name): "the archive has no file \(name.visible)"
        case .twice(let name): "the archive has two files \(name.visible)"
        }
    }
}

/// An archive in the form `newc` or `crc` of cpio, the container of SWUpdate's files (`.swu`).
///
/// Its names select contents and never become paths.
package enum CpioArchive {
    private static let mostFiles = 1_024
    /// The magic and thirteen numbers of eight hex digits.
    private static let headerSize = 110

    /// The content of the only file with this name.
    package static func contents(
        of wanted: String,
        in archive: [UInt8]
    ) throws(CpioError) -> [UInt8] {
        var found: Range<Int>?
        var offset = 0
        for _ in 0..<mostFiles {
            guard archive.count - offset >= headerSize else { throw .endsEarly }
            let header = archive[offset..<(offset + headerSize)]
            let magic = String(decoding: header.prefix(6), as: UTF8.self)
            guard ["070701", "070702"].contains(magic), let size = number(6, in: header),
                let nameSize = number(11, in: header), nameSize > 0
            else { throw .notAnArchive }
            let nameStart = offset + headerSize
            let start = padded(nameStart + nameSize)
            let end = start + size
            guard end <= archive.count else { throw .endsEarly }
            // The name ends with a zero byte.
            let name = archive[nameStart..<(nameStart + nameSize - 1)]
            if name.elementsEqual("TRAILER!!!".utf8) {
                guard let found else { throw .missing(wanted) }
                return Array(archive[found])
            }
            if name.elementsEqual(wanted.utf8) {
                guard found == nil else { throw .twice(wanted) }
                found = start..<end
            }
            offset = padded(end)
        }
        throw .tooManyFiles(limit: mostFiles)
    }

    /// Number `index` after the magic; at most 2³² - 1, so sums of a few cannot overflow.
    private static func number(_ index: Int, in header: ArraySlice<UInt8>) -> Int? {
        let start = header.startIndex + 6 + index * 8
        let digits = String(decoding: header[start..<(start + 8)], as: UTF8.self)
        guard digits.utf8.allSatisfy({ Hex.isDigit($0) }) else { return nil }
        return Int(digits, radix: 16)
    }

    /// The next multiple of four.
    private static func padded(_ offset: Int) -> Int { (offset + 3) & ~3 }
}

package import Base

/// Why a gzip file is refused; no part of it is used then.
package enum GzipError: Error, Equatable, Sendable {
    case notGzip
    case endsEarly
    /// A flag or a method that we do not know.
    case unknownFlags(UInt8)
    case unknownMethod(UInt8)
    /// Its size differs from the trusted one.
    case wrongSize(expected: ByteCount)
    case wrongChecksum
    case badData
    /// There are bytes after the end, perhaps a second file.
    case trailingBytes
    /// Its content has another digest than expected.
    case wrongDigest(expected: SHA256Digest, actual: SHA256Digest)
}

extension GzipError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notGzip: "not packed by gzip"
        case .endsEarly: "cut off"
        case .unknownFlags(let flags): "with unknown gzip flags 0x\(String(flags, radix: 16))"
        case .unknownMethod(let method): "packed by unknown method \(method)"
        case .wrongSize(let expected): "not \(expected.bytes) bytes when unpacked"
        case .wrongChecksum: "damaged: its checksum is wrong"
        case .badData: "damaged: its packed data make no sense"
        case .trailingBytes: "followed by something else"
        case .wrongDigest(let expected, let actual):
            "unpacked it has SHA-256 \(actual) instead of \(expected)"
        }
    }
}

/// One gzip member (RFC 1952), unpacked according to a trusted document.
///
/// A name in the header is ignored: it does not decide where bytes are written.
package enum Gzip {
    private static let flagCRC: UInt8 = 1 << 1
    private static let flagExtra: UInt8 = 1 << 2
    private static let flagName: UInt8 = 1 << 3
    private static let flagComment: UInt8 = 1 << 4
    private static let flagText: UInt8 = 1 << 0

    /// The unpacked bytes: exactly `size` of them, and with this digest.
    package static func unpack(
        _ bytes: [UInt8],
        size: ByteCount,
        digest: SHA256Digest
    ) throws(GzipError) -> [UInt8] {
        let contents = try unpack(bytes, size: size)
        let actual = SHA256.digest(of: contents)
        guard actual == digest else { throw .wrongDigest(expected: digest, actual: actual) }
        return contents
    }

    /// The unpacked bytes, exactly `size` of them.
    package static func unpack(
        _ bytes: [UInt8],
        size: ByteCount
    ) throws(GzipError) -> [UInt8] {
        let start = try headerLength(bytes)
        let end = bytes.count - 8
        guard start <= end, let checksum = bytes.uint32(at: end),
            let stated = bytes.uint32(at: end + 4)
        else { throw .endsEarly }
        // The file's own length: more than deflate can produce is refused before memory is
        // allocated.
        guard stated == UInt32(truncatingIfNeeded: size.bytes),
            size.bytes / ZipFormat.largestExpansion <= end - start
        else { throw .wrongSize(expected: size) }
        let contents: [UInt8]
        do throws(Deflate.Failure) {
            contents = try Deflate.inflate(bytes.span.extracting(start..<end), size: size.bytes)
        } catch {
            switch error {
            case .wrongSize: throw .wrongSize(expected: size)
            case .inputLeft: throw .trailingBytes
            case .badData: throw .badData
            }
        }
        guard Deflate.checksum(contents.span) == checksum else { throw .wrongChecksum }
        return contents
    }

    private static func headerLength(_ bytes: [UInt8]) throws(GzipError) -> Int {
        guard bytes.count >= 2, bytes[0] == 0x1F, bytes[1] == 0x8B else { throw .notGzip }
        guard bytes.count >= 18 else { throw .endsEarly }
        guard bytes[2] == 8 else { throw .unknownMethod(bytes[2]) }
        let flags = bytes[3]
        let known = flagText | flagCRC | flagExtra | flagName | flagComment
        guard flags & ~known == 0 else { throw .unknownFlags(flags) }
        var offset = 10
        if flags & flagExtra != 0 {
            guard let length = bytes.uint16(at: offset) else { throw .endsEarly }
            offset += 2 + Int(length)
        }
        for flag in [flagName, flagComment] where flags & flag != 0 {
            guard offset < bytes.count, let end = bytes[offset...].firstIndex(of: 0) else {
                throw .endsEarly
            }
            offset = end + 1
        }
        if flags & flagCRC != 0 {
            guard offset <= bytes.count, let stated = bytes.uint16(at: offset) else {
                throw .endsEarly
            }
            let actual = Deflate.checksum(bytes.span.extracting(0..<offset))
            guard stated == UInt16(truncatingIfNeeded: actual) else { throw .wrongChecksum }
            offset += 2
        }
        return offset
    }
}

import Base
import Images
import Testing
import Workbench

/// Gzip files of other programs, and hostile ones.
@Suite struct GzipTests {
    private static let contents = Array(String(repeating: "firmware ", count: 1_000).utf8)

    /// The contents, packed by the system's gzip.
    private static func packed(_ arguments: String...) throws -> [UInt8] {
        let scratch = try Scratch()
        let path = scratch.path + "/city.bin"
        try write(contents, to: path)
        switch arguments.first {
        case "-n": try run("gzip", "-n", path)
        default: try run("gzip", "-9", path)
        }
        return try Workbench.contents(path + ".gz")
    }

    private static func error(
        _ bytes: [UInt8],
        size: Int = contents.count
    ) -> GzipError? {
        do throws(GzipError) {
            _ = try Gzip.unpack(bytes, size: ByteCount(count: UInt(size)))
            return nil
        } catch { return error }
    }

    @Test(arguments: ["-n", "-9"])
    func `what gzip packs is unpacked, with or without a name in it`(option: String) throws {
        let bytes = try Self.packed(option)
        let size = try #require(ByteCount(bytes: Self.contents.count))
        let digest = SHA256.digest(of: Self.contents)
        #expect(try Gzip.unpack(bytes, size: size, digest: digest) == Self.contents)
    }

    @Test func `the inner digest decides`() throws {
        let bytes = try Self.packed("-n")
        let size = try #require(ByteCount(bytes: Self.contents.count))
        let wrong = SHA256.digest(of: [])
        let actual = SHA256.digest(of: Self.contents)
        #expect(throws: GzipError.wrongDigest(expected: wrong, actual: actual)) {
            try Gzip.unpack(bytes, size: size, digest: wrong)
        }
    }

    @Test func `more or less than the trusted size is refused`() throws {
        let bytes = try Self.packed("-n")
        for size in [0, 1, Self.contents.count - 1, Self.contents.count + 1, 1 << 30] {
            let expected = ByteCount(count: UInt(size))
            #expect(Self.error(bytes, size: size) == .wrongSize(expected: expected))
        }
        // The file declares a wrong size, which is the trusted one, but more bytes come out.
        var liar = bytes
        liar.replaceSubrange((liar.count - 4)..., with: [100, 0, 0, 0])
        #expect(
            Self.error(liar, size: 100) == .wrongSize(expected: ByteCount(count: 100))
        )
    }

    @Test func `a bomb is refused before memory is had for it`() throws {
        // The file declares 1 GiB and contains a few bytes.
        var bomb: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
        bomb += [0x63, 0x60, 0, 0, 0, 0, 0, 0, 0, 0, 0x40]
        bomb.replaceSubrange((bomb.count - 4)..., with: [0, 0, 0, 0x40])
        #expect(
            Self.error(bomb, size: 1 << 30)
                == .wrongSize(expected: ByteCount(count: 1 << 30))
        )
    }

    @Test func `two files in one, and anything behind the end, are refused`() throws {
        let bytes = try Self.packed("-n")
        #expect(Self.error(bytes + bytes) != nil)
        #expect(Self.error(bytes + [0]) != nil)
        #expect(Self.error(bytes + bytes.suffix(8)) == .trailingBytes)
    }

    @Test func `every cut is refused and every changed byte found or harmless`() throws {
        let bytes = try Self.packed("-9")
        for count in 0..<bytes.count { #expect(Self.error(Array(bytes.prefix(count))) != nil) }
        let size = ByteCount(count: UInt(Self.contents.count))
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 0x10
            if let contents = try? Gzip.unpack(changed, size: size) {
                #expect(contents == Self.contents)
            }
        }
    }

    @Test(
        arguments: [
            ([0x50, 0x4B], GzipError.notGzip), ([], .notGzip), ([0x1F], .notGzip),
            ([0x1F, 0x8B, 8], .endsEarly),
            ([0x1F, 0x8B, 9] + [UInt8](repeating: 0, count: 20), .unknownMethod(9)),
            ([0x1F, 0x8B, 8, 0x20] + [UInt8](repeating: 0, count: 20), .unknownFlags(0x20)),
            ([0x1F, 0x8B, 8, 4] + [UInt8](repeating: 0xFF, count: 20), .endsEarly),
            ([0x1F, 0x8B, 8, 8] + [UInt8](repeating: 0x41, count: 20), .endsEarly),
            ([0x1F, 0x8B, 8, 2] + [UInt8](repeating: 0x41, count: 20), .wrongChecksum),
        ] as [([UInt8], GzipError)]
    )
    func `a head that is none is told`(bytes: [UInt8], expected: GzipError) {
        #expect(Self.error(bytes) == expected)
    }
}

import Base
import Glibc
import Images
import Testing
import Workbench

@Suite struct ZipTests {
    /// The reason why bytes are not an archive, or why its first bad entry is invalid.
    private func reason(_ bytes: [UInt8]) -> ZipError.Reason? {
        do throws(ZipError) {
            let archive = try ZipArchive(bytes)
            for name in archive.names { _ = try archive.contents(of: name) }
            return nil
        } catch {
            return error.reason
        }
    }

    private func archive(_ files: [(String, [UInt8])], _ method: ZipMethod = .deflated) throws
        -> [UInt8]
    {
        var writer = ZipWriter()
        for (name, contents) in files { try writer.add(name, contents, method: method) }
        return writer.finish()
    }

    /// The offset of a signature, by its index from 0.
    private func offset(of signature: [UInt8], _ index: Int = 0, in bytes: [UInt8]) throws -> Int {
        let found = bytes.indices.filter { bytes[$0...].starts(with: signature) }
        return try #require(found.indices.contains(index) ? found[index] : nil)
    }

    private let local: [UInt8] = [0x50, 0x4B, 3, 4]
    private let central: [UInt8] = [0x50, 0x4B, 1, 2]
    private let end: [UInt8] = [0x50, 0x4B, 5, 6]

    @Test(arguments: ZipMethod.allCases)
    func `what is written is read back, the same bytes every time`(method: ZipMethod) throws {
        let files: [(String, [UInt8])] = [
            ("manifest.json", Array("{}".utf8)), ("empty", []),
            ("a/b c.bin", random(9_999, seed: 3)),
            ("zeros", [UInt8](repeating: 0, count: 200_000)), ("\u{E4}\u{F6}.txt", [1]),
        ]
        let bytes = try archive(files, method)
        #expect(try archive(files, method) == bytes)
        let read = try ZipArchive(bytes)
        #expect(read.names == files.map(\.0))
        for (name, contents) in files { #expect(try read.contents(of: name) == contents) }
        #expect(try ZipArchive(ZipWriter().finish()).names.isEmpty)
    }

    @Test func `a name that is not there is reported`() throws {
        let read = try ZipArchive(try archive([("a", [1])]))
        let error = #expect(throws: ZipError.self) { try read.contents(of: "b") }
        #expect(error?.reason == .noSuchEntry)
        #expect(error?.entry == "b")
    }

    @Test(.enabled(if: access("/usr/bin/python3", X_OK) == 0, "needs python3"))
    func `archives of another program are read, and ours by it`() throws {
        let scratch = try Scratch()
        let script = """
            import io, sys, zipfile, random
            folder = sys.argv[1]
            class Stream(io.RawIOBase):
                # Cannot seek, so that sizes follow the data.
                def __init__(self, file): self.file = file
                def writable(self): return True
                def write(self, data): return self.file.write(data)
            data = random.Random(5).randbytes(70000) + bytes(70000)
            for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                for stream in (False, True):
                    with open(f'{folder}/{method}{int(stream)}.zip', 'wb') as file:
                        with zipfile.ZipFile(Stream(file) if stream else file, 'w', method) as zip:
                            zip.mkdir('folder')
                            zip.writestr('folder/data', data)
                            zip.writestr('\u{E9}', b'')
                            zip.comment = b'a comment PK\\x05\\x06'
            open(folder + '/data', 'wb').write(data)
            ours = zipfile.ZipFile(folder + '/ours.zip')
            assert ours.testzip() is None
            assert ours.namelist() == ['x/y', '\u{E9}'], ours.namelist()
            assert ours.read('x/y') == bytes(range(256)) * 9
            """
        let pattern = (0..<9).flatMap { _ in (0...255).map(UInt8.init) }
        try write(try archive([("x/y", pattern), ("\u{E9}", [])]), to: scratch.path + "/ours.zip")
        try #require(try run("/usr/bin/python3", "-c", script, scratch.path) == 0)
        let data = try contents(scratch.path + "/data")
        for name in ["00", "01", "80", "81"] {
            let read = try ZipArchive(try contents("\(scratch.path)/\(name).zip"))
            #expect(read.names == ["folder/data", "\u{E9}"])
            #expect(try read.contents(of: "folder/data") == data)
            #expect(try read.contents(of: "\u{E9}") == [])
        }
    }

    @Test(arguments: [
        "", "/etc/passwd", "../up", "a/../b", "a/./b", "a//b", "C:x", "a\\b", "a\nb", "a\u{7F}",
        "..", ".", "/", String(repeating: "n", count: 256),
    ])
    func `a name that could lead elsewhere is neither written nor read`(name: String) throws {
        var writer = ZipWriter()
        let error = #expect(throws: ZipError.self) { try writer.add(name, [1]) }
        #expect(error?.reason == .badName)
        guard (1...255).contains(name.utf8.count) else { return }
        // Harmless letters of the same length, overwritten in both headers.
        let harmless = String(repeating: "n", count: name.utf8.count)
        var bytes = try archive([(harmless, [1])])
        for start in [30, try offset(of: central, in: bytes) + 46] {
            bytes.replaceSubrange(start..<start + name.utf8.count, with: name.utf8)
        }
        #expect(reason(bytes) == .badName)
    }

    @Test(arguments: [[0xFF, 0x41], [0xC0, 0x80], [0xC3, 0xA9]] as [[UInt8]])
    func `a name in no known encoding is refused`(name: [UInt8]) throws {
        var bytes = try archive([("nn", [1])])
        for start in [30, try offset(of: central, in: bytes) + 46] {
            bytes.replaceSubrange(start..<start + 2, with: name)
        }
        #expect(reason(bytes) == .badName)
    }

    @Test func `a name that differs only in case is a duplicate`() throws {
        var writer = ZipWriter()
        try writer.add("App.bin", [1])
        let error = #expect(throws: ZipError.self) { try writer.add("app.BIN", [2]) }
        #expect(error?.reason == .duplicateName)
        var bytes = try archive([("App.bin", [1]), ("apq.BIN", [2])])
        for (signature, length) in [(local, 30), (central, 46)] {
            bytes[try offset(of: signature, 1, in: bytes) + length + 2] = 0x70
        }
        #expect(reason(bytes) == .duplicateName)
    }

    /// One field of the directory (and of the entry's own header), with the name of its change.
    @Test(
        arguments: [
            ("encrypted", 8, 6, 1, ZipError.Reason.encrypted),
            ("strongly encrypted", 8, 6, 1 << 6, .encrypted),
            ("masked", 9, 7, 1 << 5, .encrypted),
            ("patch data", 8, 6, 1 << 5, .unknownFlags(1 << 5)),
            ("unknown method", 10, 8, 12, .unknownMethod(12)),
            ("on another disk", 34, nil, 1, .spansDisks),
            ("a symbolic link", 41, nil, 0xA1, .notAFile),
            ("a device", 41, nil, 0x61, .notAFile),
            ("a directory by mode", 41, nil, 0x41, .notAFile),
        ] as [(String, Int, Int?, UInt8, ZipError.Reason)]
    )
    func `an entry that is more than a plain file is refused`(
        what: String,
        inDirectory: Int,
        inHeader: Int?,
        value: UInt8,
        expected: ZipError.Reason
    ) throws {
        var bytes = try archive([("a", [1, 2, 3])])
        bytes[try offset(of: central, in: bytes) + inDirectory] = value
        if let inHeader { bytes[inHeader] = value }
        #expect(reason(bytes) == expected, "\(what)")
    }

    @Test func `a file with two headers that differ is refused`() throws {
        let good = try archive([("a", [1, 2, 3])])
        let directory = try offset(of: central, in: good)
        // Flags, method, checksum, both sizes, name: each in the entry's own header only.
        for at in [6, 8, 14, 18, 22, 26, 30] {
            var bytes = good
            bytes[at] ^= 2
            #expect([.headersDiffer, .endsEarly].contains(reason(bytes)), "at \(at)")
        }
        var bytes = good
        bytes[directory + 16] ^= 1
        bytes[14] ^= 1
        #expect(reason(bytes) == .wrongChecksum)
    }

    @Test func `two entries may not share bytes`() throws {
        let good = try archive([("a", [1, 2, 3]), ("b", [1, 2, 3])], .stored)
        var bytes = good
        let second = try offset(of: central, 1, in: bytes)
        // The second entry points to the header of the first, which has another name.
        bytes.replaceSubrange(second + 42..<second + 46, with: [0, 0, 0, 0])
        #expect(reason(bytes) == .headersDiffer)
        // The first entry is made longer, so that it contains the header of the second.
        bytes = good
        let first = try offset(of: central, in: bytes)
        for at in [18, 22, first + 20, first + 24] { bytes[at] = 3 + 34 }
        #expect(reason(bytes) == .overlaps)
        // The only entry extends into the directory.
        bytes = try archive([("a", [1, 2, 3])], .stored)
        let only = try offset(of: central, in: bytes)
        for at in [18, 22, only + 20, only + 24] { bytes[at] = 9 }
        #expect(reason(bytes) == .overlaps)
    }

    @Test func `more entries than sense are refused`() throws {
        var writer = ZipWriter()
        for number in 0..<64 { try writer.add("f\(number)", []) }
        #expect(try ZipArchive(writer.finish()).names.count == 64)
        let error = #expect(throws: ZipError.self) { try writer.add("one more", []) }
        #expect(error?.reason == .tooManyEntries(limit: 64))
        var bytes = writer.finish()
        let record = try offset(of: end, in: bytes)
        for at in [8, 10] { bytes[record + at] = 65 }
        #expect(reason(bytes) == .tooManyEntries(limit: 64))
    }

    @Test func `zip64 and archives over several disks are refused`() throws {
        let good = try archive([("a", [1])])
        let record = try offset(of: end, in: good)
        let directory = try offset(of: central, in: good)
        for (at, count) in [(10, 2), (12, 4), (16, 4)] {
            var bytes = good
            for index in 0..<count { bytes[record + at + index] = 0xFF }
            #expect(reason(bytes) == .zip64, "end record at \(at)")
        }
        for at in [20, 24, 42] {
            var bytes = good
            for index in 0..<4 { bytes[directory + at + index] = 0xFF }
            #expect(reason(bytes) == .zip64, "directory at \(at)")
        }
        let locator: [UInt8] = [0x50, 0x4B, 6, 7] + [UInt8](repeating: 0, count: 16)
        #expect(reason(Array(good[..<record]) + locator + good[record...]) == .zip64)
        for at in [4, 6, 8] {
            var bytes = good
            bytes[record + at] ^= 2
            #expect(reason(bytes) == .spansDisks, "end record at \(at)")
        }
    }

    @Test(
        arguments: [
            ([1, 0, 0, 0], ZipError.Reason.zip64), ([0x75, 0x70, 0, 0], .badName),
            ([9, 9, 1, 0], .badExtraField), ([9, 9, 0], .badExtraField), ([9, 9, 0, 0], nil),
            ([9, 9, 1, 0, 7, 8, 8, 0, 0], nil), ([9, 9, 0xFF, 0xFF], .badExtraField),
        ] as [([UInt8], ZipError.Reason?)]
    )
    func `extra fields are walked, and those that change the meaning refused`(
        field: [UInt8],
        expected: ZipError.Reason?
    ) throws {
        let good = try archive([("a", [1])])
        let directory = try offset(of: central, in: good)
        var bytes = good
        bytes[directory + 30] = UInt8(field.count)
        bytes.insert(contentsOf: field, at: directory + 47)
        let record = try offset(of: end, in: bytes)
        bytes[record + 12] += UInt8(field.count)
        #expect(reason(bytes) == expected)
    }

    @Test func `a bomb is refused before memory is spent on it`() throws {
        // An entry that declares far more bytes than its packed data can contain.
        let good = try archive([("zeros", [UInt8](repeating: 0, count: 1 << 20))])
        let directory = try offset(of: central, in: good)
        for size in [0x0FFF_FFFF, 0x0400_0001] as [UInt32] {
            var bytes = good
            for (start, shift) in [22, directory + 24].flatMap({ at in (0..<4).map { (at + $0, $0) }
            }) {
                bytes[start] = UInt8(truncatingIfNeeded: size >> (8 * shift))
            }
            #expect(reason(bytes) == .wrongSize)
        }
        // An entry that declares one byte more than its data has, and one that declares fewer.
        for change in [1, 255] as [UInt8] {
            var bytes = good
            for at in [22, directory + 24] { bytes[at] = bytes[at] &+ change }
            for at in [24, directory + 26] { bytes[at] = change == 255 ? 0x0F : 0x10 }
            #expect(reason(bytes) == .wrongSize)
        }
        // Each entry is small enough, but all of them together are too large.
        var writer = ZipWriter()
        let part = [UInt8](repeating: 0, count: 17 << 20)
        for number in 0..<4 { try writer.add("\(number)", part) }
        #expect(reason(writer.finish()) == .tooLarge(limit: 64 << 20))
    }

    @Test func `packed data with something behind its end are refused`() throws {
        let good = try archive([("a", [UInt8](repeating: 7, count: 100))])
        let directory = try offset(of: central, in: good)
        var bytes = good
        bytes.insert(0, at: directory)
        for at in [18, directory + 1 + 20] { bytes[at] += 1 }
        bytes[try offset(of: end, in: bytes) + 16] += 1
        #expect(reason(bytes) == .wrongSize)
    }

    @Test func `an archive cut off or continued anywhere is refused`() throws {
        let bytes = try archive([("a", random(50, seed: 1)), ("b", Array("bbbbbbbb".utf8))])
        for length in 0..<bytes.count {
            #expect(reason(Array(bytes.prefix(length))) != nil, "cut to \(length)")
        }
        #expect(reason(bytes + [0]) != nil)
        #expect(reason([0] + bytes) != nil)
        #expect(reason(bytes + bytes) != nil)
    }

    @Test(arguments: ZipMethod.allCases)
    func `any one changed byte does no harm or is found`(method: ZipMethod) throws {
        let files: [(String, [UInt8])] = [
            ("manifest.json", Array(#"{"manifest":{}}"#.utf8)), ("b", random(40, seed: 2)),
            ("c", []),
        ]
        let good = try archive(files, method)
        var found = 0
        for at in good.indices {
            for change in [1, 2, 4, 8, 16, 32, 64, 128, 255] as [UInt8] {
                var bytes = good
                bytes[at] ^= change
                guard let read = try? ZipArchive(bytes),
                    let contents = try? read.names.map({ try read.contents(of: $0) })
                else {
                    found += 1
                    continue
                }
                #expect(read.names == files.map(\.0), "at \(at)")
                #expect(contents == files.map(\.1), "at \(at)")
            }
        }
        #expect(found > good.count * 5)
    }

    @Test(arguments: 0..<8) func `random damage never traps`(seed: Int) throws {
        let noise = random(90, seed: 4)
        var random = SplitMix64(seed: UInt64(seed))
        let bases = [
            try archive([("a", noise), ("b/c", [1, 2, 3])]),
            try archive([("a", noise), ("b/c", [1, 2, 3])], .stored),
            try fixture("all.zip").suffix(1_500).map { $0 },
        ]
        var refused = 0
        for _ in 0..<2_000 {
            var bytes = bases[random.below(bases.count)]
            for _ in 0...random.below(6) {
                let at = random.below(bytes.count)
                switch random.below(4) {
                case 0: bytes[at] = [0, 1, 0x7F, 0x80, 0xFF][random.below(5)]
                case 1: bytes[at] = UInt8(truncatingIfNeeded: random.next())
                case 2: bytes.remove(at: at)
                default: bytes.insert(bytes[random.below(bytes.count)], at: at)
                }
            }
            if reason(bytes) != nil { refused += 1 }
        }
        #expect(refused > 1_000)
    }

    @Test(
        arguments: [[], [0x50], [0x50, 0x4B, 5, 6], Array("<html>404</html>".utf8)] as [[UInt8]]
    )
    func `what is no archive is said to be none`(bytes: [UInt8]) {
        #expect(reason(bytes) == .notAnArchive)
    }

    @Test func `a hostile name is shown harmlessly`() {
        let name = "\u{1B}[2J" + String(repeating: "x", count: 500)
        let error = #expect(throws: ZipError.self) {
            var writer = ZipWriter()
            try writer.add(name, [])
        }
        #expect(error?.description.contains("\u{1B}") == false)
        #expect((error?.description.utf8.count ?? 999) < 200)
    }
}

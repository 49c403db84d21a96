import Base
import Images
import Testing

/// Archives of SWUpdate, which a server delivers.
@Suite struct CpioTests {
    /// An archive of these files.
    private static func archive(
        _ files: [(name: String, content: [UInt8])],
        magic: String = "070701"
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        func pad() { while bytes.count % 4 != 0 { bytes.append(0) } }
        for (name, content) in files + [("TRAILER!!!", [])] {
            let numbers = [0, 0, 0, 0, 1, 0, content.count, 0, 0, 0, 0, name.utf8.count + 1, 0]
            bytes += magic.utf8
            for number in numbers {
                let digits = String(number, radix: 16)
                bytes += (String(repeating: "0", count: 8 - digits.count) + digits).utf8
            }
            bytes += Array(name.utf8) + [0]
            pad()
            bytes += content
            pad()
        }
        return bytes
    }

    private static let files: [(String, [UInt8])] = [
        ("sw-description", Array("software".utf8)), ("sensor.bin", [1, 2, 3, 4, 5]), ("empty", []),
    ]

    @Test(arguments: ["070701", "070702"])
    func `a file is found by its name`(magic: String) throws {
        let archive = Self.archive(Self.files, magic: magic)
        for (name, content) in Self.files {
            #expect(try CpioArchive.contents(of: name, in: archive) == content)
        }
        #expect(throws: CpioError.missing("other")) {
            try CpioArchive.contents(of: "other", in: archive)
        }
        #expect(throws: CpioError.missing("TRAILER!!!")) {
            try CpioArchive.contents(of: "TRAILER!!!", in: archive)
        }
    }

    @Test func `two files of one name are refused`() {
        let archive = Self.archive([("a", [1]), ("a", [2])])
        #expect(throws: CpioError.twice("a")) { try CpioArchive.contents(of: "a", in: archive) }
    }

    @Test func `an archive that is cut anywhere is refused`() {
        let archive = Self.archive(Self.files)
        for count in 0..<(archive.count - 4) {
            #expect(throws: CpioError.self, "\(count)") {
                try CpioArchive.contents(of: "sensor.bin", in: Array(archive.prefix(count)))
            }
        }
    }

    @Test func `a size beyond the end, digits that are none and an endless archive are refused`() {
        var huge = Self.archive(Self.files)
        huge.replaceSubrange(54..<62, with: Array("ffffffff".utf8))
        #expect(throws: CpioError.endsEarly) { try CpioArchive.contents(of: "a", in: huge) }
        var wrong = Self.archive(Self.files)
        wrong[60] = 0x67
        #expect(throws: CpioError.notAnArchive) { try CpioArchive.contents(of: "a", in: wrong) }
        let other = Self.archive(Self.files, magic: "070707")
        #expect(throws: CpioError.notAnArchive) { try CpioArchive.contents(of: "a", in: other) }
        let many = Self.archive((0..<1_100).map { ("f\($0)", []) })
        #expect(throws: CpioError.tooManyFiles(limit: 1_024)) {
            try CpioArchive.contents(of: "a", in: many)
        }
    }
}

import Base
import Glibc
import Testing

@Suite struct TextFileTests {
    /// Calls `body` with a new directory, and removes the directory with its contents.
    private func withDirectory(_ body: (String) throws -> Void) throws {
        var template = Array("/tmp/yardmaster-XXXXXX".utf8CString)
        let made = template.withUnsafeMutableBufferPointer {
            $0.baseAddress.flatMap { mkdtemp($0) } != nil
        }
        try #require(made)
        let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        defer { _ = ["pipe", "file", "link", "sub"].map { remove("\(path)/\($0)") }; rmdir(path) }
        try body(path)
    }

    private func write(_ bytes: [UInt8], to path: String) throws {
        let file = try #require(fopen(path, "w"))
        fwrite(bytes, 1, bytes.count, file)
        fclose(file)
    }

    private func reason(_ path: String, limit: Int = 100) -> FileError.Reason? {
        do throws(FileError) {
            _ = try TextFile.read(path: path, limit: limit)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test func `a regular file is read up to its limit`() throws {
        try withDirectory { directory in
            let path = directory + "/file"
            try write(Array(1...100), to: path)
            #expect(try TextFile.read(path: path, limit: 100) == Array(1...100))
            #expect(reason(path, limit: 99) == .tooLarge(limit: 99))
            symlink(path, directory + "/link")
            #expect(try TextFile.read(path: directory + "/link", limit: 100).count == 100)
        }
    }

    @Test func `what could never end is refused at once`() throws {
        try withDirectory { directory in
            mkfifo(directory + "/pipe", 0o600)
            #expect(reason(directory + "/pipe") == .notAFile)
            #expect(reason(directory) == .notAFile)
            #expect(reason("/dev/zero") == .notAFile)
        }
    }

    @Test func `what cannot be opened says why`() throws {
        try withDirectory { directory in
            #expect(reason(directory + "/none") == .missing)
            #expect(reason("/dev/null/x") == .missing)
            #expect(reason("") == .badPath)
            #expect(reason("a\u{0}b") == .badPath)
            #expect(reason(String(repeating: "a", count: 5_000)) == .badPath)
            symlink("link", directory + "/link")
            #expect(reason(directory + "/link") == .badPath)
        }
        #expect(
            FileError(path: "a.yaml", reason: .missing).description
                == "cannot read `a.yaml`: no such file"
        )
    }

    @Test func `a file whose size is not known beforehand is still limited`() {
        // The kernel reports a size of 0 for files in /proc.
        #expect(reason("/proc/self/maps", limit: 10) == .tooLarge(limit: 10))
    }
}

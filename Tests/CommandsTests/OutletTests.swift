import Commands
import Glibc
import Operations
import Testing

@Suite struct OutletTests {
    /// Both ends of a pipe, closed in `deinit`.
    private final class Pipe {
        private(set) var reader: CInt
        let writer: CInt

        init() throws {
            var ends: [CInt] = [-1, -1]
            try #require(pipe(&ends) == 0)
            (reader, writer) = (ends[0], ends[1])
            // The program does the same at its start.
            signal(SIGPIPE, SIG_IGN)
        }

        deinit {
            closeReader()
            close(writer)
        }

        func closeReader() {
            if reader >= 0 { close(reader) }
            reader = -1
        }

        /// Reads until the text ends with `end`.
        func read(upTo end: String) -> String {
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while !bytes.suffix(end.utf8.count).elementsEqual(end.utf8) {
                let got = Glibc.read(reader, &buffer, buffer.count)
                guard got > 0 else { break }
                bytes += buffer[..<got]
            }
            return String(decoding: bytes, as: UTF8.self)
        }

        /// Reads `count` bytes, or fewer when the pipe ends before.
        func read(_ count: Int) -> String {
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while bytes.count < count {
                let got = Glibc.read(reader, &buffer, min(buffer.count, count - bytes.count))
                guard got > 0 else { break }
                bytes += buffer[..<got]
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    @Test func `text arrives in order, whichever stream it is for`() async throws {
        let (one, two) = (try Pipe(), try Pipe())
        let outlet = try Outlet.open(name: "test")
        async let written: Void = outlet.pump()
        for number in 0..<100 {
            outlet.write(
                "\(number),",
                to: number.isMultiple(of: 2) ? one.writer : two.writer,
                mayDrop: false
            )
        }
        outlet.finish()
        await written
        let even = stride(from: 0, to: 100, by: 2).map { "\($0)," }.joined()
        let odd = stride(from: 1, to: 100, by: 2).map { "\($0)," }.joined()
        #expect(one.read(even.utf8.count) == even)
        #expect(two.read(odd.utf8.count) == odd)
        #expect(outlet.failure(of: one.writer) == nil)
    }

    @Test func `a held reader holds nobody up, and what must arrive does`() async throws {
        let pipe = try Pipe()
        let outlet = try Outlet.open(name: "test")
        async let written: Void = outlet.pump()
        let line = String(repeating: "x", count: 1_023) + "\n"
        // Nothing reads: a pipe holds 64 KiB, so a write that waited would block forever.
        for _ in 0..<4_096 { outlet.write(line, to: pipe.writer, mayDrop: true) }
        outlet.write("the result\n", to: pipe.writer, mayDrop: false)
        outlet.finish()
        let text = pipe.read(upTo: "the result\n")
        await written
        // Some lines were dropped, and every other line is complete.
        let lines = text.split(separator: "\n")
        #expect(lines.count < 4_096)
        #expect(lines.count >= 1_024)
        #expect(lines.dropLast().allSatisfy { $0.utf8.count == 1_023 })
    }

    @Test func `a reader that went away is passed over, and others are served`() async throws {
        let (gone, there) = (try Pipe(), try Pipe())
        gone.closeReader()
        let outlet = try Outlet.open(name: "test")
        async let written: Void = outlet.pump()
        for _ in 0..<3 {
            outlet.write("a", to: gone.writer, mayDrop: false)
            outlet.write("b", to: there.writer, mayDrop: false)
        }
        outlet.finish()
        await written
        #expect(there.read(3) == "bbb")
        #expect(outlet.failure(of: gone.writer) == nil)
    }

    @Test func `a full disk is reported`() async throws {
        let full = open("/dev/full", O_WRONLY)
        defer { close(full) }
        let outlet = try Outlet.open(name: "test")
        async let written: Void = outlet.pump()
        outlet.write("a", to: full, mayDrop: false)
        outlet.finish()
        await written
        #expect(outlet.failure(of: full) == "No space left on device")
    }
}

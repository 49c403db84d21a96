import Foundation

/// A program on a private terminal: a test presses its keys and reads its output.
package final class Pty {
    private let master: Int32
    private let process = Process()
    private var seen: [UInt8] = []
    /// The number of output bytes that a screen has been given.
    private var drawn = 0

    /// Starts the program with the terminal as its controlling terminal, by setsid(1).
    package init(
        _ program: String,
        _ arguments: [String],
        in folder: String,
        columns: UInt16 = 100,
        lines: UInt16 = 30
    ) throws {
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        // This is what unlockpt(3) and ptsname(3) do, which Swift does not import.
        var (locked, number): (Int32, UInt32) = (0, 0)
        guard master >= 0, ioctl(master, 0x4004_5431, &locked) == 0,
            ioctl(master, 0x8004_5430, &number) == 0
        else { throw FileFailure("to open a terminal") }
        let slave = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard slave >= 0 else { throw FileFailure("to open the terminal's other side") }
        // Foundation takes the descriptor and closes it.
        let handle = FileHandle(fileDescriptor: slave, closeOnDealloc: true)
        process.executableURL = URL(filePath: "/usr/bin/setsid")
        let size = "stty cols \(columns) rows \(lines); exec \"$@\""
        process.arguments =
            ["--ctty", "--wait", "/bin/sh", "-c", size, "sh", program] + arguments
        process.currentDirectoryURL = URL(filePath: folder)
        process.environment = ProcessInfo.processInfo.environment.merging([
            "TERM": "xterm", "LANG": "C.UTF-8",
        ]) { $1 }
        process.environment?["NO_COLOR"] = nil
        process.standardInput = handle
        process.standardOutput = handle
        process.standardError = handle
        try process.run()
        // The terminal ends with the program, when no other process has it open.
        try handle.close()
    }

    deinit {
        if process.isRunning { process.terminate() }
        close(master)
    }

    package static let interrupt: UInt8 = 3

    package func press(_ key: UInt8) {
        var key = key
        _ = write(master, &key, 1)
    }

    /// Changes the size of the terminal; the program gets a signal.
    package func resize(columns: UInt16, lines: UInt16) {
        var size = winsize(ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(master, UInt(TIOCSWINSZ), &size)
    }

    /// Draws the new output since the last time, and further output, until the screen shows what is
    /// expected.
    package func draw(on screen: inout Screen, until isShown: (Screen) -> Bool) throws {
        while true {
            // The last character may have arrived only in part.
            let whole = seen.lastIndex { $0 & 0xC0 != 0x80 }.map { last in
                let bytes =
                    seen[last] < 0x80 ? 1 : seen[last] < 0xE0 ? 2 : seen[last] < 0xF0 ? 3 : 4
                return seen.count - last < bytes ? last : seen.count
            }
            let end = whole ?? drawn
            screen.write(String(decoding: seen[drawn..<max(drawn, end)], as: UTF8.self))
            drawn = max(drawn, end)
            if isShown(screen) { return }
            guard try readMore() else {
                throw NotInTime(description: "the program ended before it was shown: \(screen.all)")
            }
        }
    }

    /// The whole output so far.
    package var text: String { String(decoding: seen, as: UTF8.self) }

    /// Reads until the output contains the words; they may be there already.
    package func wait(for words: String) throws {
        while !text.contains(words) {
            guard try readMore() else {
                throw NotInTime(description: "the program ended without \(words): \(text)")
            }
        }
    }

    /// Reads to the end, and returns the exit code.
    package func end() throws -> Int32 {
        var isThere = true
        while isThere { isThere = try readMore() }
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// False when no process has the terminal open any more.
    private func readMore() throws -> Bool {
        var waiting = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, 120_000) > 0 else {
            throw NotInTime(
                description: "the program said nothing for two minutes; before: \(text)"
            )
        }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = read(master, &buffer, buffer.count)
        guard count > 0 else { return false }
        seen += buffer[..<count]
        return true
    }
}

import Foundation
import Workbench

/// A process of `serve` beside a test.
final class Serving {
    private let process = Process()
    private let notes: String
    let port: UInt16

    init(_ program: Program, _ arguments: [String] = ["--listen", "127.0.0.1:0"]) throws {
        notes = program.folder.path + "/serve-\(UUID().uuidString).err"
        _ = FileManager.default.createFile(atPath: notes, contents: nil)
        process.executableURL = URL(filePath: Program.path)
        // A list of tokens counts all the same.
        process.arguments = ["serve", "--open", "--state", program.state] + arguments
        process.currentDirectoryURL = URL(filePath: program.folder.path)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = try FileHandle(forWritingTo: URL(filePath: notes))
        try process.run()
        let (process, notes) = (process, notes)
        func said() -> String { (try? String(contentsOfFile: notes, encoding: .utf8)) ?? "" }
        try wait(for: "the server to serve") {
            said().contains("serving on ") || !process.isRunning
        }
        let match = said().firstMatch(of: /http:\/\/127\.0\.0\.1:(\d+)\//)
        port = match.flatMap { UInt16($0.1) } ?? 0
    }

    deinit { if process.isRunning { process.terminate() } }

    /// The number of its open files and connections.
    var descriptors: Int {
        let folder = "/proc/\(process.processIdentifier)/fd"
        return (try? FileManager.default.contentsOfDirectory(atPath: folder).count) ?? 0
    }

    func client() throws -> RawClient { try RawClient(port: port) }

    func ask(_ bytes: String) throws -> RawAnswer {
        let client = try client()
        client.send(bytes)
        return RawAnswer(try client.rest())
    }

    func get(_ path: String, _ headers: [String] = [], host: String = "localhost") throws
        -> RawAnswer
    {
        let lines =
            ["GET \(path) HTTP/1.1", "Host: \(host)", "Connection: close"] + headers
        return try ask(lines.joined(separator: "\r\n") + "\r\n\r\n")
    }

    /// Kills it, as the kernel does when memory runs out.
    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// What it has written to standard error.
    var said: String { (try? String(contentsOfFile: notes, encoding: .utf8)) ?? "" }

    /// Ends it and returns its exit code.
    func stop() -> Int32 {
        process.terminate()
        process.waitUntilExit()
        return process.terminationStatus
    }
}

import Foundation

/// A built example of the library, run as the documents describe.
enum ExampleProgram {
    /// Runs it to its end; in the repository, or in another folder when one is given.
    static func run(
        _ name: String,
        _ arguments: [String],
        in folder: String? = nil
    ) throws -> (status: Int32, output: String) {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: Program.path).deletingLastPathComponent()
            .appending(path: name)
        process.arguments = arguments
        process.currentDirectoryURL = folder.map { URL(filePath: $0) } ?? Program.repository
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        try process.run()
        let text = String(
            decoding: output.fileHandleForReading.readDataToEndOfFile(),
            as: UTF8.self
        )
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }
}

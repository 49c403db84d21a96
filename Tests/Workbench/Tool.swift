import Foundation

/// A program of the machine that a test runs; the test is skipped where it is not installed.
package struct Tool {
    package struct Result {
        package let status: Int32
        package let output: String
        package let errors: String
    }

    package let path: String

    package static func isInstalled(_ name: String) -> Bool { Tool(name) != nil }

    /// Nil when no directory of the path contains it.
    package init?(_ name: String) {
        let directories = ["/usr/bin", "/bin", "/usr/local/bin"]
        guard
            let path = directories.map({ $0 + "/" + name })
                .first(where: { FileManager.default.isExecutableFile(atPath: $0) })
        else { return nil }
        self.path = path
    }

    package init(path: String) { self.path = path }

    package func run(
        _ arguments: [String],
        input: String = "",
        environment: [String: String] = ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"]
    ) throws -> Result {
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.environment = environment
        let (stdin, stdout, stderr) = (Pipe(), Pipe(), Pipe())
        process.standardInput = stdin
        process.standardOutput = stdout
        process.standardError = stderr
        try process.run()
        try stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try stdin.fileHandleForWriting.close()
        let output = try stdout.fileHandleForReading.readToEnd() ?? Data()
        let errors = try stderr.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Result(
            status: process.terminationStatus,
            output: String(decoding: output, as: UTF8.self),
            errors: String(decoding: errors, as: UTF8.self)
        )
    }
}

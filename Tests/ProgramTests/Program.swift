import Foundation

/// The built program, run as a shell would run it.
struct Program {
    /// The path of the program, beside the test program.
    static let path = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appending(path: "yardmaster").path(percentEncoded: false)

    /// The repository, which contains the shipped manifests.
    static let repository = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    struct Result {
        let status: Int32
        let output: String
        let errors: String

        var lastLine: String { output.split(separator: "\n").last.map(String.init) ?? "" }
    }

    let folder: Scratch

    init() throws { folder = try Scratch() }

    var state: String { folder.path + "/state" }

    /// Runs the program to its end; `environment` is added to this process's environment.
    func run(
        _ arguments: [String],
        environment: [String: String] = [:],
        input: String? = nil
    ) throws -> Result {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: Self.path)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.currentDirectoryURL = URL(filePath: folder.path)
        process.standardInput =
            try input.map {
                try FileHandle(forReadingAtPath: write("input", $0)) ?? .nullDevice
            } ?? FileHandle.nullDevice
        process.standardOutput = output
        // A file, because two pipes that are read one after the other could block the program.
        let file = URL(filePath: folder.path + "/stderr-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        process.standardError = try FileHandle(forWritingTo: file)
        try process.run()
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Result(
            status: process.terminationStatus,
            output: String(decoding: bytes, as: UTF8.self),
            errors: String(decoding: try Data(contentsOf: file), as: UTF8.self)
        )
    }

    /// Starts the program and leaves it running.
    func start(_ arguments: [String]) throws -> Process {
        let process = Process()
        process.executableURL = URL(filePath: Self.path)
        process.arguments = arguments
        process.currentDirectoryURL = URL(filePath: folder.path)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }

    /// Writes a file into the folder and returns its path.
    @discardableResult
    func write(_ name: String, _ text: String, mode: Int = 0o600) throws -> String {
        try write(name, Data(text.utf8), mode: mode)
    }

    @discardableResult
    func write(_ name: String, _ bytes: Data, mode: Int = 0o600) throws -> String {
        let path = folder.path + "/" + name
        try bytes.write(to: URL(filePath: path))
        try FileManager.default.setAttributes(
            [.posixPermissions: mode],
            ofItemAtPath: path
        )
        return path
    }

    /// The file as a rehearsal in the state directory has it: its copy, if there is one.
    func rehearsed(_ name: String) -> String {
        let path = folder.path + "/" + name
        let above = URL(filePath: path).deletingLastPathComponent().resolvingSymlinksInPath().path
        let copy = state + "/rehearsed/files\(above)/\((name as NSString).lastPathComponent)"
        return FileManager.default.fileExists(atPath: copy) ? copy : path
    }

    /// Copies the shipped demo into the folder, with a private key.
    func copyDemo() throws {
        let demo = Self.repository.appending(path: "manifests/demo")
        let copy = URL(filePath: folder.path + "/demo")
        try FileManager.default.copyItem(at: demo, to: copy)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600],
            ofItemAtPath: copy.appending(path: "keys/demo.key").path
        )
    }

    /// The demo's run with the depot of this name.
    func demo(_ depot: String = "depot", _ more: String...) -> [String] {
        ["run", "demo/rollout.yaml", "--simulate", "demo/\(depot).yaml", "--state", state] + more
    }
}

/// A folder that is removed with the test.
final class Scratch: Sendable {
    let path: String

    init() throws {
        path =
            FileManager.default.temporaryDirectory
            .appending(path: "yardmaster-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: path,
            withIntermediateDirectories: false
        )
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

import Foundation
import Testing
import Workbench

/// Reports and event files: what may be in their place, and what nobody reads.
@Suite struct OutputTests {
    @Test(arguments: ["night.prom", "night.html"])
    func `a pipe, a folder or a link in the place of a report is refused before radio work`(
        name: String
    ) throws {
        let yard = try PromiseYard()
        try yard.manifest(steps: "[{command: lock}]")
        let path = "\(yard.program.folder.path)/\(name)"
        let outside = try yard.program.write("outside", "kept")
        let makers: [() throws -> Void] = [
            { try #require(mkfifo(path, 0o600) == 0) },
            { try #require(mkdir(path, 0o700) == 0) },
            { try #require(symlink(outside, path) == 0) },
            { try #require(symlink("/dev/full", path) == 0) },
        ]
        for make in makers {
            try make()
            let run = try yard.run("yard", "--report", name)
            #expect(run.status == 73, "\(run.errors)")
            #expect(run.errors.contains("cannot write the report '\(name)'"), "\(run.errors)")
            try FileManager.default.removeItem(atPath: path)
        }
        #expect(yard.deeds.isEmpty)
        #expect(try String(contentsOfFile: outside, encoding: .utf8) == "kept")
        #expect(try yard.run("yard", "--report", name).status == 0)
    }

    @Test
    func `a pipe, a device or a link in the place of the events is refused before radio work`()
        throws
    {
        let yard = try PromiseYard()
        try yard.manifest(steps: "[{command: lock}]")
        let folder = yard.program.folder.path
        try #require(mkfifo(folder + "/pipe", 0o600) == 0)
        symlink(folder + "/pipe", folder + "/link")
        for path in ["pipe", "link", "/dev/full", "/dev/null", "."] {
            let run = try yard.run("yard", "--events", path)
            #expect(run.status == 73, "\(path): \(run.errors)")
        }
        #expect(yard.deeds.isEmpty)
        // A descriptor that the caller has opened is the caller's business.
        let run = try yard.run("yard", "--events", "/dev/stdout", "--quiet")
        #expect(run.status == 0 && run.output.contains("\"kind\":\"run-ended\""), "\(run.output)")
    }

    @Test func `a reader of events who stopped reading does not keep a run from its end`() throws {
        let yard = try PromiseYard()
        try yard.manifest(steps: "[{command: lock}]")
        // A pipe that is full: nobody ever reads from it.
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let bytes = [UInt8](repeating: 0x20, count: 65_536)
        try #require(write(ends[1], bytes, bytes.count) == bytes.count)
        let process = Process()
        process.executableURL = URL(filePath: Program.path)
        process.arguments = yard.line() + ["--quiet", "--events", "/dev/stdout"]
        process.currentDirectoryURL = URL(filePath: yard.program.folder.path)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle(fileDescriptor: ends[1], closeOnDealloc: false)
        process.standardError = FileHandle.nullDevice
        try process.run()
        try wait(for: "the vehicle to be done") { yard.deeds == ["lock"] }
        process.terminate()
        try wait(for: "the end of the run") { !process.isRunning }
    }
}

import Foundation
import Glibc
import Signers
import Testing
import Workbench

/// `trust download` puts files of a repository into a folder.
@Suite struct TrustDownloadTests {
    private let program: Program
    private let repository: SampleRepository

    init() throws {
        program = try Program()
        var repository = SampleRepository()
        repository.targets = [
            "a.bin": .init(Array("the file itself".utf8)),
            "a.bin.new": .init(Array("a file with an unlucky name".utf8)),
            "large": .init([UInt8](repeating: 7, count: 400_000)),
        ]
        self.repository = repository
        try program.write("root.json", Data(repository.rootDocument))
        for (name, bytes) in repository.files {
            let path = program.folder.path + "/repository/" + name
            try FileManager.default.createDirectory(
                atPath: (path as NSString).deletingLastPathComponent,
                withIntermediateDirectories: true
            )
            try Data(bytes).write(to: URL(filePath: path))
        }
        for folder in ["trusted", "files"] {
            try FileManager.default.createDirectory(
                atPath: program.folder.path + "/" + folder,
                withIntermediateDirectories: false
            )
        }
        #expect(
            try program.run(["trust", "--metadata-dir", "trusted", "init", "root.json"]).status == 0
        )
    }

    private func download(_ names: [String], into folder: String = "files") throws
        -> Program.Result
    {
        try program.run(
            [
                "trust", "--metadata-dir", "trusted", "--metadata-url", "file:repository",
                "--target-base-url", "file:repository/targets", "--target-dir", folder,
            ] + names.flatMap { ["--target-name", $0] } + ["download"]
        )
    }

    private func names(_ folder: String = "files") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: program.folder.path + "/" + folder)
            .sorted()
    }

    @Test func `a file whose name ends like a draft is a file like any other`() throws {
        let result = try download(["a.bin.new", "a.bin"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(try names() == ["a.bin", "a.bin.new"])
        for name in ["a.bin", "a.bin.new"] {
            let bytes = try Data(contentsOf: URL(filePath: program.folder.path + "/files/" + name))
            #expect(Array(bytes) == repository.targets[name]?.bytes)
        }
    }

    @Test func `a file that is there and wrong is replaced, and one that is right is left`() throws
    {
        try program.write("files/a.bin", "an older one")
        #expect(try download(["a.bin"]).output.contains("15 bytes"))
        #expect(try download(["a.bin"]).output.contains("there already"))
        #expect(try names() == ["a.bin"])
    }

    @Test(.enabled(if: geteuid() == 0, "only root can mount a small file system"))
    func `a full disk leaves nothing in the folder of the files`() throws {
        let folder = program.folder.path + "/small"
        mkdir(folder, 0o700)
        try #require(try run("mount", "-t", "tmpfs", "-o", "size=128k", "none", folder) == 0)
        defer { _ = try? run("umount", "-l", folder) }
        let result = try download(["a.bin", "large"], into: "small")
        #expect(result.status == 1)
        #expect(result.errors.contains("No space left"), "\(result.errors)")
        #expect(try names("small") == ["a.bin"])
        // When there is space again, the file is downloaded, across two file systems.
        try #require(try run("mount", "-o", "remount,size=2m", folder) == 0)
        #expect(try download(["large"], into: "small").status == 0)
        #expect(try names("small") == ["a.bin", "large"])
    }

    @Test func `two processes at one folder do not tread on each other`() throws {
        let states = ["one", "two"]
        for state in states {
            try FileManager.default.copyItem(
                atPath: program.folder.path + "/trusted",
                toPath: program.folder.path + "/" + state
            )
        }
        for _ in 0..<4 {
            try? FileManager.default.removeItem(atPath: program.folder.path + "/files/large")
            let processes = try states.map { state in
                try program.start([
                    "trust", "--metadata-dir", state, "--metadata-url", "file:repository",
                    "--target-base-url", "file:repository/targets", "--target-dir", "files",
                    "--target-name", "large", "download",
                ])
            }
            for process in processes {
                process.waitUntilExit()
                #expect(process.terminationStatus == 0)
            }
            #expect(try names() == ["large"])
        }
    }
}

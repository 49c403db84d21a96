import Base
import Glibc
import Images
import Testing
import Workbench

/// A process that ended after it had made its part read-only and before it had renamed it.
@Suite struct SealedPartTests {
    private static let file = random(700_000, seed: 61)
    private static let digest = SHA256.digest(of: file)

    /// Leaves a part with these bytes, like a process that was killed after it had sealed the part.
    private static func leave(_ bytes: [UInt8], in directory: String) throws {
        let path = StoreFolder(stateDirectory: directory).path(of: digest)
        let folder = path.split(separator: "/").dropLast().joined(separator: "/")
        try run("mkdir", "-p", "/" + folder)
        try write(bytes, to: path + ".part")
        chmod(path + ".part", 0o444)
        try PlainUser.own(directory)
    }

    private static func checkFetched(_ directory: String) throws {
        let store = StoreFolder(stateDirectory: directory)
        #expect(try contents(store.path(of: digest)) == file)
        #expect(files(below: directory + "/images/sha256").count == 1)
    }

    @Test(arguments: [file.count, 0, 300_000])
    func `a plain user's fetch goes on with a read-only part`(count: Int) async throws {
        let scratch = try Scratch()
        try write(Self.file, to: scratch.path + "/source")
        try Self.leave(Array(Self.file.prefix(count)), in: scratch.path)
        let path = scratch.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            try PlainUser.become()
            let result = try await fetch(
                try request(Self.digest),
                from: [.file(path + "/source")],
                into: path
            )
            guard try result.get() == Self.file else { exit(3) }
        }
        try Self.checkFetched(scratch.path)
    }

    @Test func `a plain user's run takes a read-only part of other bytes from the start`()
        async throws
    {
        let scratch = try Scratch()
        try write(Self.file, to: scratch.path + "/source")
        try Self.leave(random(900_000, seed: 62), in: scratch.path)
        let path = scratch.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            try PlainUser.become()
            try await withStore(path) { store in
                _ = try await store.acquire(
                    try request(Self.digest),
                    from: LocalFile(path: path + "/source")
                )
            }
        }
        try Self.checkFetched(scratch.path)
    }

    @Test func `a part that another process has just sealed is left to it`() async throws {
        let scratch = try Scratch()
        try Self.leave(Self.file, in: scratch.path)
        let part = StoreFolder(stateDirectory: scratch.path).path(of: Self.digest) + ".part"
        let held = open(part, O_RDONLY | O_CLOEXEC)
        #expect(held >= 0 && flock(held, LOCK_EX) == 0)
        defer { close(held) }
        let path = scratch.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            try PlainUser.become()
            let progress = Progress()
            let result = Task {
                try await fetch(
                    try request(Self.digest),
                    from: [.file("/nowhere")],
                    into: path,
                    progress: progress
                )
            }
            try await wait(for: "the fetch to begin") { () async in !progress.all.isEmpty }
            result.cancel()
            _ = await result.result
            guard case .waitingFor = progress.all[0] else { exit(3) }
        }
        var status = stat()
        #expect(stat(part, &status) == 0 && status.st_mode & 0o777 == 0o444)
    }
}

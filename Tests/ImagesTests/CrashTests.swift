import Base
import Glibc
import Images
import Synchronization
import Testing
import Workbench

/// The process ends at each call that changes the disk.
@Suite struct CrashTests {
    private static let file = random(150_000, seed: 41)
    private static let digest = SHA256.digest(of: file)

    /// Works like the system until the call numbered `end`, at which the process ends.
    ///
    /// With `tears`, half of a write happens first. With `kills` the process ends by SIGKILL;
    /// otherwise every further call is refused, which looks the same on the disk.
    private final class MortalFiles: FileLayer {
        private let system = SystemFiles()
        private let end: Int?
        private let tears: Bool
        private let kills: Bool
        private let calls = Mutex<[String]>([])

        init(end: Int? = nil, tears: Bool = false, kills: Bool = false) {
            self.end = end
            self.tears = tears
            self.kills = kills
        }

        var log: [String] { calls.withLock { $0 } }

        private func step(_ name: String, _ last: () -> Void = {}) throws(FileFault) {
            let index = calls.withLock { calls in
                calls.append(name)
                return calls.count - 1
            }
            guard let end, index >= end else { return }
            if index == end { last() }
            if kills { kill(getpid(), SIGKILL) }
            throw FileFault(code: EIO)
        }

        func open(_ path: String, flags: Int32, mode: UInt32) throws(FileFault) -> Int32 {
            try step("open")
            return try system.open(path, flags: flags, mode: mode)
        }

        func write(
            _ bytes: UnsafeRawBufferPointer,
            to descriptor: Int32,
            at offset: Int
        ) throws(FileFault) -> Int {
            try step("write") {
                guard tears else { return }
                let half = UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count / 2)])
                _ = try? system.write(half, to: descriptor, at: offset)
            }
            return try system.write(bytes, to: descriptor, at: offset)
        }

        func truncate(_ descriptor: Int32, to length: Int) throws(FileFault) {
            try step("truncate")
            try system.truncate(descriptor, to: length)
        }

        func seal(_ descriptor: Int32) throws(FileFault) {
            try step("seal")
            try system.seal(descriptor)
        }

        func sync(_ descriptor: Int32) throws(FileFault) {
            try step("sync")
            try system.sync(descriptor)
        }

        func rename(_ path: String, to name: String) throws(FileFault) {
            try step("rename")
            try system.rename(path, to: name)
        }

        func remove(_ path: String) throws(FileFault) {
            try step("remove")
            try system.remove(path)
        }

        func makeFolder(_ path: String) throws(FileFault) {
            try step("folder")
            try system.makeFolder(path)
        }
    }

    /// Leaves the part of an earlier process: other bytes, and more of them than the image has.
    private static func leavePart(in directory: String) throws {
        let path = StoreFolder(stateDirectory: directory).path(of: digest)
        try run("mkdir", "-p", String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
        try write(random(800_000, seed: 42), to: path + ".part")
    }

    private static func server() throws -> HostileServer { try .cutting(file, at: 70_000) }

    private static func attempt(
        _ files: MortalFiles,
        in directory: String,
        from server: HostileServer
    ) async throws -> Result<[UInt8], FetchError> {
        try await fetchNoted(
            digest,
            size: file.count,
            from: server.url(),
            into: directory,
            files: files
        )
    }

    /// What must hold after any end: no unverified bytes have the image's name, and the next run
    /// succeeds.
    private static func checkAndFinish(
        _ directory: String,
        _ server: HostileServer
    ) async throws {
        let store = StoreFolder(stateDirectory: directory)
        let path = store.path(of: digest)
        if access(path, F_OK) == 0 { #expect(try contents(path) == file) }
        let result = try await attempt(MortalFiles(), in: directory, from: server)
        #expect(try result.get() == file)
        let entries = try ImageInventory(store).entries()
        #expect(entries.map(\.isPart) == [false])
        #expect(try ImageReferences(store).all().map(\.digests) == [[digest]])
        #expect(ImageRecords(store).all() == [digest: noted])
        let others = files(below: directory + "/images/sha256")
        #expect(others.count == 1, "\(others)")
    }

    @Test(arguments: [false, true], [false, true])
    func `the end at any write, sync or rename is made good by the next run`(
        tears: Bool,
        isBegun: Bool
    ) async throws {
        let whole = MortalFiles()
        let scratch = try Scratch()
        if isBegun { try Self.leavePart(in: scratch.path) }
        _ = try await Self.attempt(whole, in: scratch.path, from: try Self.server()).get()
        let log = whole.log
        for name in ["open", "write", "seal", "sync", "rename", "folder"] {
            #expect(log.contains(name), "\(log)")
        }
        #expect(log.contains("truncate") == isBegun, "\(log)")
        // The bytes arrive in pieces whose number varies, so there may be a few more calls.
        for end in 0..<(log.count + 4) {
            let scratch = try Scratch()
            if isBegun { try Self.leavePart(in: scratch.path) }
            let server = try Self.server()
            let files = MortalFiles(end: end, tears: tears)
            let result = try await Self.attempt(files, in: scratch.path, from: server)
            if case .success = result {
                // Only a removal of an unneeded file may fail without an error.
                #expect(files.log.dropFirst(end).allSatisfy { $0 == "remove" }, "\(files.log)")
            }
            try await Self.checkAndFinish(scratch.path, server)
        }
    }

    @Test(arguments: [false, true])
    func `kill -9 at any write, sync or rename is made good by the next run`(
        isBegun: Bool
    ) async throws {
        let whole = MortalFiles()
        let first = try Scratch()
        if isBegun { try Self.leavePart(in: first.path) }
        _ = try await Self.attempt(whole, in: first.path, from: try Self.server()).get()
        for end in 0..<whole.log.count {
            let scratch = try Scratch()
            if isBegun { try Self.leavePart(in: scratch.path) }
            let server = try Self.server()
            let (path, port) = (scratch.path, server.port)
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = path as String, port = port as UInt16, end = end as Int] in
                let files = MortalFiles(end: end, kills: true)
                let result = try await fetchNoted(
                    Self.digest,
                    size: Self.file.count,
                    from: "http://127.0.0.1:\(port)/image.bin",
                    into: path,
                    files: files
                )
                _ = try result.get()
                // With fewer pieces than the first time there are fewer calls, and none of them has
                // the number `end`.
                kill(getpid(), SIGKILL)
            }
            try await Self.checkAndFinish(scratch.path, server)
        }
    }

    @Test func `kill -9 at any removal of a clean-up leaves what is needed`() async throws {
        let others = (0..<3 as Range<UInt64>).map { random(1_000, seed: 50 + $0) }
        func fill(_ directory: String) async throws {
            try await withStore(directory) { store in
                for bytes in others + [Self.file] {
                    let source = directory + "/source"
                    try write(bytes, to: source)
                    let digest = SHA256.digest(of: bytes)
                    _ = try await store.acquire(try request(digest), from: LocalFile(path: source))
                }
            }
            let store = StoreFolder(stateDirectory: directory)
            try ImageReferences(store).set("tallinn", [Self.digest])
        }
        for end in 0..<12 {
            let scratch = try Scratch()
            try await fill(scratch.path)
            let files = MortalFiles(end: end)
            let mortal = StoreFolder(stateDirectory: scratch.path, files: files)
            do throws(ImageError) {
                if let lock = try StoreLock(mortal, for: .cleaning) {
                    _ = try ImageInventory(mortal).prune(under: lock)
                }
            } catch {}
            let store = StoreFolder(stateDirectory: scratch.path)
            guard let lock = try StoreLock(store, for: .cleaning) else {
                Issue.record("the lock outlived its holder")
                return
            }
            _ = try ImageInventory(store).prune(under: lock)
            #expect(try ImageInventory(store).entries().map(\.digest) == [Self.digest])
            #expect(try contents(store.path(of: Self.digest)) == Self.file)
        }
    }
}

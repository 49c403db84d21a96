import Base
import Foundation
import Glibc
import Images
import Synchronization
import Testing
import Workbench

/// Several processes that fetch the images of one rollout into one new store.
@Suite struct ParallelFetchTests {
    /// The system's files, with an action before the first sync of a file.
    private final class MeddledFiles: FileLayer {
        private let system = SystemFiles()
        private let meddle: Mutex<(@Sendable () -> Void)?>

        init(_ meddle: @escaping @Sendable () -> Void) { self.meddle = Mutex(meddle) }

        func open(_ path: String, flags: Int32, mode: UInt32) throws(FileFault) -> Int32 {
            try system.open(path, flags: flags, mode: mode)
        }

        func write(
            _ bytes: UnsafeRawBufferPointer,
            to descriptor: Int32,
            at offset: Int
        ) throws(FileFault) -> Int {
            try system.write(bytes, to: descriptor, at: offset)
        }

        func truncate(_ descriptor: Int32, to length: Int) throws(FileFault) {
            try system.truncate(descriptor, to: length)
        }

        func seal(_ descriptor: Int32) throws(FileFault) { try system.seal(descriptor) }

        func sync(_ descriptor: Int32) throws(FileFault) {
            let once = meddle.withLock { meddle in
                defer { meddle = nil }
                return meddle
            }
            once?()
            try system.sync(descriptor)
        }

        func rename(_ path: String, to name: String) throws(FileFault) {
            try system.rename(path, to: name)
        }

        func remove(_ path: String) throws(FileFault) { try system.remove(path) }
        func makeFolder(_ path: String) throws(FileFault) { try system.makeFolder(path) }
    }

    @Test func `two processes note the needs of one rollout at the same moment`() throws {
        let scratch = try Scratch()
        let digest = SHA256.digest(of: [1, 2, 3])
        let path = scratch.path
        let meddled = Mutex(false)
        let files = MeddledFiles {
            let other = ImageReferences(StoreFolder(stateDirectory: path))
            try? other.set("tallinn", [digest])
            meddled.withLock { $0 = true }
        }
        try ImageReferences(StoreFolder(stateDirectory: path, files: files))
            .set("tallinn", [digest])
        #expect(meddled.withLock { $0 })
        let references = ImageReferences(StoreFolder(stateDirectory: path))
        #expect(try references.all().map(\.digests) == [[digest]])
        #expect(Workbench.files(below: path + "/images/references") == ["tallinn.list"])
    }

    @Test func `what a process that ended left of a list is cleaned up`() throws {
        let scratch = try Scratch()
        let store = StoreFolder(stateDirectory: scratch.path)
        let digest = SHA256.digest(of: [1, 2, 3])
        try ImageReferences(store).set("tallinn", [digest])
        let folder = scratch.path + "/images/references"
        try write(Array("12".utf8), to: folder + "/.tallinn.list-1234-9.new")
        try write(Array("12".utf8), to: folder + "/tallinn.list.new")
        guard let lock = try StoreLock(store, for: .cleaning) else {
            Issue.record("nobody else is at the store")
            return
        }
        _ = try ImageInventory(store).prune(under: lock)
        lock.release()
        #expect(Workbench.files(below: folder) == ["tallinn.list"])
    }

    /// The number of repetitions: few in the gate, any number by hand.
    private static let rounds =
        ProcessInfo.processInfo.environment["YARDMASTER_FETCH_ROUNDS"].flatMap { Int($0) } ?? 3

    @Test func `parallel fetches into a fresh store all end well, each image is fetched once`()
        throws
    {
        let scratch = try Scratch()
        let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appending(path: "yardmaster")
        let images = (0..<4 as Range<UInt64>).map { random(60_000, seed: 700 + $0) }
        let server = try HostileServer { request, connection in
            connection.serve(images[Int(request.path.dropFirst()) ?? 0], to: request)
        }
        var text = "name: tallinn\nvehicles:\n"
        text += "  - {id: v1, serial: \"00b0000000000001\", family: comodule}\nimages:\n"
        for (number, bytes) in images.enumerated() {
            text += "  i\(number): {url: \"\(server.url("/\(number)"))\", allow-http: true, "
            text += "sha256: \"\(SHA256.digest(of: bytes))\", version: \"1.0.0\", "
            text += "fits: {family: comodule}}\n"
        }
        text += "steps:\n" + images.indices.map { "  - update: {to: i\($0)}\n" }.joined()
        try write(Array(text.utf8), to: scratch.path + "/m.yaml")
        for round in 0..<Self.rounds {
            let before = server.seen.count
            var processes: [(Process, FileHandle)] = []
            for number in 0..<2 {
                let process = Process()
                process.executableURL = program
                process.arguments = ["fetch", "m.yaml", "--state", "state-\(round)"]
                process.currentDirectoryURL = URL(filePath: scratch.path)
                process.environment = ["no_proxy": "*", "PATH": "/usr/bin:/bin"]
                let path = "\(scratch.path)/\(round)-\(number)"
                try write([], to: path)
                let file = try #require(FileHandle(forUpdatingAtPath: path))
                process.standardOutput = file
                process.standardError = file
                process.standardInput = FileHandle.nullDevice
                try process.run()
                processes.append((process, file))
            }
            var fetched = 0
            for (number, (process, _)) in processes.enumerated() {
                process.waitUntilExit()
                let bytes = try contents("\(scratch.path)/\(round)-\(number)")
                let words = String(decoding: bytes, as: UTF8.self)
                #expect(process.terminationStatus == 0, "round \(round): \(words)")
                let last = words.split(separator: "\n").last ?? ""
                #expect(last.hasSuffix("failed=0 exit=0"), "round \(round): \(words)")
                let count = last.split(separator: " ").first?.split(separator: "=").last
                fetched += count.flatMap { Int($0) } ?? 0
            }
            #expect(fetched == images.count, "round \(round)")
            #expect(server.seen.count - before == images.count, "round \(round)")
        }
    }
}

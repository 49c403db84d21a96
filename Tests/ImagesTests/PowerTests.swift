import Base
import Glibc
import Images
import Synchronization
import Testing
import Workbench

/// A power cut at each call that changes the disk, on a disk that keeps only what it must keep.
@Suite struct PowerTests {
    private static let file = random(700_000, seed: 43)
    private static let digest = SHA256.digest(of: file)

    /// The changes that reach the disk although they were not synced.
    struct Loss: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// Changed names are kept although their folder was not synced: the disk writes changes out
        /// of order.
        let keepsNames: Bool
        /// Half of the bytes that were not synced are kept; otherwise none are.
        let half: Bool
        /// The disk reports a sync of a folder as done, and does nothing.
        var dropsFolders = false
    }

    static let losses = [
        Loss(testDescription: "names late, bytes gone", keepsNames: false, half: false),
        Loss(testDescription: "names late, bytes torn", keepsNames: false, half: true),
        Loss(testDescription: "names first, bytes gone", keepsNames: true, half: false),
        Loss(testDescription: "names first, bytes torn", keepsNames: true, half: true),
        Loss(
            testDescription: "no folder is synced, bytes gone",
            keepsNames: false,
            half: false,
            dropsFolders: true
        ),
        Loss(
            testDescription: "no folder is synced, bytes torn",
            keepsNames: false,
            half: true,
            dropsFolders: true
        ),
    ]

    /// The system's files, which lose everything that was not synced at the call numbered `end`.
    private final class FadingFiles: FileLayer {
        /// A change of a folder's names since it was synced.
        private enum Change {
            case made(String)
            /// `over` contains the bytes that had the new name before, if there were any.
            case renamed(String, to: String, over: [UInt8]?)
            case removed(String, [UInt8])

            var folder: String {
                switch self {
                case .made(let path), .renamed(_, let path, _), .removed(let path, _):
                    String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
                }
            }
        }

        private struct State {
            var calls = 0
            var isOff = false
            /// Files with bytes that were not synced, by their inode numbers.
            var dirty: [UInt64: String] = [:]
            var changes: [Change] = []
        }

        private let system = SystemFiles()
        private let end: Int?
        private let loss: Loss
        private let state = Mutex(State())

        init(end: Int?, _ loss: Loss) {
            self.end = end
            self.loss = loss
        }

        var count: Int { state.withLock { $0.calls } }

        private func step() throws(FileFault) {
            let isOn = state.withLock { state in
                if let end, state.calls >= end, !state.isOff {
                    state.isOff = true
                    lose(&state)
                }
                state.calls += 1
                return !state.isOff
            }
            guard isOn else { throw FileFault(code: EIO) }
        }

        private static func bytes(_ path: String) -> [UInt8]? { try? contents(path) }

        private static func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 }

        private static func number(_ descriptor: Int32) -> UInt64 {
            var status = stat()
            return fstat(descriptor, &status) == 0 ? UInt64(status.st_ino) : 0
        }

        private static func path(_ descriptor: Int32) -> String {
            var name = [CChar](repeating: 0, count: 4_096)
            let count = readlink("/proc/self/fd/\(descriptor)", &name, name.count)
            return String(
                decoding: name.prefix(max(0, count)).map { UInt8(bitPattern: $0) },
                as: UTF8.self
            )
        }

        private static func replace(_ path: String, with bytes: [UInt8]) {
            unlink(path)
            try? Workbench.write(bytes, to: path)
        }

        /// Applies the power cut.
        private func lose(_ state: inout State) {
            for path in state.dirty.values {
                guard let bytes = Self.bytes(path) else { continue }
                // Bytes that did not reach the disk are read as zeros.
                let kept = loss.half ? bytes.count / 2 : 0
                Self.replace(
                    path,
                    with: bytes.prefix(kept) + [UInt8](repeating: 0, count: bytes.count - kept)
                )
            }
            guard !loss.keepsNames else { return }
            for change in state.changes.reversed() {
                switch change {
                case .made(let path): unlink(path)
                case .renamed(let path, let name, let over):
                    Glibc.rename(name, path)
                    if let over { Self.replace(name, with: over) }
                case .removed(let path, let bytes): Self.replace(path, with: bytes)
                }
            }
        }

        func open(_ path: String, flags: Int32, mode: UInt32) throws(FileFault) -> Int32 {
            try step()
            let isNew = flags & O_CREAT != 0 && !Self.isThere(path)
            let descriptor = try system.open(path, flags: flags, mode: mode)
            state.withLock { state in
                if isNew { state.changes.append(.made(path)) }
                if isNew || flags & O_TRUNC != 0 { state.dirty[Self.number(descriptor)] = path }
            }
            return descriptor
        }

        func write(
            _ bytes: UnsafeRawBufferPointer,
            to descriptor: Int32,
            at offset: Int
        ) throws(FileFault) -> Int {
            try step()
            state.withLock { $0.dirty[Self.number(descriptor)] = Self.path(descriptor) }
            return try system.write(bytes, to: descriptor, at: offset)
        }

        func truncate(_ descriptor: Int32, to length: Int) throws(FileFault) {
            try step()
            state.withLock { $0.dirty[Self.number(descriptor)] = Self.path(descriptor) }
            try system.truncate(descriptor, to: length)
        }

        func seal(_ descriptor: Int32) throws(FileFault) {
            try step()
            try system.seal(descriptor)
        }

        func sync(_ descriptor: Int32) throws(FileFault) {
            try step()
            var status = stat()
            let isFolder = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
            let path = Self.path(descriptor)
            state.withLock { state in
                guard isFolder else {
                    state.dirty[Self.number(descriptor)] = nil
                    return
                }
                if !loss.dropsFolders { state.changes.removeAll { $0.folder == path } }
            }
            try system.sync(descriptor)
        }

        func rename(_ path: String, to name: String) throws(FileFault) {
            try step()
            let over = Self.bytes(name)
            try system.rename(path, to: name)
            state.withLock { state in
                state.changes.append(.renamed(path, to: name, over: over))
                for (number, dirty) in state.dirty where dirty == path {
                    state.dirty[number] = name
                }
            }
        }

        func remove(_ path: String) throws(FileFault) {
            try step()
            let bytes = Self.bytes(path)
            try system.remove(path)
            guard let bytes else { return }
            state.withLock { $0.changes.append(.removed(path, bytes)) }
        }

        func makeFolder(_ path: String) throws(FileFault) {
            try step()
            try system.makeFolder(path)
        }
    }

    private static func server() throws -> HostileServer { try .cutting(file, at: 300_000) }

    private static func attempt(
        _ files: any FileLayer,
        in directory: String,
        from server: HostileServer
    ) async throws -> Result<[UInt8], FetchError> {
        let result = try await fetchNoted(
            digest,
            size: file.count,
            from: server.url(),
            into: directory,
            // `CrashTests` has the tests of small images.
            settings: hastySettings { $0.inPlaceSize = .zero },
            files: files
        )
        guard case .success = result else { return result }
        let store = StoreFolder(stateDirectory: directory, files: files)
        do throws(ImageError) {
            try ImageCompanions(store).keep(noted, as: "minisig", of: digest)
        } catch { return .failure(.store(error)) }
        return result
    }

    @Test(arguments: losses)
    func `what a loss of power leaves is made good by the next run`(loss: Loss) async throws {
        let scratch = try Scratch()
        let whole = FadingFiles(end: nil, loss)
        _ = try await Self.attempt(whole, in: scratch.path, from: try Self.server()).get()
        #expect(whole.count > 20)
        var lost = 0
        // The bytes arrive in pieces whose number varies, so there may be a few more calls.
        for end in 0..<(whole.count + 2) {
            let scratch = try Scratch()
            let server = try Self.server()
            let fading = FadingFiles(end: end, loss)
            let result = try await Self.attempt(fading, in: scratch.path, from: server)
            if fading.count > end { lost += 1 }
            let store = StoreFolder(stateDirectory: scratch.path)
            let path = store.path(of: Self.digest)
            // Only bytes that are on the disk get the image's name.
            if access(path, F_OK) == 0 { #expect(try contents(path) == Self.file, "call \(end)") }
            if case .success(let bytes) = result { #expect(bytes == Self.file) }
            let next = try await Self.attempt(SystemFiles(), in: scratch.path, from: server)
            #expect(try next.get() == Self.file, "call \(end)")
            #expect(try ImageInventory(store).entries().map(\.isPart) == [false], "call \(end)")
            #expect(try ImageReferences(store).all().map(\.digests) == [[Self.digest]])
            let kept = ImageCompanions(store).read("minisig", of: Self.digest, limit: 100)
            #expect(kept == noted, "call \(end)")
            #expect(ImageRecords(store).all() == [Self.digest: noted], "call \(end)")
            guard let lock = try StoreLock(store, for: .cleaning) else {
                Issue.record("the lock outlived its holder")
                return
            }
            _ = try ImageInventory(store).prune(under: lock)
            lock.release()
            // After the store was cleaned up, nothing of the cut fetch is left.
            let others = files(below: scratch.path + "/images/sha256")
            #expect(others.count == 2, "call \(end): \(others)")
        }
        #expect(lost > 20, "\(lost)")
    }
}

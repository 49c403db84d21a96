import Base
import Glibc
import Images
import Synchronization

/// A folder whose process is killed before its change number `count + 1`.
final class DyingFiles<Files: TrustFiles>: TrustFiles {
    private let files: Files
    private let left: Mutex<Int>

    init(_ files: Files, after count: Int) {
        self.files = files
        left = Mutex(count)
    }

    /// Whether a change was requested after the death.
    var hasDied: Bool { left.withLock { $0 < 0 } }

    /// Throws when the process is dead.
    private func live() throws(StorageError) {
        let isAlive = left.withLock { left in
            guard left > 0 else {
                left = -1
                return false
            }
            left -= 1
            return true
        }
        guard isAlive else { throw StorageError(.write, "killed", code: EINTR) }
    }

    func read(_ name: String, limit: Int64) throws(StorageError) -> [UInt8]? {
        try files.read(name, limit: limit)
    }

    func write(_ name: String, _ bytes: [UInt8]) throws(StorageError) {
        do throws(StorageError) {
            try live()
        } catch {
            // The process was killed in the middle of a write.
            try files.write(name, Array(bytes.prefix(bytes.count / 2)))
            throw error
        }
        try files.write(name, bytes)
    }

    func sync(_ name: String) throws(StorageError) {
        try live()
        try files.sync(name)
    }

    func rename(_ name: String, to other: String) throws(StorageError) {
        try live()
        try files.rename(name, to: other)
    }

    func remove(_ name: String) throws(StorageError) {
        try live()
        try files.remove(name)
    }

    func syncFolder() throws(StorageError) {
        try live()
        try files.syncFolder()
    }

    func names() throws(StorageError) -> [String] { try files.names() }
}

/// A disk that loses everything that was not synced when the power is cut.
final class FadingFiles: TrustFiles {
    private struct State {
        /// The contents by file number: as written, and as they are on the disk.
        var written: [Int: [UInt8]] = [:]
        var kept: [Int: [UInt8]] = [:]
        var names: [String: Int] = [:]
        var keptNames: [String: Int] = [:]
        /// All names, as they were after each change.
        var history: [[String: Int]] = [[:]]
        var next = 0
    }

    private let state = Mutex(State())

    func read(_ name: String, limit: Int64) throws(StorageError) -> [UInt8]? {
        state.withLock { state in state.names[name].flatMap { state.written[$0] } }
            .flatMap { Int64($0.count) <= limit ? $0 : nil }
    }

    func write(_ name: String, _ bytes: [UInt8]) throws(StorageError) {
        state.withLock { state in
            state.written[state.next] = bytes
            state.names[name] = state.next
            state.next += 1
            state.history.append(state.names)
        }
    }

    func sync(_ name: String) throws(StorageError) {
        state.withLock { state in
            guard let file = state.names[name] else { return }
            state.kept[file] = state.written[file]
        }
    }

    func rename(_ name: String, to other: String) throws(StorageError) {
        state.withLock { state in
            state.names[other] = state.names.removeValue(forKey: name)
            state.history.append(state.names)
        }
    }

    func remove(_ name: String) throws(StorageError) {
        state.withLock { state in
            state.names[name] = nil
            state.history.append(state.names)
        }
    }

    func syncFolder() throws(StorageError) { state.withLock { $0.keptNames = $0.names } }

    func names() throws(StorageError) -> [String] { state.withLock { $0.names.keys.sorted() } }

    /// Cuts the power and restores it; with `keepingNames` the folder's names reached the disk
    /// without a sync.
    func loseThePower(keepingNames: Bool) {
        state.withLock { state in
            if !keepingNames { state.names = state.keptNames }
            for file in state.names.values {
                state.written[file] = state.kept[file] ?? [0x7B, 0x22]
            }
        }
    }

    /// Cuts the power on a disk that reported each sync of the folder as done, and did nothing.
    ///
    /// All names are as at an earlier moment; with `isMixed` some are as they were last, and the
    /// others are gone.
    func loseNames(drawing chance: inout SplitMix64, isMixed: Bool) {
        state.withLock { state in
            if isMixed {
                for name in state.names.keys.sorted() where Bool.random(using: &chance) {
                    state.names[name] = nil
                }
            } else {
                let moment = Int.random(in: state.history.indices, using: &chance)
                state.names = state.history[moment]
            }
            for file in state.names.values {
                state.written[file] = state.kept[file] ?? [0x7B, 0x22]
            }
        }
    }
}

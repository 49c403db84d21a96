import Glibc
import Synchronization

/// Trusted documents in memory: for a test of documents that must not be kept.
package final class MemoryFiles: TrustFiles {
    private let contents: Mutex<[String: [UInt8]]>

    package init(_ contents: [String: [UInt8]] = [:]) { self.contents = Mutex(contents) }

    /// A copy of the files of another place.
    package convenience init(copying files: some TrustFiles, limit: Int64) throws(StorageError) {
        var contents: [String: [UInt8]] = [:]
        for name in try files.names() {
            contents[name] = try files.read(name, limit: limit)
        }
        self.init(contents)
    }

    package func read(_ name: String, limit: Int64) throws(StorageError) -> [UInt8]? {
        contents.withLock { $0[name] }.flatMap { Int64($0.count) <= limit ? $0 : nil }
    }

    package func write(_ name: String, _ bytes: [UInt8]) throws(StorageError) {
        contents.withLock { $0[name] = bytes }
    }

    package func sync(_ name: String) throws(StorageError) {}

    package func rename(_ name: String, to other: String) throws(StorageError) {
        let isThere = contents.withLock { contents in
            guard let bytes = contents.removeValue(forKey: name) else { return false }
            contents[other] = bytes
            return true
        }
        guard isThere else { throw StorageError(.rename, name, code: ENOENT) }
    }

    package func remove(_ name: String) throws(StorageError) {
        contents.withLock { $0[name] = nil }
    }

    package func syncFolder() throws(StorageError) {}

    package func names() throws(StorageError) -> [String] {
        contents.withLock { $0.keys.sorted() }
    }
}

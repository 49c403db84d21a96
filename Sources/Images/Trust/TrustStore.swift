import Base

/// The verified documents, stored so that a crash at any moment leaves the old or the new one,
/// never a part.
///
/// Stored documents are not trusted either: every reader verifies them again.
package struct TrustStore<Files: TrustFiles>: Sendable {
    package let files: Files

    package init(_ files: Files) { self.files = files }

    private static func fileName(_ role: RoleName) -> String {
        FileName.safe(role.name.bytes) + ".json"
    }

    package func document(of role: RoleName, limit: Int64) throws(TrustError) -> [UInt8]? {
        try read(Self.fileName(role), limit: limit)
    }

    func keep(_ bytes: [UInt8], of role: RoleName) throws(TrustError) {
        try replace(Self.fileName(role), with: bytes)
    }

    func drop(_ roles: [RoleName]) throws(TrustError) {
        do throws(StorageError) {
            for role in roles { try files.remove(Self.fileName(role)) }
            try files.syncFolder()
        } catch { throw .storage(error) }
    }

    package func read(_ name: String, limit: Int64) throws(TrustError) -> [UInt8]? {
        do throws(StorageError) {
            return try files.read(name, limit: limit)
        } catch { throw .storage(error) }
    }

    /// First the bytes on disk, then the name, then the name on disk.
    package func replace(_ name: String, with bytes: [UInt8]) throws(TrustError) {
        let fresh = name + ".new"
        do throws(StorageError) {
            try files.write(fresh, bytes)
            try files.sync(fresh)
            try files.rename(fresh, to: name)
            try files.syncFolder()
        } catch { throw .storage(error) }
    }
}

// MARK: The mark of a recovery

extension TrustStore {
    private static var recoveryName: String { "recovery" }

    /// The version of root with which timestamp and snapshot must be dropped.
    func recovery() throws(TrustError) -> Int64? {
        try number(Self.recoveryName)
    }

    func mark(recoveryAt version: Int64) throws(TrustError) {
        try replace(Self.recoveryName, with: Array(String(version).utf8))
    }

    func unmarkRecovery() throws(TrustError) {
        do throws(StorageError) {
            try files.remove(Self.recoveryName)
            try files.syncFolder()
        } catch { throw .storage(error) }
    }

    private func number(_ name: String) throws(TrustError) -> Int64? {
        try read(name, limit: 32).flatMap { Int64(String(decoding: $0, as: UTF8.self)) }
    }

    // MARK: The latest time

    /// The time of the clock when metadata was last verified.
    func latestTime() throws(TrustError) -> WallTime? {
        try number("clock").map { WallTime(milliseconds: $0) }
    }

    func keep(latestTime time: WallTime) throws(TrustError) {
        try replace("clock", with: Array(String(time.milliseconds).utf8))
    }
}

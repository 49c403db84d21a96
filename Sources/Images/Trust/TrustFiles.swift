/// The folder of trusted documents, with a call for each step at which a crash can happen.
package protocol TrustFiles: Sendable {
    /// The bytes of a file; nil when it does not exist or is longer than `limit`.
    func read(_ name: String, limit: Int64) throws(StorageError) -> [UInt8]?
    /// Creates or replaces the file; its bytes are on disk only after `sync`.
    func write(_ name: String, _ bytes: [UInt8]) throws(StorageError)
    func sync(_ name: String) throws(StorageError)
    /// Renames a file in one step, and replaces an existing one.
    func rename(_ name: String, to other: String) throws(StorageError)
    /// Does nothing when the file does not exist.
    func remove(_ name: String) throws(StorageError)
    /// Puts the entries of the folder on disk.
    func syncFolder() throws(StorageError)
    /// In ascending order.
    func names() throws(StorageError) -> [String]
}

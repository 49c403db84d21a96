/// The folder that trusted documents are kept in, one call for each thing that a crash can divide.
package protocol TrustFiles: Sendable {
    /// The bytes of a file, nil when there is none or it is longer than `limit`.
    func read(_ name: String, limit: Int64) throws(StorageError) -> [UInt8]?
    /// Makes the file, or makes it new; its bytes are on disk only after `sync`.
    func write(_ name: String, _ bytes: [UInt8]) throws(StorageError)
    func sync(_ name: String) throws(StorageError)
    /// Puts a file in the place of another, if there is one, in one step.
    func rename(_ name: String, to other: String) throws(StorageError)
    /// Does nothing when there is none.
    func remove(_ name: String) throws(StorageError)
    /// Puts on disk which files there are.
    func syncFolder() throws(StorageError)
    /// In rising order.
    func names() throws(StorageError) -> [String]
}

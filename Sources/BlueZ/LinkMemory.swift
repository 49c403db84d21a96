/// Remembers which links are ours, so that a later run recognises them after this one was killed.
package protocol LinkMemory: Sendable {
    /// Addresses that this program has connected to and not disconnected from.
    func links() -> Set<String>
    func add(_ address: String)
    func remove(_ address: String)

    /// The address of each bonded module, with the adapter that it was bonded to.
    func bonds() -> [String: String]
    func bonded(_ address: String, at adapter: String)
}

extension LinkMemory {
    package func bonds() -> [String: String] { [:] }
    package func bonded(_ address: String, at adapter: String) {}
}

/// Remembers nothing: for programs without state on disk.
package struct ForgetfulMemory: LinkMemory {
    package init() {}
    package func links() -> Set<String> { [] }
    package func add(_ address: String) {}
    package func remove(_ address: String) {}
}

/// Remembers which links are ours, so that a later run knows them after this one was killed.
package protocol LinkMemory: Sendable {
    /// Addresses that were connected by us and not disconnected.
    func links() -> Set<String>
    func add(_ address: String)
    func remove(_ address: String)

    /// Adapters by the addresses of the modules that were bonded to them.
    func bonds() -> [String: String]
    func bonded(_ address: String, at adapter: String)
}

extension LinkMemory {
    package func bonds() -> [String: String] { [:] }
    package func bonded(_ address: String, at adapter: String) {}
}

/// Remembers nothing: for programs that keep no state.
package struct ForgetfulMemory: LinkMemory {
    package init() {}
    package func links() -> Set<String> { [] }
    package func add(_ address: String) {}
    package func remove(_ address: String) {}
}

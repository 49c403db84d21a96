/// Facts about a module from earlier links.
package struct CachedModule: Sendable, Hashable {
    package var name: String?
    /// Its last known address; the module may have another one by now.
    package var peer: Peer?
    package var type: Int?
    /// The variant, as read on this link.
    package var variant: Int?
    /// Registers that it does not have.
    package var lacking: Set<UInt16> = []

    package init() {}
}

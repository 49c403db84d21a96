/// Finds two modules with one serial by the addresses that one scan hears.
///
/// A module may change its address at any time, so two addresses prove nothing. But it does not
/// return to an address that it has left: one that is heard before and after another one belongs to
/// a second module. This holds for one adapter and within one scan: a bond that is made or dropped
/// changes the address under which an adapter shows a module, and so does its bootloader.
package struct Namesakes: Sendable {
    /// A scan hears few addresses of a module; a sender of invented ones must not fill our memory.
    private static let most = 8

    /// Addresses in the order in which they were first heard.
    private var peers: [Peer] = []
    /// The two modules, when they are certain.
    package private(set) var pair: [Peer]?

    package init() {}

    /// Whether the module has been heard under another address before, and this one may show that
    /// there are two.
    package func isNews(_ peer: Peer) -> Bool {
        pair == nil && peers.last.map { $0 != peer } ?? false
    }

    package mutating func hears(_ peer: Peer) {
        guard pair == nil, peer != peers.last else { return }
        if let last = peers.last, peers.contains(peer) {
            pair = [peer, last].sorted { $0.handle < $1.handle }
        } else if peers.count < Self.most {
            peers.append(peer)
        }
    }
}

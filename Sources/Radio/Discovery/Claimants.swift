package import Base

/// The modules that claim one serial, as far as a search for it has met them.
package struct Claimants: Sendable, Equatable {
    private let serial: Serial
    /// Modules that accepted the connection and refused our secret, or whose link was lost at that
    /// moment.
    package private(set) var refused: [Peer] = []
    /// The module that accepted our secret.
    package private(set) var opened: Peer?

    package init(serial: Serial) { self.serial = serial }

    package mutating func refuses(_ peer: Peer) {
        if !refused.contains(peer) { refused.append(peer) }
    }

    package mutating func opens(_ peer: Peer) { opened = peer }

    /// The sentence for reports when there was more than one; nil otherwise.
    package var sentence: String? {
        let others = refused.filter { $0 != opened }
        guard others.count + (opened == nil ? 0 : 1) > 1 else { return nil }
        let list = others.map { "the one at \($0) did not take our secret" }
        let taken = opened.map { ["the one at \($0) did"] } ?? []
        return "\(others.count + taken.count) modules claim the serial \(serial): "
            + (list + taken).joined(separator: ", ")
    }
}

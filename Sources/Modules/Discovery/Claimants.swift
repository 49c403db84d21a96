package import Domain
package import Radio

/// Who claims one serial, as far as somebody who looks for its module has met them.
package struct Claimants: Sendable, Equatable {
    private let serial: Serial
    /// They let us connect and did not take our secret, or were lost just then.
    package private(set) var refused: [Peer] = []
    /// The one that took it.
    package private(set) var opened: Peer?

    package init(serial: Serial) { self.serial = serial }

    package mutating func refuses(_ peer: Peer) {
        if !refused.contains(peer) { refused.append(peer) }
    }

    package mutating func opens(_ peer: Peer) { opened = peer }

    /// What a report says when there was more than one; nil otherwise.
    package var sentence: String? {
        let others = refused.filter { $0 != opened }
        guard others.count + (opened == nil ? 0 : 1) > 1 else { return nil }
        let list = others.map { "the one at \($0) did not take our secret" }
        let taken = opened.map { ["the one at \($0) did"] } ?? []
        return "\(others.count + taken.count) modules claim the serial \(serial): "
            + (list + taken).joined(separator: ", ")
    }
}

/// How many links an adapter carries at once: what the operator allows, learned downwards.
///
/// Adapters do not tell. A connection beyond what one carries fails as any other, so that only
/// failures in a row, beside links that stand, speak of a limit.
package struct LinkCap: Equatable {
    private static let failuresInARow = 3

    package private(set) var limit: Int
    private var failures = 0

    package init(_ limit: Int) { self.limit = max(1, limit) }

    package func hasRoom(beside links: Int) -> Bool { links < limit }

    package mutating func connected() { failures = 0 }

    /// An attempt failed without saying why, while so many links stood.
    ///
    /// True when a lower limit was learned.
    package mutating func failed(beside links: Int) -> Bool {
        guard links > 0 else {
            failures = 0
            return false
        }
        failures += 1
        guard failures == Self.failuresInARow else { return false }
        return learn(links)
    }

    /// The adapter said that it carries no more than those that stood.
    package mutating func refused(beside links: Int) -> Bool { learn(links) }

    private mutating func learn(_ links: Int) -> Bool {
        failures = 0
        guard links > 0, links < limit else { return false }
        limit = links
        return true
    }
}

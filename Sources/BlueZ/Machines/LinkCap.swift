package import Domain

/// How many links an adapter carries at once: what the operator allows, learned downwards for a
/// while.
///
/// Adapters do not tell beforehand. One that is full says so, or fails as any other: then only the
/// failures of several modules in a row, beside links that stand, speak of a limit. What was
/// learned may be wrong, or be over with what caused it, so that it is forgotten step by step.
package struct LinkCap: Equatable {
    /// How many modules must have failed in a row; one that always fails is itself the cause.
    private static let modulesInARow = 3
    /// How long a learned limit holds before one more link is tried.
    package static let memory = Duration.seconds(300)

    private let allowed: Int
    package private(set) var limit: Int
    private var learned: Moment?
    /// Modules whose links failed since the last that stood.
    private var failures: Set<String> = []

    package init(_ allowed: Int) {
        self.allowed = max(1, allowed)
        limit = self.allowed
    }

    package mutating func hasRoom(beside links: Int, at now: Moment) -> Bool {
        if let since = learned, since.duration(to: now) >= Self.memory {
            limit = min(allowed, limit + 1)
            learned = limit < allowed ? now : nil
        }
        return links < limit
    }

    package mutating func connected() { failures = [] }

    /// An attempt failed without saying why, while so many links stood.
    ///
    /// True when a lower limit was learned.
    package mutating func failed(_ module: String, beside links: Int, at now: Moment) -> Bool {
        guard links > 0 else {
            failures = []
            return false
        }
        failures.insert(module)
        return failures.count >= Self.modulesInARow && learn(links, at: now)
    }

    /// The adapter said that it carries no more than those that stood.
    package mutating func refused(beside links: Int, at now: Moment) -> Bool {
        learn(links, at: now)
    }

    private mutating func learn(_ links: Int, at now: Moment) -> Bool {
        failures = []
        guard links > 0, links < limit else { return false }
        limit = links
        learned = now
        return true
    }
}

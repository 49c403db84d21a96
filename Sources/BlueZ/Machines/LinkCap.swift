package import Base

/// The limit of simultaneous links of an adapter: the operator's limit, temporarily lowered by
/// experience.
///
/// Adapters do not report their limit in advance. A full adapter either reports that it is full, or
/// fails like any other. In the second case only consecutive failures of several modules, while
/// other links exist, indicate a limit. Such a limit may be wrong or temporary, so it is raised
/// again step by step; and it is dropped when one of these modules fails with room to spare, too.
package struct LinkCap: Equatable {
    /// The number of modules that must fail in a row; a module that always fails is itself the
    /// cause.
    private static let modulesInARow = 3
    /// How long a learned limit holds before one more link is tried.
    package static let memory = Duration.seconds(300)

    private let allowed: Int
    package private(set) var limit: Int
    private var learned: Moment?
    /// Modules whose links failed since the last successful one.
    private var failures: Set<String> = []
    /// The modules whose failures led to the limit.
    private var suspects: Set<String> = []

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

    /// An attempt failed without a reason while `links` links were open.
    ///
    /// Returns true when a lower limit was learned.
    package mutating func failed(_ module: String, beside links: Int, at now: Moment) -> Bool {
        guard links > 0 else {
            failures = []
            acquit(module)
            return false
        }
        if links < limit { acquit(module) }
        failures.insert(module)
        guard failures.count >= Self.modulesInARow else { return false }
        let modules = failures
        guard learn(links, at: now) else { return false }
        suspects = modules
        return true
    }

    /// The module fails with fewer links than the limit allows: it is itself the cause of the
    /// failures that were taken for a limit.
    private mutating func acquit(_ module: String) {
        guard suspects.contains(module) else { return }
        suspects = []
        limit = allowed
        learned = nil
    }

    /// The adapter reported that it cannot carry more than the `links` open links.
    package mutating func refused(beside links: Int, at now: Moment) -> Bool {
        learn(links, at: now)
    }

    private mutating func learn(_ links: Int, at now: Moment) -> Bool {
        failures = []
        suspects = []
        guard links > 0, links < limit else { return false }
        limit = links
        learned = now
        return true
    }
}

package import Base

/// The limit of simultaneous links of an adapter: the operator's limit, temporarily lowered by
/// experience.
///
/// Adapters do not report their limit in advance. A full adapter either reports that it is full, or
/// fails like any other. In the second case only consecutive failures of several modules, while
/// other links exist, indicate a limit. That is a guess: it is dropped when one more link is made,
/// and when one of these modules fails with room to spare, too. A module that fails with room to
/// spare is itself the cause, and its failures say nothing about the adapter.
package struct LinkCap: Equatable {
    /// The number of modules that must fail in a row; a module that always fails is itself the
    /// cause.
    static let modulesInARow = 3
    /// How long a learned limit holds before one more link is tried.
    package static let memory = Duration.seconds(300)
    /// How long a guess holds before one more link is tried; twice as long after each failure.
    package static let doubt = Duration.seconds(30)
    /// How long it counts that the adapter carried a number of links: later, another program may
    /// have one of them.
    package static let proof = Duration.seconds(120)

    /// A limit that the adapter did not report.
    private struct Guess: Equatable {
        let links: Int
        /// The modules whose failures led to it.
        var suspects: Set<String>
        var patience = LinkCap.doubt
    }

    /// The most links that were open at once lately.
    private struct Load: Equatable {
        var links = 0
        var last = Moment(nanoseconds: 0)
    }

    private let allowed: Int
    package private(set) var limit: Int
    private var learned: Moment?
    private var guess: Guess?
    private var load = Load()
    /// Modules whose links failed since the last successful one.
    private var failures: Set<String> = []
    /// Modules that last failed with room to spare.
    private var faulty: Set<String> = []

    package init(_ allowed: Int) {
        self.allowed = max(1, allowed)
        limit = self.allowed
    }

    package mutating func hasRoom(beside links: Int, at now: Moment) -> Bool {
        if let since = learned, since.duration(to: now) >= guess?.patience ?? Self.memory {
            limit = min(allowed, limit + 1)
            // A guess is tried with one link more, until that is made or fails.
            learned = limit < allowed && guess == nil ? now : nil
        }
        return links < limit
    }

    /// The adapter carries this many links now.
    package mutating func carries(_ links: Int, at now: Moment) {
        if links >= carried(at: now) { load = Load(links: links, last: now) }
    }

    private func carried(at now: Moment) -> Int {
        load.last.duration(to: now) < Self.proof ? load.links : 0
    }

    /// The module was connected, as one of `links` links.
    package mutating func connected(_ module: String, as links: Int, at now: Moment) {
        failures = []
        faulty.remove(module)
        carries(links, at: now)
        if let guess, links > guess.links { drop() }
    }

    /// An attempt failed without a reason while `links` links were open.
    ///
    /// Returns true when a lower limit was guessed.
    package mutating func failed(_ module: String, beside links: Int, at now: Moment) -> Bool {
        guard links > 0, links >= carried(at: now), links >= guess?.links ?? 0 else {
            failures = []
            faulty.insert(module)
            if let guess, guess.suspects.contains(module) { drop() }
            return false
        }
        carries(links, at: now)
        guard !faulty.contains(module) else { return false }
        if var guess {
            guess.suspects.insert(module)
            guess.patience = min(Self.memory, guess.patience * 2)
            (self.guess, limit, learned) = (guess, guess.links, now)
            return false
        }
        failures.insert(module)
        guard failures.count >= Self.modulesInARow else { return false }
        let suspects = failures
        guard learn(links, at: now) else { return false }
        guess = Guess(links: links, suspects: suspects)
        return true
    }

    private mutating func drop() {
        guess = nil
        limit = allowed
        learned = nil
    }

    /// The adapter reported that it cannot carry more than the `links` open links.
    package mutating func refused(beside links: Int, at now: Moment) -> Bool {
        learn(links, at: now)
    }

    private mutating func learn(_ links: Int, at now: Moment) -> Bool {
        failures = []
        guard links > 0, links < limit else { return false }
        guess = nil
        limit = links
        learned = now
        return true
    }
}

package import Base
import Operations

/// Counts tokens that are not in the list, so that nobody can try many of them.
///
/// After too many in a minute, tokens that were not accepted before are not looked at for the rest of
/// it. Who works with a token already is not held up.
package struct LiveAttempts: Sendable {
    /// The result for a token.
    package enum Result: Sendable, Equatable {
        case accepted(LiveAccess.Person)
        case unknown
        /// There were too many: it was not looked at.
        case late
    }

    package static let most = 20
    static let span = Duration.seconds(60)

    /// The latest unknown tokens; the oldest first, and never more than `most`.
    private var unknown: [Moment] = []
    /// The digests of tokens that were accepted before.
    private var known: Set<SHA256Digest> = []

    package init() {}

    package mutating func look(
        at token: String,
        in access: LiveAccess,
        at now: Moment
    ) -> Result {
        let person = access.person(with: token)
        if let person, known.contains(person.token) { return .accepted(person) }
        unknown.removeAll { $0.duration(to: now) >= Self.span }
        guard unknown.count < Self.most else { return .late }
        guard let person else {
            unknown.append(now)
            return .unknown
        }
        known = known.filter { digest in access.people.contains { $0.token == digest } }
        known.insert(person.token)
        return .accepted(person)
    }
}

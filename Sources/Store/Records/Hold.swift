package import Base

/// The fact that a rollout is paused, aborted or recalled: a state with an author, in force until it
/// is lifted.
package struct Hold: Sendable, Equatable {
    package enum Kind: String, CaseIterable, Sendable {
        /// Nothing is begun before `resume`.
        case paused
        /// Ended before all its work was done.
        case aborted
        /// Ended because its vehicles are brought back to what they ran before.
        case recalled

        /// Whether only a new beginning ends it.
        package var isForGood: Bool { self != .paused }

        fileprivate var weight: Int {
            switch self {
            case .paused: 0
            case .aborted: 1
            case .recalled: 2
            }
        }
    }

    package let rollout: String
    package let kind: Kind
    package let reason: String
    /// Who set it: a person's name, or the part of the program.
    package let author: String
    package let made: WallTime
    /// The wave, from 0, that has ended and stopped the rollout; nil for a gate and a person.
    package let afterWave: Int?

    package init(
        _ kind: Kind,
        _ rollout: String,
        reason: String,
        author: String,
        at made: WallTime,
        afterWave: Int? = nil
    ) {
        self.kind = kind
        self.rollout = rollout
        self.reason = reason
        self.author = author
        self.made = made
        self.afterWave = afterWave
    }

    /// The author of a hold that a gate or a wave set.
    package static let gate = "gate"

    package var isByGate: Bool { author == Self.gate }

    /// Both holds as one: the graver one, and of equal ones this one, with the reasons of both.
    func with(_ other: Hold) -> Hold {
        let isGraver = other.kind.weight > kind.weight
        let (first, second) = isGraver ? (other, self) : (self, other)
        guard !first.reason.contains(second.reason) else { return first }
        let words = isGraver ? "before that" : "then"
        return Hold(
            first.kind,
            rollout,
            reason: "\(first.reason); \(words), by \(second.author): \(second.reason)",
            author: first.author,
            at: first.made,
            afterWave: first.afterWave ?? second.afterWave
        )
    }

    static let columns = "rollout, kind, reason, author, made, after_wave"

    init(row: borrowing SQLStatement, from first: Int = 0) throws(JournalError) {
        rollout = row.text(first) ?? ""
        kind = try row.value(first + 1) { Kind(rawValue: $0) }
        reason = row.text(first + 2) ?? ""
        author = row.text(first + 3) ?? ""
        made = WallTime(milliseconds: row.integer(first + 4))
        afterWave = row.isNull(first + 5) ? nil : Int(row.integer(first + 5))
    }

    /// In the order of `columns`.
    var values: [Value] {
        [
            .text(rollout), .text(kind.rawValue), .text(reason), .text(author), Value(made),
            Value(afterWave),
        ]
    }
}

/// A hold that a gate or a wave sets.
package struct GateHold: Sendable, Equatable {
    package let hold: Hold
    /// Whether the run that sets it knows of a hold that was set before.
    package let isAfterAnother: Bool

    package init(_ hold: Hold, isAfterAnother: Bool) {
        self.hold = hold
        self.isAfterAnother = isAfterAnother
    }
}

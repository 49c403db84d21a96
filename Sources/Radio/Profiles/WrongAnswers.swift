/// How many wrong answers a module may be given to find out whether it is an impostor, which accepts
/// them.
///
/// A model that counts wrong answers towards a lock-out is given none.
package struct WrongAnswers: Sendable, Hashable {
    /// The most that a profile may allow.
    package static let most = 8
    package static let none = WrongAnswers(rotation: 0, verdict: 0)

    /// Before its secret is changed.
    package let rotation: Int
    /// Before a verdict of a run that has not updated it.
    package let verdict: Int

    package init(rotation: Int, verdict: Int) {
        self.rotation = rotation
        self.verdict = verdict
    }
}

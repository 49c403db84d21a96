/// Decides over several links whether a module knows our secret, or is an impostor that has none
/// and accepts whatever it is told.
///
/// It asks for as many right answers as wrong ones, in an order that nobody can foresee. A module
/// accepts the right ones and refuses the wrong ones; an impostor has to guess each time.
package struct Interrogation: Equatable, Sendable {
    package enum Answer: Sendable { case right, wrong }

    package enum Judgement: Equatable, Sendable {
        /// Nothing is certain yet, or everything is asked.
        case goOn
        /// It accepted a wrong answer.
        case impostor
        /// It refused right answers.
        case refusesOurs
    }

    private var rights: Int
    private var wrongs: Int
    private var current: Answer?
    /// Right answers after which the link ended: refused, or lost at that moment.
    private var losses = 0

    package var isOver: Bool { rights + wrongs == 0 }

    /// Gives this many wrong answers.
    package init(wrongAnswers count: Int) { (rights, wrongs) = (count, count) }

    /// The answer to give on the next link, chosen by `chance`; nil when all were given.
    package mutating func next(_ chance: UInt64) -> Answer? {
        let left = rights + wrongs
        guard left > 0 else { return nil }
        let isWrong = chance % UInt64(left) < UInt64(wrongs)
        current = isWrong ? .wrong : .right
        return current
    }

    package mutating func accepted() -> Judgement {
        switch current {
        case .right?: rights -= 1
        case .wrong?: return .impostor
        case nil: break
        }
        current = nil
        return .goOn
    }

    /// The module refused the answer, or the link ended right after it.
    package mutating func refused() -> Judgement {
        switch current {
        case .right?:
            losses += 1
            if losses == SecretSuspicion.limit { return .refusesOurs }
        case .wrong?: wrongs -= 1
        case nil: break
        }
        current = nil
        return .goOn
    }
}

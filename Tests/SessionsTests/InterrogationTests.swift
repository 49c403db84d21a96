import Base
import Radio
import Testing

/// Right and wrong answers over several links.
@Suite struct InterrogationTests {
    /// What the other side does with an answer; it does not know whether that is right.
    private func play(
        _ count: Int,
        seed: UInt64,
        _ accepts: (Interrogation.Answer) -> Bool
    ) -> (verdict: Interrogation.Judgement, rights: Int, wrongs: Int) {
        var chance = SplitMix64(seed: seed)
        var interrogation = Interrogation(wrongAnswers: count)
        var (rights, wrongs) = (0, 0)
        while let answer = interrogation.next(chance.next()) {
            if answer == .right { rights += 1 } else { wrongs += 1 }
            let judgement = accepts(answer) ? interrogation.accepted() : interrogation.refused()
            guard judgement == .goOn else { return (judgement, rights, wrongs) }
        }
        return (.goOn, rights, wrongs)
    }

    @Test func `a module that tells right from wrong passes, with as many of each as asked`() {
        for seed in 1...200 {
            let end = play(4, seed: UInt64(seed)) { $0 == .right }
            #expect(end.verdict == .goOn && end.rights == 4 && end.wrongs == 4)
        }
    }

    @Test func `one that accepts everything is found out by its first wrong answer`() {
        for seed in 1...200 {
            let end = play(1, seed: UInt64(seed)) { _ in true }
            #expect(end.verdict == .impostor && end.wrongs == 1)
        }
    }

    @Test func `one that refuses everything refuses our secret, too`() {
        let ends = (1...1_000).map { seed in play(4, seed: UInt64(seed)) { _ in false } }
        #expect(ends.allSatisfy { $0.verdict == .refusesOurs && $0.rights == 2 })
    }

    @Test func `who guesses passes once in seventy times`() {
        var guess = SplitMix64(seed: 7)
        let passed = (1...10_000).count { seed in
            var left = [Interrogation.Answer.right: 4, .wrong: 4]
            // The best guess there is: it knows how many of each are left.
            let end = play(4, seed: UInt64(seed)) { answer in
                let (rights, wrongs) = (left[.right] ?? 0, left[.wrong] ?? 0)
                left[answer, default: 1] -= 1
                return guess.next() % UInt64(max(1, rights + wrongs)) < UInt64(rights)
            }
            return end.verdict == .goOn
        }
        #expect(passed < 500, "\(passed) of 10000")
    }

    @Test func `an answer that got lost is given again, or the other one`() {
        var interrogation = Interrogation(wrongAnswers: 1)
        #expect(interrogation.next(0) == .wrong)
        #expect(interrogation.next(1) == .right)
        #expect(interrogation.accepted() == .goOn)
        #expect(interrogation.next(9) == .wrong)
        #expect(interrogation.refused() == .goOn)
        #expect(interrogation.isOver && interrogation.next(0) == nil)
    }
}

/// Finds the word that a person probably meant.
package enum Nearest {
    /// Longer lists are not searched: thousands of mistakes among thousands of names would take
    /// minutes.
    private static let mostCandidates = 1_000

    /// The candidate with the fewest edits, if they are few for the length of the word.
    ///
    /// Of several candidates the alphabetically first one wins, so that a message is the same on
    /// every run.
    package static func match(
        _ word: String,
        among candidates: some Collection<String>
    ) -> String? {
        guard word.utf8.count <= 64, candidates.count <= mostCandidates else { return nil }
        var best: (word: String, distance: Int)?
        for candidate in candidates.sorted() where !Opposites.areTwo(word, candidate) {
            let allowed = max(1, min(3, min(word.utf8.count, candidate.utf8.count) / 2))
            let distance = distance(Array(word.lowercased().utf8), Array(candidate.utf8))
            guard distance <= allowed, distance < best?.distance ?? .max else { continue }
            best = (candidate, distance)
        }
        return best?.word
    }

    /// The candidates that the word may mean; empty when none is similar.
    package static func meant(
        by word: String,
        among candidates: some Collection<String>
    ) -> [String] {
        guard word.utf8.count <= 64, candidates.count <= mostCandidates else { return [] }
        let words = Meanings.words(for: word, among: candidates.sorted())
        return words.isEmpty ? match(word, among: candidates).map { [$0] } ?? [] : words
    }

    /// ``did you mean `x`?``, or the list of valid words.
    package static func hint(
        _ word: String,
        among candidates: some Collection<String>
    ) -> String {
        guard candidates.count <= mostCandidates else { return "check its spelling" }
        let known = candidates.sorted()
        if let hint = Meanings.hint(for: word, among: known) { return hint }
        if let match = match(word, among: known) { return "did you mean `\(match)`?" }
        if known.isEmpty { return "nothing is allowed here" }
        let shown = known.prefix(20).map { "`\($0)`" }.joined(separator: ", ")
        return "known here: " + shown + (known.count > 20 ? ", …" : "")
    }

    /// The number of insertions, deletions, replacements and swaps of neighbours between the two
    /// words.
    package static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        guard !left.isEmpty, !right.isEmpty else { return max(left.count, right.count) }
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for (row, byte) in left.enumerated() {
            var current = [row + 1]
            current.reserveCapacity(right.count + 1)
            for column in right.indices {
                let cost = byte == right[column] ? 0 : 1
                var value = min(last[column + 1] + 1, current[column] + 1, last[column] + cost)
                if row > 0, column > 0, byte == right[column - 1], left[row - 1] == right[column] {
                    value = min(value, beforeLast[column - 1] + 1)
                }
                current.append(value)
            }
            beforeLast = last
            last = current
        }
        return last[right.count]
    }
}

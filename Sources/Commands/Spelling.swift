/// Finds the word that a mistyped word was meant to be.
enum Spelling {
    /// The nearest of `words`, the first of equally near ones; nil when none is near.
    static func nearest(to word: String, among words: [String]) -> String? {
        let typed = Array(word.utf8)
        // A long word would only cost time: it is not the result of a typing error.
        guard (1...40).contains(typed.count) else { return nil }
        if typed.count >= 3, let longer = words.first(where: { $0.hasPrefix(word) }) {
            return longer
        }
        let allowed = typed.count <= 4 ? 1 : typed.count <= 8 ? 2 : 3
        var best: (word: String, distance: Int)?
        for candidate in words {
            let distance = distance(typed, Array(candidate.utf8))
            guard distance <= allowed, distance < best?.distance ?? .max else { continue }
            best = (candidate, distance)
        }
        return best?.word
    }

    /// The number of insertions, deletions, replacements and swaps of neighbours between the two
    /// words.
    static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var rows = [Array(0...right.count)]
        for (i, a) in left.enumerated() {
            var row = [i + 1]
            for (j, b) in right.enumerated() {
                var least = min(row[j] + 1, rows[i][j + 1] + 1, rows[i][j] + (a == b ? 0 : 1))
                if i > 0, j > 0, a == right[j - 1], left[i - 1] == b {
                    least = min(least, rows[i - 1][j - 1] + 1)
                }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[left.count][right.count]
    }
}

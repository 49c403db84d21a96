/// Words that differ by a few letters and have opposite meanings.
///
/// The hint for `unlock` must never be `lock`.
enum Opposites {
    private static let negations = ["un", "dis", "de", "in", "no", "non", "not", "no-", "not-"]
    private static let pairs: [Set<String>] = [
        ["on", "off"], ["enable", "disable"], ["enabled", "disabled"], ["open", "close"],
        ["allow", "forbid"], ["start", "stop"], ["in", "out"], ["true", "false"],
    ]

    static func areTwo(_ left: String, _ right: String) -> Bool {
        let (left, right) = (left.lowercased(), right.lowercased())
        if isNegated(left, right) { return true }
        let (first, second) = (parts(left), parts(right))
        guard first.count == second.count else { return false }
        return zip(first, second).contains { isNegated($0, $1) || pairs.contains([$0, $1]) }
    }

    private static func isNegated(_ left: String, _ right: String) -> Bool {
        guard left != right else { return false }
        return negations.contains { left == $0 + right || right == $0 + left }
    }

    private static func parts(_ word: String) -> [String] {
        word.split { $0 == "-" || $0 == "_" }.map(String.init)
    }
}

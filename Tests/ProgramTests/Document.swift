import Foundation

/// A document of the repository, as its tests read it.
struct Document {
    let path: String
    let lines: [Substring]

    init(_ path: String) throws {
        self.path = path
        lines = try String(contentsOf: Program.repository.appending(path: path), encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// The text without its line breaks.
    var text: String { lines.joined(separator: " ").split(separator: " ").joined(separator: " ") }

    /// The cells of the table below a header, the first one after a line that begins with `mark`.
    func table(_ header: String, after mark: String = "") -> [[String]] {
        lines.drop { !$0.hasPrefix(mark) }.drop { $0 != header }.dropFirst(2)
            .prefix { $0.hasPrefix("|") }
            .map { row in
                row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            }
    }

    /// The keys between backticks.
    var keys: Set<String> {
        var keys: Set<String> = []
        for span in lines.flatMap({ Self.words($0) }) {
            let words = span.split { !$0.isLetter && !$0.isNumber && $0 != "-" }
            keys.formUnion(words.map(String.init))
        }
        return keys
    }

    /// What is between backticks.
    static func words(_ text: some StringProtocol) -> [String] {
        String(text).matches(of: /`([^`]+)`/).map { String($0.1) }
    }
}

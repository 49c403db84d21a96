/// A pattern for target paths: `*` and `?` match characters other than `/`.
package struct PathPattern: Sendable, Equatable {
    private let parts: [[Unicode.Scalar]]

    package init(_ text: String) { parts = Self.split(text) }

    package func matches(_ path: ExactText) -> Bool {
        let names = Self.split(path.text)
        return names.count == parts.count
            && zip(parts, names).allSatisfy { Self.matches($0[...], $1[...]) }
    }

    private static func split(_ text: String) -> [[Unicode.Scalar]] {
        text.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false).map(Array.init)
    }

    /// Goes back only to the last `*`, so that no pattern takes long.
    private static func matches(
        _ pattern: ArraySlice<Unicode.Scalar>,
        _ name: ArraySlice<Unicode.Scalar>
    ) -> Bool {
        var (p, n) = (pattern.startIndex, name.startIndex)
        var star: (p: Int, n: Int)?
        while n < name.endIndex {
            if p < pattern.endIndex, pattern[p] == "*" {
                star = (p + 1, n)
                p += 1
            } else if p < pattern.endIndex, pattern[p] == "?" || pattern[p] == name[n] {
                p += 1
                n += 1
            } else if let last = star {
                star = (last.p, last.n + 1)
                (p, n) = (last.p, last.n + 1)
            } else {
                return false
            }
        }
        return pattern[p...].allSatisfy { $0 == "*" }
    }
}

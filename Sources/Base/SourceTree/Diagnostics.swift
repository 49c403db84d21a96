/// Collects errors and warnings while a file is read, so that all of them are reported together.
package final class Diagnostics {
    /// A hostile file could cause one error for each byte; no person reads more than this many.
    package static let most = 1_000

    private var collected: [Diagnostic] = []
    private var seen: Set<Diagnostic> = []
    private let main: String?
    package private(set) var errorCount = 0

    /// `main` is the file whose diagnostics come first, no matter when they are found.
    package init(main: String? = nil) { self.main = main }

    package var hasErrors: Bool { errorCount > 0 }

    /// True when searching for more mistakes is useless, because they would not be reported.
    package var isFull: Bool { errorCount >= Self.most }

    package func error(_ place: Place, _ message: String, hint: String? = nil) {
        add(Diagnostic(.error, place, message, hint: hint))
    }

    package func warning(_ place: Place, _ message: String, hint: String? = nil) {
        add(Diagnostic(.warning, place, message, hint: hint))
    }

    /// Adds a diagnostic once: an alias repeats the same node, and with it the same errors.
    package func add(_ diagnostic: Diagnostic) {
        if diagnostic.severity == .error { errorCount += 1 }
        guard collected.count < Self.most, seen.insert(diagnostic).inserted else { return }
        collected.append(diagnostic)
    }

    /// Sorted by file in the order of their first diagnostics, then by line.
    package var list: [Diagnostic] { collected.inOrder(main: main) }
}

extension [Diagnostic] {
    /// Sorted by file in the order of their first diagnostics, with `main` first, then by line.
    package func inOrder(main: String?) -> [Diagnostic] {
        var rank: [String: Int] = main.map { [$0: 0] } ?? [:]
        for diagnostic in self where rank[diagnostic.place.file] == nil {
            rank[diagnostic.place.file] = rank.count
        }
        func key(_ place: Place) -> (Int, Int, Int) {
            (rank[place.file] ?? .max, place.line, place.column)
        }
        return enumerated().sorted { left, right in
            let (first, second) = (key(left.element.place), key(right.element.place))
            return first == second ? left.offset < right.offset : first < second
        }.map(\.element)
    }

    /// These diagnostics and those of a later check, except at places that already have an error.
    package func adding(_ others: [Diagnostic], main: String) -> [Diagnostic] {
        let wrong = Set(filter { $0.severity == .error }.map(\.place))
        return (self + others.filter { !wrong.contains($0.place) }).inOrder(main: main)
    }
}

/// Collects what is wrong while a file is read, so that all of it is said in one go.
package final class Diagnostics {
    /// A hostile file could earn one error a byte; nobody reads past this many.
    package static let most = 1_000

    private var collected: [Diagnostic] = []
    private var seen: Set<Diagnostic> = []
    private let main: String?
    package private(set) var errorCount = 0

    /// `main` is the file whose diagnostics come first, whenever they are found.
    package init(main: String? = nil) { self.main = main }

    package var hasErrors: Bool { errorCount > 0 }

    /// True when looking for more mistakes is of no use: nobody would be told.
    package var isFull: Bool { errorCount >= Self.most }

    package func error(_ place: Place, _ message: String, hint: String? = nil) {
        add(Diagnostic(.error, place, message, hint: hint))
    }

    package func warning(_ place: Place, _ message: String, hint: String? = nil) {
        add(Diagnostic(.warning, place, message, hint: hint))
    }

    /// Takes a diagnostic once: an alias brings the same node, and so its errors, many times.
    package func add(_ diagnostic: Diagnostic) {
        if diagnostic.severity == .error { errorCount += 1 }
        guard collected.count < Self.most, seen.insert(diagnostic).inserted else { return }
        collected.append(diagnostic)
    }

    /// In the order of the files as they were met, then of their lines.
    package var list: [Diagnostic] { collected.inOrder(main: main) }
}

extension [Diagnostic] {
    /// In the order of the files as they are met, `main` first, then of their lines.
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

    /// These and what a later check has found, without what it says of places that are wrong already.
    package func adding(_ others: [Diagnostic], main: String) -> [Diagnostic] {
        let wrong = Set(filter { $0.severity == .error }.map(\.place))
        return (self + others.filter { !wrong.contains($0.place) }).inOrder(main: main)
    }
}

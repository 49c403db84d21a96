/// A position in a text file: line and character, both counted from 1.
package struct Place: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let file: String
    package let line: Int
    package let column: Int

    package init(file: String, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }

    /// The format of editors and build logs: `file:line:column`.
    package var description: String { "\(file):\(line):\(column)" }

    package static func < (left: Place, right: Place) -> Bool {
        (left.file, left.line, left.column) < (right.file, right.line, right.column)
    }
}

import Base

/// Parses steps in a cell of a table: `update: city-4.12; command: lock`, or a YAML list.
struct StepText {
    /// Longer lists of steps belong in the manifest.
    static let mostBytes = 4_096
    static let mostSteps = 100

    private let bytes: [UInt8]
    private let places: CellPlaces
    private let file: String
    private let reader: StepReader

    /// The steps of a cell; none after an error.
    static func steps(_ cell: Cell, _ reader: StepReader) -> [Step] {
        guard cell.text.utf8.count <= mostBytes else {
            reader.diagnostics.error(
                cell.place,
                "the cell holds more than \(mostBytes) bytes of steps",
                hint: "write the steps in the manifest"
            )
            return []
        }
        return StepText(cell, reader).steps()
    }

    private init(_ cell: Cell, _ reader: StepReader) {
        bytes = Array(cell.text.utf8)
        places = CellPlaces(cell)
        file = cell.place.file
        self.reader = reader
    }

    private func steps() -> [Step] {
        guard bytes.first == 0x5B else {
            let pieces = pieces()
            if pieces.count > Self.mostSteps {
                reader.diagnostics.error(
                    places.place(line: 1, column: 1),
                    "more than \(Self.mostSteps) steps in a cell",
                    hint: "write the steps in the manifest"
                )
            }
            return pieces.prefix(Self.mostSteps).flatMap(steps)
        }
        let places = places
        let tree = SourceNode.parse(bytes, file: file, reader.diagnostics) { line, column in
            places.place(line: line, column: column)
        }
        return tree.map { reader.steps($0, .steps) } ?? []
    }

    /// One `action: value` of the cell, with the line and column before its first character.
    private struct Piece {
        var range: Range<Int>
        let line: Int
        var column: Int
    }

    /// Reads a piece as the inside of a YAML map: the brace that is put before it takes one column.
    private func steps(_ whole: Piece) -> [Step] {
        var piece = whole
        let spaces = bytes[whole.range].prefix { $0 == 0x20 }.count
        piece.range = (whole.range.lowerBound + spaces)..<whole.range.upperBound
        piece.column += spaces
        let places = places
        let origin = { (line: Int, column: Int) in
            line == 1
                ? places.place(line: piece.line, column: piece.column + max(column - 1, 1))
                : places.place(line: piece.line + line - 1, column: column)
        }
        let text = bytes[piece.range]
        if text.allSatisfy({ $0 == 0x20 || $0 == 0x0A || $0 == 0x0D }) {
            reader.diagnostics.error(
                origin(1, 2),
                "an empty step",
                hint: "write steps as `update: IMAGE; command: lock`"
            )
            return []
        }
        let tree = SourceNode.parse(
            [0x7B] + text + [0x7D],
            file: file,
            reader.diagnostics,
            origin: origin
        )
        return tree.map { reader.steps(of: $0, .steps) } ?? []
    }

    /// Splits at semicolons outside quotes and brackets; one at the end is allowed.
    private func pieces() -> [Piece] {
        var pieces: [Piece] = []
        var current = Piece(range: 0..<0, line: 1, column: 0)
        var (line, column, depth) = (1, 0, 0)
        var quote: UInt8?
        for (index, byte) in bytes.enumerated() {
            if byte & 0xC0 != 0x80 { column += 1 }
            switch (byte, quote) {
            case (0x0A, _): (line, column) = (line + 1, 0)
            case (let byte, let open?): if byte == open { quote = nil }
            case (0x22, nil), (0x27, nil): quote = byte
            case (0x5B, nil), (0x7B, nil): depth += 1
            case (0x5D, nil), (0x7D, nil): depth -= 1
            case (0x3B, nil) where depth <= 0:
                current.range = current.range.lowerBound..<index
                pieces.append(current)
                current = Piece(range: (index + 1)..<(index + 1), line: line, column: column)
            default: break
            }
        }
        current.range = current.range.lowerBound..<bytes.count
        let isBlank = bytes[current.range].allSatisfy { $0 == 0x20 || $0 == 0x0A }
        if pieces.isEmpty || !isBlank { pieces.append(current) }
        return pieces
    }
}

import Base

/// Reads one map of the manifest by its table in the grammar.
///
/// Ranges and defaults come from the table, so that they always agree with the manual.
struct TableReader {
    private var fields: FieldReader
    let table: Table
    let node: SourceNode
    let diagnostics: Diagnostics
    /// Which keys the reader has read: at the end it must have read all keys of the table.
    private var asked: [Bool]

    init(_ node: SourceNode, _ table: Table, _ diagnostics: Diagnostics) {
        self.node = node
        self.table = table
        self.diagnostics = diagnostics
        asked = Array(repeating: false, count: table.fields.count)
        fields = FieldReader(node, diagnostics, as: table.what, known: table.keys)
    }

    var place: Place { node.place }

    /// The keys in the order of the file, without the user's own `x-` keys.
    var keys: [SourceNode.Entry] { fields.keys }

    func has(_ key: String) -> Bool { fields.has(key) }

    func place(of key: String) -> Place { fields.place(of: key) }

    mutating func value(_ key: String) -> SourceNode? {
        let index = table.index(of: key)
        asked[index] = true
        let isRequired = table.fields[index].presence == .required
        return fields.node(key, isRequired ? .required : .optional)
    }

    private func fallback(_ key: String) -> String {
        guard case .fallback(let text) = table[key].presence else {
            preconditionFailure("\(table.name).\(key) has no default")
        }
        return text
    }

    private func mismatch(_ key: String) -> Never {
        preconditionFailure("\(table.name).\(key) is read as what it is not")
    }

    mutating func text(_ key: String) -> String? {
        guard case .form(let form) = table[key].shape else { mismatch(key) }
        return value(key).flatMap { form.read($0, diagnostics) }
    }

    mutating func defaultedText(_ key: String) -> String { text(key) ?? fallback(key) }

    mutating func integer(_ key: String) -> Int? {
        guard case .integer(let range) = table[key].shape else { mismatch(key) }
        return value(key)?.integer(in: range, diagnostics)
    }

    mutating func defaultedInteger(_ key: String) -> Int {
        let given = integer(key)
        guard let standing = Int(fallback(key)) else { mismatch(key) }
        return given ?? standing
    }

    mutating func duration(_ key: String) -> Duration? {
        guard case .duration(let range) = table[key].shape else { mismatch(key) }
        return value(key)?.duration(in: range, diagnostics)
    }

    mutating func defaultedDuration(_ key: String) -> Duration {
        let given = duration(key)
        guard let standing = Duration(text: fallback(key)) else { mismatch(key) }
        return given ?? standing
    }

    mutating func boolean(_ key: String) -> Bool {
        guard case .boolean = table[key].shape else { mismatch(key) }
        return value(key)?.boolean(diagnostics) ?? (fallback(key) == "true")
    }

    mutating func size(_ key: String) -> ByteCount? {
        guard case .size(let range) = table[key].shape else { mismatch(key) }
        return value(key)?.byteCount(in: range, diagnostics)
    }

    mutating func defaultedSize(_ key: String) -> ByteCount {
        let given = size(key)
        guard let standing = ByteCount(fallback(key)) else { mismatch(key) }
        return given ?? standing
    }

    mutating func word<Word: CaseIterable & RawRepresentable<String>>(
        _ key: String,
        _ type: Word.Type
    ) -> Word? {
        value(key)?.choice(type, diagnostics)
    }

    mutating func defaultedWord<Word: CaseIterable & RawRepresentable<String>>(
        _ key: String,
        _ type: Word.Type
    ) -> Word {
        let given = word(key, type)
        guard let standing = Word(rawValue: fallback(key)) else { mismatch(key) }
        return given ?? standing
    }

    /// A number of vehicles, or a share of them.
    mutating func amount(_ key: String) -> Amount? {
        value(key).flatMap { node in
            if case .scalar(let text, _) = node.value, text.utf8.contains(0x25) {
                return node.percent(diagnostics).map(Amount.percent)
            }
            return node.integer(in: 0...1_000_000, diagnostics).map(Amount.count)
        }
    }

    mutating func defaultedAmount(_ key: String) -> Amount {
        let given = amount(key)
        guard let standing = Int(fallback(key)) else { mismatch(key) }
        return given ?? .count(standing)
    }

    /// A reader for the map at `key`; nil when there is none.
    mutating func reader(_ key: String) -> TableReader? {
        guard case .table(let inner) = table[key].shape else { mismatch(key) }
        return value(key).map { TableReader($0, inner, diagnostics) }
    }

    mutating func list(_ key: String, of what: String) -> [SourceNode]? {
        value(key)?.items(diagnostics, of: what)
    }

    /// Reports keys that are unknown, missing, or used without their companion.
    func finish() {
        fields.finish()
        for field in table.fields {
            guard let beside = field.beside, has(field.key), !has(beside) else { continue }
            diagnostics.error(
                fields.place(of: field.key),
                "`\(field.key)` has a meaning only beside `\(beside)`",
                hint: "remove it, or add `\(beside)`"
            )
        }
        if let forgotten = asked.firstIndex(of: false) {
            preconditionFailure("\(table.name).\(table.keys[forgotten]) is never read")
        }
    }
}

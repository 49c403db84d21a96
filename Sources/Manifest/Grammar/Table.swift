/// One key that a map of the manifest may have.
struct Field: Sendable {
    enum Presence: Sendable, Equatable {
        case required
        case optional
        /// Stands in when the key is left out, written as the user would write it.
        case fallback(String)
    }

    let key: String
    let shape: Shape
    let presence: Presence
    /// The key beside which alone this one has a meaning.
    let beside: String?
    let sentence: String

    init(
        _ key: String,
        _ shape: Shape,
        _ presence: Presence,
        beside: String? = nil,
        _ sentence: String
    ) {
        self.key = key
        self.shape = shape
        self.presence = presence
        self.beside = beside
        self.sentence = sentence
    }

    /// A key that may be left out and then means nothing.
    init(_ key: String, _ shape: Shape, _ sentence: String) {
        self.init(key, shape, .optional, sentence)
    }
}

/// The keys of one kind of map, from which reader, manual and JSON Schema are made.
struct Table: Sendable {
    /// A word of the manual.
    let name: String
    /// What the map describes, with its article, for messages.
    let what: String
    let sentence: String
    let fields: [Field]
    /// Those of the fields, in their order.
    let keys: [String]
    /// Keys of which exactly one must stand there.
    let exactlyOne: [String]
    /// What any other key would be; nil when it would be a mistake.
    let otherKeys: Shape?

    init(
        _ name: String,
        _ what: String,
        _ sentence: String,
        exactlyOne: [String] = [],
        otherKeys: Shape? = nil,
        _ fields: [Field]
    ) {
        self.name = name
        self.what = what
        self.sentence = sentence
        self.fields = fields
        keys = fields.map(\.key)
        self.exactlyOne = exactlyOne
        self.otherKeys = otherKeys
    }

    subscript(key: String) -> Field { fields[index(of: key)] }

    func index(of key: String) -> Int {
        guard let index = keys.firstIndex(of: key) else {
            preconditionFailure("the table \(name) has no key \(key)")
        }
        return index
    }

    /// The heading's link target in the manual.
    var anchor: String { name.replacing(" ", with: "-") }
}

/// One key that a map of the manifest may have.
struct Field: Sendable {
    enum Presence: Sendable, Equatable {
        case required
        case optional
        /// The value when the key is left out, as the user would write it.
        case fallback(String)
    }

    let key: String
    let shape: Shape
    let presence: Presence
    /// Another key that must be present for this one to have a meaning; nil for none.
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

    /// An optional key without a default.
    init(_ key: String, _ shape: Shape, _ sentence: String) {
        self.init(key, shape, .optional, sentence)
    }
}

/// The keys of one kind of map, from which reader, manual and JSON Schema are generated.
struct Table: Sendable {
    /// The heading in the manual.
    let name: String
    /// The map's name for messages, with its article.
    let what: String
    let sentence: String
    let fields: [Field]
    /// The keys of the fields, in their order.
    let keys: [String]
    /// Keys of which exactly one must be present.
    let exactlyOne: [String]
    /// The shape of any other key; nil when other keys are errors.
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

/// Reads the keys of one map, and adds all errors to its diagnostics.
///
/// Each reading method asks for one key, which makes it known. `finish` reports the unknown keys.
/// Keys that start with `x-` belong to the user, at every level.
package struct FieldReader {
    /// Whether a key may be left out.
    package enum Presence: Sendable { case required, optional }

    package let place: Place
    package let diagnostics: Diagnostics
    /// What the map describes, with its article, for messages: `an image`.
    package let what: String
    private let order: [SourceNode.Entry]
    /// False when the node is not a map; this is reported once, and suppresses all other errors.
    private let isMap: Bool
    /// The index of each key in `order`; nil for small maps, where a search is faster.
    private let index: [String: Int]?
    private var known: [String]
    private var missing: [String] = []

    /// `known` lists keys that are valid even if this reader does not read them.
    package init(
        _ node: SourceNode,
        _ diagnostics: Diagnostics,
        as what: String = "a map",
        known: [String] = []
    ) {
        place = node.place
        self.diagnostics = diagnostics
        self.what = what
        self.known = known
        let entries = node.entries(diagnostics, of: "\(what) as a map")
        let order = entries ?? []
        self.order = order
        isMap = entries != nil
        guard order.count > Self.smallMap else {
            index = nil
            return
        }
        index = Dictionary(
            order.indices.map { (order[$0].key, $0) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    private static let smallMap = 24

    private func entry(_ key: String) -> SourceNode.Entry? {
        guard let index else { return order.first { $0.key == key } }
        return index[key].map { order[$0] }
    }

    /// The keys in the order of the file, without the user's own `x-` keys.
    package var keys: [SourceNode.Entry] { order.filter { !$0.key.hasPrefix("x-") } }

    package func has(_ key: String) -> Bool { entry(key) != nil }

    /// The value of `key`, without conversion; `finish` reports a missing required key.
    package mutating func node(_ key: String, _ presence: Presence = .required) -> SourceNode? {
        know(key)
        guard isMap else { return nil }
        if let entry = entry(key) { return entry.value }
        if presence == .required, !missing.contains(key) { missing.append(key) }
        return nil
    }

    /// Makes a key known without reading it.
    package mutating func know(_ key: String) {
        if !known.contains(key) { known.append(key) }
    }

    /// Removes `key` from the missing keys: its absence was already reported in another way.
    package mutating func excuse(_ key: String) { missing.removeAll { $0 == key } }

    /// The place of the key, or of the map when there is no such key.
    package func place(of key: String) -> Place { entry(key)?.keyPlace ?? place }

    package mutating func text(_ key: String, _ presence: Presence = .required) -> String? {
        node(key, presence)?.text(diagnostics)
    }

    package mutating func text(_ key: String, default fallback: String) -> String {
        text(key, .optional) ?? fallback
    }

    package mutating func integer(
        _ key: String,
        in range: ClosedRange<Int>,
        _ presence: Presence = .required
    ) -> Int? {
        node(key, presence)?.integer(in: range, diagnostics)
    }

    package mutating func integer(
        _ key: String,
        in range: ClosedRange<Int>,
        default fallback: Int
    ) -> Int {
        integer(key, in: range, .optional) ?? fallback
    }

    package mutating func boolean(_ key: String, default fallback: Bool) -> Bool {
        node(key, .optional)?.boolean(diagnostics) ?? fallback
    }

    package mutating func duration(
        _ key: String,
        in range: ClosedRange<Duration> = .zero ... .seconds(365 * 86_400),
        _ presence: Presence = .required
    ) -> Duration? {
        node(key, presence)?.duration(in: range, diagnostics)
    }

    package mutating func duration(
        _ key: String,
        in range: ClosedRange<Duration> = .zero ... .seconds(365 * 86_400),
        default fallback: Duration
    ) -> Duration {
        duration(key, in: range, .optional) ?? fallback
    }

    package mutating func byteCount(
        _ key: String,
        in range: ClosedRange<Int> = 0...Int.max,
        _ presence: Presence = .required
    ) -> ByteCount? {
        node(key, presence)?.byteCount(in: range, diagnostics)
    }

    package mutating func percent(_ key: String, _ presence: Presence = .required) -> Percent? {
        node(key, presence)?.percent(diagnostics)
    }

    package mutating func choice<Choice: CaseIterable & RawRepresentable<String>>(
        _ key: String,
        _ type: Choice.Type,
        _ presence: Presence = .required
    ) -> Choice? {
        node(key, presence)?.choice(type, diagnostics)
    }

    package mutating func choice<Choice: CaseIterable & RawRepresentable<String>>(
        _ key: String,
        default fallback: Choice
    ) -> Choice {
        choice(key, Choice.self, .optional) ?? fallback
    }

    /// One of these words.
    package mutating func word(
        _ key: String,
        of words: [String],
        _ presence: Presence = .required
    ) -> String? {
        node(key, presence)?.word(of: words, diagnostics)
    }

    /// The items of a list; empty when the key is absent or its value is not a list.
    package mutating func list(
        _ key: String,
        _ presence: Presence = .required,
        of what: String = "values"
    ) -> [SourceNode] {
        node(key, presence)?.items(diagnostics, of: what) ?? []
    }

    /// The entries of a map with free keys; empty when the key is absent or its value is not a map.
    package mutating func map(
        _ key: String,
        _ presence: Presence = .required,
        of what: String = "a map"
    ) -> [SourceNode.Entry] {
        node(key, presence)?.entries(diagnostics, of: what) ?? []
    }

    /// A reader for the map at `key`; nil when there is none.
    package mutating func reader(
        _ key: String,
        as what: String,
        _ presence: Presence = .required
    ) -> FieldReader? {
        node(key, presence).map { FieldReader($0, diagnostics, as: what) }
    }

    /// Reports the unknown keys and the missing ones.
    ///
    /// A key that is missing because it is misspelled is one mistake, so it is reported once.
    package func finish() {
        var meant: Set<String> = []
        let strange = order.filter { !known.contains($0.key) && !$0.key.hasPrefix("x-") }
        // A key that is already present cannot be the one that was meant.
        let free = strange.isEmpty ? [] : Set(known.filter { !has($0) })
        for entry in strange where !diagnostics.isFull {
            meant.formUnion(Nearest.meant(by: entry.key, among: free))
            diagnostics.error(
                entry.keyPlace,
                "unknown key \(quoted(entry.key)) in \(what)",
                hint: Nearest.hint(entry.key, among: free)
            )
        }
        for key in missing where !meant.contains(key) {
            diagnostics.error(place, "\(what) needs the key `\(key)`", hint: "add `\(key): …`")
        }
    }
}

/// A value of a YAML file that knows where it stands.
package struct SourceNode: Sendable, Equatable {
    package enum Value: Sendable, Equatable {
        case scalar(String, Style)
        case list([SourceNode])
        case map([Entry])
    }

    /// How a scalar was written: only plain ones can be a number, a truth value or nothing.
    package enum Style: Sendable, Equatable {
        case plain
        case quoted
        /// After `|` or `>`.
        case block
    }

    /// A key and what it stands for.
    package struct Entry: Sendable, Equatable {
        package let key: String
        package let keyPlace: Place
        package let value: SourceNode

        package init(key: String, keyPlace: Place, value: SourceNode) {
            self.key = key
            self.keyPlace = keyPlace
            self.value = value
        }
    }

    package let place: Place
    package let value: Value

    package init(_ value: Value, at place: Place) {
        self.value = value
        self.place = place
    }

    /// True for an empty plain scalar, `~` and `null`.
    package var isNothing: Bool {
        guard case .scalar(let text, .plain) = value, text.utf8.count <= 4 else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(text)
    }

    /// What a person would call it; never its content, which may be a secret.
    package var kind: String {
        switch value {
        case .list: return "a list"
        case .map: return "a map"
        case .scalar(let text, let style):
            if isNothing { return "nothing" }
            guard style == .plain else { return "text" }
            if ["true", "True", "TRUE", "false", "False", "FALSE"].contains(text) {
                return "a truth value"
            }
            return PlainNumber.looksLikeOne(text) ? "a number" : "text"
        }
    }
}

extension SourceNode {
    /// Reads a YAML file; nil when `diagnostics` got the reason.
    ///
    /// A file that cannot be opened is the one thing thrown: it has no place to point at.
    package static func load(
        path: String,
        _ diagnostics: Diagnostics,
        limits: YAMLLimits = YAMLLimits()
    ) throws(FileError) -> SourceNode? {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try TextFile.read(path: path, limit: limits.bytes)
        } catch {
            guard case .tooLarge(let limit) = error.reason else { throw error }
            diagnostics.add(YAMLFault.tooLarge(limit: limit).diagnostic(file: path))
            return nil
        }
        return parse(bytes, file: path, diagnostics, limits: limits)
    }

    /// Reads YAML that is already in memory; nil when `diagnostics` got the reason.
    ///
    /// `origin` turns a line and column of the text into a place, for text that stands inside
    /// another file.
    package static func parse(
        _ bytes: [UInt8],
        file: String,
        _ diagnostics: Diagnostics,
        limits: YAMLLimits = YAMLLimits(),
        origin: ((_ line: Int, _ column: Int) -> Place)? = nil
    ) -> SourceNode? {
        let origin = origin ?? { line, column in Place(file: file, line: line, column: column) }
        let (tree, faults) = YAMLReader.read(bytes, limits: limits, origin: origin)
        for fault in faults { diagnostics.add(fault.diagnostic(file: file)) }
        return faults.isEmpty ? tree : nil
    }
}

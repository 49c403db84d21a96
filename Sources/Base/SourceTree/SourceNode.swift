/// A value in a YAML file, with its place.
package struct SourceNode: Sendable, Equatable {
    package enum Value: Sendable, Equatable {
        case scalar(String, Style)
        case list([SourceNode])
        case map([Entry])
    }

    /// The style of a scalar: only a plain one can be a number, a truth value or null.
    package enum Style: Sendable, Equatable {
        case plain
        case quoted
        /// Written after `|` or `>`.
        case block
    }

    /// A key with its value.
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

    /// The kind of the value in plain words; never its content, which may be a secret.
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
    /// Reads a YAML file; nil when `diagnostics` has received errors.
    ///
    /// Throws only when the file cannot be opened, since such an error has no place in the file.
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

    /// Reads YAML from memory; nil when `diagnostics` has received errors.
    ///
    /// `origin` converts a line and column of the text to a place, for text that is part of another
    /// file.
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

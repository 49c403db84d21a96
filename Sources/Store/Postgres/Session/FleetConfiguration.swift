import Base

/// The content of `/etc/yardmaster/fleet.conf`: lines of `KEY = VALUE`, with comments after `#`.
package struct FleetConfiguration: Sendable, Equatable {
    package let fleet: String?
    package let gateway: String?
    /// The fleet's name in plans that people approve.
    package let name: String?

    package static let keys = ["fleet", "gateway", "name"]

    package init(_ text: String) throws(FleetConfigurationError) {
        var values: [String: String] = [:]
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let bare = Self.trimmed(line)
            if bare.isEmpty || bare.hasPrefix("#") { continue }
            let parts = bare.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else {
                throw FleetConfigurationError(line: index + 1, words: "there is no '='")
            }
            let key = Self.trimmed(parts[0])
            let value = Self.trimmed(parts[1])
            guard Self.keys.contains(key) else {
                throw FleetConfigurationError(
                    line: index + 1,
                    words: "\(key.visible) is no key of it; there are "
                        + Self.keys.joined(separator: ", ")
                )
            }
            guard !value.isEmpty, values.updateValue(value, forKey: key) == nil else {
                throw FleetConfigurationError(
                    line: index + 1,
                    words: value.isEmpty ? "\(key) has no value" : "\(key) stands there twice"
                )
            }
        }
        fleet = values["fleet"]
        gateway = values["gateway"]
        name = values["name"]
    }

    private static func trimmed(_ text: Substring) -> String {
        let blank: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\r" || $0 == "\r\n" }
        return String(text.drop(while: blank).reversed().drop(while: blank).reversed())
    }
}

/// The error in the file, with its line.
package struct FleetConfigurationError: Error, Equatable {
    package let line: Int
    package let words: String

    package init(line: Int, words: String) {
        self.line = line
        self.words = words
    }
}

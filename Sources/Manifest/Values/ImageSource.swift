/// Where an image is fetched from.
package enum ImageSource: Sendable, Hashable, CustomStringConvertible {
    case https(String)
    /// Without encryption; its bytes are still checked.
    case http(String)
    case file(FileReference)

    package enum ParseError: Error, Equatable, Sendable {
        case unknownScheme
        case noHost
        /// A name or password stands in the URL, which must not be shown.
        case hasCredentials
        /// `file://` with a host, or no path.
        case badPath
        /// White space or characters outside ASCII.
        case badCharacter
    }

    package init(_ text: String, relativeTo directory: String) throws(ParseError) {
        if text.hasPrefix("file:") {
            self = .file(try Self.file(String(text.dropFirst(5)), relativeTo: directory))
            return
        }
        guard text.utf8.count <= 2_048, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .badCharacter
        }
        if text.hasPrefix("https://") {
            try Self.checkHost(text.dropFirst(8))
            self = .https(text)
        } else if text.hasPrefix("http://") {
            try Self.checkHost(text.dropFirst(7))
            self = .http(text)
        } else {
            throw .unknownScheme
        }
    }

    private static func file(
        _ rest: String,
        relativeTo directory: String
    ) throws(ParseError) -> FileReference {
        let path = rest.hasPrefix("///") ? String(rest.dropFirst(2)) : rest
        guard !path.isEmpty, !path.hasPrefix("//"), !path.hasSuffix("/") else { throw .badPath }
        return FileReference(path, relativeTo: directory)
    }

    private static func checkHost(_ rest: Substring) throws(ParseError) {
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !authority.utf8.contains(0x40) else { throw .hasCredentials }
        guard let first = authority.utf8.first, first != 0x3A else { throw .noHost }
    }

    /// Without what stands behind a `?`, which may be a token.
    package var description: String {
        switch self {
        case .https(let url), .http(let url):
            url.prefix { $0 != "?" && $0 != "#" } + (url.contains("?") ? "?…" : "")
        case .file(let reference):
            (reference.text.hasPrefix("/") ? "file://" : "file:") + reference.text
        }
    }
}

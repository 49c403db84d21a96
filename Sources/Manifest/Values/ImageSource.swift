package import Base

/// The source of an image.
package enum ImageSource: Sendable, Hashable, CustomStringConvertible {
    case https(String)
    /// Not encrypted; its bytes are still verified.
    case http(String)
    case file(FileReference)

    package enum ParseError: Error, Equatable, Sendable {
        case unknownScheme
        case noHost
        case noPort
        /// The URL contains a name or password, which must not be shown.
        case hasCredentials
        /// `file://` with a host, or no path.
        case badPath
        /// A `file:` URL contains a `%` that is not followed by two hex digits.
        case badEscape
        /// Decoding gives a slash or a zero byte, or invalid UTF-8.
        case forbiddenEscape, notText
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
        let path = try decoded(rest.hasPrefix("///") ? rest.dropFirst(2) : rest[...])
        guard !path.isEmpty, !path.hasPrefix("//"), !path.hasSuffix("/") else { throw .badPath }
        return FileReference(path, relativeTo: directory)
    }

    /// The path that the URL encodes (RFC 3986, section 2.1).
    private static func decoded(_ text: Substring) throws(ParseError) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == 0x25 else {
                bytes.append(byte)
                continue
            }
            guard let digits = String(rest.prefix(2)), let value = Hex.bytes(digits)?.first else {
                throw .badEscape
            }
            guard value != 0, value != 0x2F else { throw .forbiddenEscape }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        guard let path = String(validating: bytes, as: UTF8.self) else { throw .notText }
        return path
    }

    private static func checkHost(_ rest: Substring) throws(ParseError) {
        do throws(WebAuthority.Fault) {
            _ = try WebAuthority(rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" })
        } catch {
            switch error {
            case .noHost: throw .noHost
            case .noPort: throw .noPort
            case .hasCredentials: throw .hasCredentials
            }
        }
    }

    /// The source without its query, which may contain a token.
    package var description: String {
        switch self {
        case .https(let url), .http(let url):
            url.prefix { $0 != "?" && $0 != "#" } + (url.contains("?") ? "?…" : "")
        case .file(let reference):
            (reference.text.hasPrefix("/") ? "file://" : "file:") + reference.text
        }
    }
}

/// A reference to a module's secret; never the secret itself.
package enum SecretReference: Sendable, Hashable, CustomStringConvertible {
    case file(FileReference)
    /// A name in the service manager's credentials directory.
    case credential(String)
    /// A variable of the environment, which other processes may be able to read.
    case environment(String)

    package enum ParseError: Error, Equatable, Sendable {
        /// The text is no reference: it may be the secret itself, so it must not be shown.
        case notAReference
        case emptyName
        /// The name contains an invalid character, or looks like a key.
        case badName
    }

    package init(_ text: String, relativeTo directory: String) throws(ParseError) {
        guard let colon = text.utf8.firstIndex(of: 0x3A) else { throw .notAReference }
        let name = String(text[text.utf8.index(after: colon)...])
        switch text[..<colon] {
        case "file":
            let path = name.hasPrefix("///") ? String(name.dropFirst(2)) : name
            guard !path.isEmpty else { throw .emptyName }
            guard !path.hasPrefix("//"), !path.hasSuffix("/") else { throw .badName }
            self = .file(FileReference(path, relativeTo: directory))
        case "credential":
            try Self.check(name, also: [0x2D, 0x2E, 0x40])
            guard name != ".", name != ".." else { throw .badName }
            self = .credential(name)
        case "env":
            try Self.check(name, also: [])
            self = .environment(name)
        default: throw .notAReference
        }
    }

    private static func check(_ name: String, also marks: [UInt8]) throws(ParseError) {
        let bytes = name.utf8
        guard !bytes.isEmpty else { throw .emptyName }
        let isHex = bytes.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
            default: false
            }
        }
        // A key that was pasted after the prefix must be detected too.
        guard bytes.count <= 128, !(isHex && bytes.count >= 32) else { throw .badName }
        let fits = bytes.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F: true
            default: marks.contains(byte)
            }
        }
        guard fits else { throw .badName }
    }

    package var description: String {
        switch self {
        case .file(let reference): "file:" + reference.text
        case .credential(let name): "credential:" + name
        case .environment(let name): "env:" + name
        }
    }
}

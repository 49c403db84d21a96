/// A file as a document names it, with its path on this machine.
package struct FileReference: Sendable, Hashable {
    /// The text in the document; relative to the document unless it starts with `/`.
    package let text: String
    /// The path to open.
    package let path: String

    /// `directory` is the document's own directory, empty for the current one.
    package init(_ text: String, relativeTo directory: String) {
        self.text = text
        let base = directory.isEmpty || directory.hasSuffix("/") ? directory : directory + "/"
        path = text.hasPrefix("/") ? text : base + text
    }

    private init(text: String, path: String) {
        self.text = text
        self.path = path
    }

    /// The file whose name has this ending added.
    package func appending(_ ending: String) -> FileReference {
        FileReference(text: text + ending, path: path + ending)
    }

    /// The path as a URL that `ImageSource` reads.
    package static func url(_ path: String) -> String {
        let marks = Array("/-._~".utf8)
        return (path.hasPrefix("/") ? "file://" : "file:")
            + path.utf8.map { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: String(UnicodeScalar(byte))
                case _ where marks.contains(byte): String(UnicodeScalar(byte))
                default: "%" + Hex.text([byte])
                }
            }.joined()
    }

    /// The directory part of a path: empty for a bare name.
    package static func directory(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: 0x2F) else { return "" }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

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

    /// The directory part of a path: empty for a bare name.
    package static func directory(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: 0x2F) else { return "" }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

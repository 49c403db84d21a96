import Foundation
import Testing

/// The checkout from which these tests were built.
enum Repository {
    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// A Swift file, with the folder that is its room.
    struct Source {
        let room: String
        let name: String
        let lines: [Substring]
    }

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The folders in a folder, sorted.
    static func folders(_ path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(
            at: root.appending(path: path),
            includingPropertiesForKeys: [.isDirectoryKey]
        )
        .filter { try $0.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true }
        .map(\.lastPathComponent).filter { !$0.hasPrefix(".") }.sorted()
    }

    static func sources(_ folder: String = "Sources") throws -> [Source] {
        let base = root.appending(path: folder)
        let files = try #require(FileManager.default.enumerator(atPath: base.path))
        return try files.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }.sorted()
            .map { path in
                Source(
                    room: String(path.prefix { $0 != "/" }),
                    name: "\(folder)/\(path)",
                    lines: try text("\(folder)/\(path)")
                        .split(separator: "\n", omittingEmptySubsequences: false)
                )
            }
    }

    /// All text files below a folder.
    static func texts(_ folder: String) throws -> [Source] {
        let base = root.appending(path: folder)
        let files = try #require(FileManager.default.enumerator(atPath: base.path))
        return files.compactMap { $0 as? String }.sorted().compactMap { path in
            // Folders and images are skipped.
            guard let text = try? text("\(folder)/\(path)") else { return nil }
            return Source(
                room: String(path.prefix { $0 != "/" }),
                name: "\(folder)/\(path)",
                lines: text.split(separator: "\n", omittingEmptySubsequences: false)
            )
        }
    }

    /// The modules that a file imports, from this package and from others.
    static func imports(_ source: Source) -> [String] {
        source.lines.compactMap { line in
            guard line.contains("import") else { return nil }
            let words = line.split(separator: " ")
            guard let index = words.firstIndex(of: "import"), index < 2,
                words.prefix(index).allSatisfy({
                    ["package", "public", "@testable"].contains($0)
                })
            else { return nil }
            return words.count > index + 1 ? String(words[index + 1]) : nil
        }
    }
}

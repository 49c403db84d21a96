import Foundation
import Testing

/// There is one way to files of ours, the folder `Base/Files`, so that no link and no exchanged folder leads elsewhere.
@Suite struct FileTests {
    /// Calls that change what a path names, or write to it.
    private static let calls = [
        "rename", "renameat", "unlink", "unlinkat", "mkdir", "mkdirat", "rmdir", "linkat",
        "symlink", "symlinkat", "chmod", "fchmodat", "chown", "lchown", "fchownat", "truncate",
        "mkfifo", "mknod", "creat", "fopen", "mkdtemp", "mkstemp", "utimes", "utimensat",
    ]

    /// Other things than files of ours.
    private static let others = [
        // The socket of `serve`, which the kernel makes by its path.
        "Sources/Site/Live/ListeningSocket.swift",
        // The tree of a bundle's target: from an open directory, without links, with a way back.
        "Sources/Operations/Bundles/FolderDelivery.swift",
    ]

    /// Files of the kernel: the name of a thread, and the lack of a standard stream.
    private static let kernels = ["\"/proc/", "\"/dev/null\""]

    @Test func `files of ours are made, written, renamed and removed in one room`() throws {
        let call = try Regex("(^|[^\\w.])(Glibc\\.)?(\(Self.calls.joined(separator: "|")))\\(")
        let opening = try Regex("(^|[^\\w.])(Glibc\\.)?open(at)?\\(")
        let writing = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"]
        var faults: [String] = []
        for source in try Repository.sources()
        where !source.name.hasPrefix("Sources/Base/Files/") {
            guard !Self.others.contains(source.name) else { continue }
            // Without the system's module these words are names of ours.
            guard Repository.imports(source).contains("Glibc") else { continue }
            for (number, line) in source.lines.enumerated() {
                let text = line.drop { $0 == " " }
                guard !text.hasPrefix("//"), !text.contains("func "), !text.contains("try rename(")
                else { continue }
                let isOpening =
                    line.contains(opening) && !Self.kernels.contains { line.contains($0) }
                // The flags may stand on one of the next lines.
                let near = source.lines[number..<min(number + 4, source.lines.count)].joined()
                let isWriting = isOpening && writing.contains { near.contains($0) }
                if line.contains(call) || isWriting {
                    faults.append("\(source.name):\(number + 1): \(text)")
                }
            }
        }
        #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
    }
}

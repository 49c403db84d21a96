import Foundation
import Testing

/// The reaction of a machine to every event in every state, kept as a readable file.
///
/// With `UPDATE_GOLDEN=1` it is written instead of compared.
enum Table {
    static func expect(
        _ lines: [String],
        equal name: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Tables/\(name)")
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" {
            try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: file)
            return
        }
        let kept = String(decoding: try Data(contentsOf: file), as: UTF8.self)
            .split(separator: "\n").map { String($0) }
        #expect(lines.count == kept.count, sourceLocation: sourceLocation)
        for (line, other) in zip(lines, kept) {
            #expect(line == other, sourceLocation: sourceLocation)
        }
    }
}

import Foundation
import Testing

/// Texts that are kept as files; with `UPDATE_GOLDEN=1` they are written instead of compared.
enum Golden {
    static func expect(
        _ text: String,
        equals name: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Golden").appending(path: name)
        if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] == "1" {
            try Data(text.utf8).write(to: file)
            return
        }
        let kept = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        #expect(text == kept, sourceLocation: sourceLocation)
    }
}

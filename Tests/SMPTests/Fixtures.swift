import Foundation

/// Images that imgtool made.
func fixture(_ name: String) throws -> [UInt8] {
    let url = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Fixtures").appending(path: name)
    return [UInt8](try Data(contentsOf: url))
}

import Foundation

/// The bytes of a fixture, such as an image made by imgtool.
func fixture(_ name: String) throws -> [UInt8] {
    let url = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Fixtures").appending(path: name)
    return [UInt8](try Data(contentsOf: url))
}

package import Radio

/// The format of image files that have no package: how to recognise and read them.
package struct RawImageFormat: Sendable {
    /// The name of the format in the document of `image inspect`.
    package let name: String
    package let isOne: @Sendable ([UInt8]) -> Bool
    /// Reads the image; throws the reason when it cannot be sent.
    package let read: @Sendable ([UInt8]) throws(RawImageError) -> RawImage

    package init(
        _ name: String,
        isOne: @escaping @Sendable ([UInt8]) -> Bool,
        read: @escaping @Sendable ([UInt8]) throws(RawImageError) -> RawImage
    ) {
        self.name = name
        self.isOne = isOne
        self.read = read
    }

    /// All formats, one line each.
    package static let all: [RawImageFormat] = [.espImage]
}

/// The content of a raw image file.
package struct RawImage: Sendable, Equatable {
    package let content: ImageContent
    /// Facts about it for people: name and value.
    package let facts: [Fact]
    package let warnings: [String]

    package init(content: ImageContent, facts: [Fact], warnings: [String] = []) {
        self.content = content
        self.facts = facts
        self.warnings = warnings
    }

    package struct Fact: Sendable, Equatable {
        package let name: String
        package let value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }
}

/// Why a file is not an image that can be sent.
package struct RawImageError: Error, Hashable, Sendable {
    package let sentence: String

    package init(_ sentence: String) { self.sentence = sentence }
}

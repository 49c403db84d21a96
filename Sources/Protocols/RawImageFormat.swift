package import Modules

/// An image file that comes without a package: how it is recognised and what it holds.
package struct RawImageFormat: Sendable {
    /// As `image inspect` calls the kind in its document.
    package let name: String
    package let isOne: @Sendable ([UInt8]) -> Bool
    /// What is in it, or in words why it is no image that can be sent.
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

    /// Those of the protocols that have one, a line each.
    package static let all: [RawImageFormat] = [.espImage]
}

/// What a raw image file holds.
package struct RawImage: Sendable, Equatable {
    package let content: ImageContent
    /// What there is to tell of it: what it is called, and what it is.
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

/// Why a file is no image that can be sent.
package struct RawImageError: Error, Hashable, Sendable {
    package let sentence: String

    package init(_ sentence: String) { self.sentence = sentence }
}

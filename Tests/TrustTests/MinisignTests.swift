import Base
import Foundation
import Images
import Testing

/// Detached signatures that minisign has made.
@Suite struct MinisignTests {
    private func fixture(_ name: String) throws -> [UInt8] {
        let url = try #require(
            Bundle.module.url(
                forResource: name,
                withExtension: nil,
                subdirectory: "Fixtures/minisign"
            )
        )
        return Array(try Data(contentsOf: url))
    }

    @Test(arguments: [
        ("image", "prehashed.minisig", "hardware:comodule-17-0 counter:5"),
        ("image", "legacy.minisig", "made for tests"), ("empty", "empty.minisig", "timestamp:"),
    ])
    func `a signature of either form holds`(file: String, signature: String, comment: String) throws
    {
        let key = try MinisignKey(fixture("key.pub"))
        let signature = try MinisignSignature(fixture(signature))
        try signature.verify(fixture(file), by: key)
        #expect(signature.comment.hasPrefix(comment))
    }

    @Test func `a key is read with its comment and without`() throws {
        let text = try fixture("key.pub")
        let line = try #require(text.split(separator: 0x0A).last)
        #expect(try MinisignKey(text) == MinisignKey(Array(line)))
    }

    @Test(arguments: ["prehashed.minisig", "legacy.minisig"])
    func `one bit of the image breaks it`(name: String) throws {
        let key = try MinisignKey(fixture("key.pub"))
        let signature = try MinisignSignature(fixture(name))
        var image = try fixture("image")
        image[7] ^= 1
        #expect(throws: MinisignError.wrong) { try signature.verify(image, by: key) }
        #expect(throws: MinisignError.wrong) { try signature.verify([], by: key) }
    }

    @Test func `a signature by another key is reported by its id`() throws {
        let key = try MinisignKey(fixture("key.pub"))
        let other = try MinisignKey(fixture("other.pub"))
        let signature = try MinisignSignature(fixture("other.minisig"))
        try signature.verify(fixture("image"), by: other)
        #expect(
            throws: MinisignError.otherKey(wanted: key.description, found: other.description)
        ) { try signature.verify(fixture("image"), by: key) }
    }

    @Test(arguments: ["prehashed.minisig", "legacy.minisig"])
    func `a changed comment is found`(name: String) throws {
        let key = try MinisignKey(fixture("key.pub"))
        let text = String(decoding: try fixture(name), as: UTF8.self)
            .replacing("counter:5", with: "counter:6").replacing("made for", with: "good for")
        let signature = try MinisignSignature(Array(text.utf8))
        #expect(throws: MinisignError.wrongComment) {
            try signature.verify(fixture("image"), by: key)
        }
    }

    @Test func `every byte of a signature's text matters`() throws {
        let key = try MinisignKey(fixture("key.pub"))
        let image = try fixture("image")
        let text = try fixture("prehashed.minisig")
        let free = try #require(text.firstIndex(of: 0x0A))
        for index in text.indices.dropLast() where index > free {
            var bent = text
            bent[index] ^= 1
            #expect(throws: MinisignError.self, "byte \(index)") {
                try MinisignSignature(bent).verify(image, by: key)
            }
        }
    }

    @Test func `line ends of another system are read`() throws {
        let text = String(decoding: try fixture("prehashed.minisig"), as: UTF8.self)
            .replacing("\n", with: "\r\n")
        let signature = try MinisignSignature(Array(text.utf8))
        try signature.verify(fixture("image"), by: MinisignKey(fixture("key.pub")))
    }

    @Test(arguments: [
        "", "\n", "untrusted comment: x", "untrusted comment: x\nRWQ=\n",
        "untrusted comment: x\nAAAA\ntrusted comment: x\nAAAA\n",
    ])
    func `what is no signature is refused`(text: String) {
        #expect(throws: MinisignError.self) { try MinisignSignature(Array(text.utf8)) }
    }

    @Test(arguments: ["", "RWQ", "not base64 at all!", "AAAA", "a\nb\nc"])
    func `what is no key is refused`(text: String) {
        #expect(throws: MinisignError.badKey) { try MinisignKey(Array(text.utf8)) }
    }
}

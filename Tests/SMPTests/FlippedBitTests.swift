import Base
import Families
import Images
import Simulation
import Testing

/// A flipped bit is detected before the radio, or by the target: it never counts as a success.
@Suite struct FlippedBitTests {
    @Test(arguments: [
        "tiny.img", "sha512.img", "padded.img", "confirmed.img", "compressed.img",
    ])
    func `no bit of an unsigned image can be flipped unnoticed`(name: String) throws {
        let whole = try fixture(name)
        _ = try MCUbootFile(whole)
        var unnoticed: [Int] = []
        for bit in 0..<whole.count * 8 {
            var bytes = whole
            bytes[bit / 8] ^= 1 << (bit % 8)
            if (try? MCUbootFile(bytes)) != nil { unnoticed.append(bit) }
        }
        #expect(unnoticed.isEmpty)
    }

    @Test func `what a signed image's own hash does not cover, the bootloader refuses`() throws {
        let whole = try fixture("signed.img")
        let key = try fixture("public-key.der")
        var passed: [Int] = []
        for bit in 0..<whole.count * 8 {
            var bytes = whole
            bytes[bit / 8] ^= 1 << (bit % 8)
            guard (try? MCUbootFile(bytes)) != nil else { continue }
            passed.append(bit)
            #expect(try !starts(bytes, key: key), "bit \(bit)")
        }
        #expect(!passed.isEmpty, "the signature is not ours to check")
        let image = try MCUbootImage(whole)
        #expect(passed.allSatisfy { $0 / 8 >= image.hashedRange.upperBound })
        #expect(try starts(whole, key: key))
        #expect(try !starts(fixture("wrong-key.img"), key: key))
    }

    /// Whether a device with this key runs the image after upload, mark and restart.
    private func starts(_ bytes: [UInt8], key: [UInt8]) throws -> Bool {
        var rules = SMPServerRules()
        rules.key = key
        let old = SMPServerFacts.Content(
            version: FirmwareVersion(1, 0),
            hash: [UInt8](repeating: 0xAA, count: 32)
        )
        var server = SMPServer(
            rules: rules,
            facts: SMPServerFacts(images: [.init(active: old)]),
            memory: VolatileMemory(capacity: 8_192)
        )
        func send(_ request: SMPRequest) throws {
            _ = server.message(try #require(SMPFrame(request.bytes(sequence: 1))))
        }
        try send(
            .upload(
                SMPChunk(
                    offset: 0,
                    data: bytes[...],
                    opening: .init(image: 0, length: bytes.count, sha: nil)
                )
            )
        )
        try send(.setState(hash: MCUbootImage(bytes).hash, isConfirmed: false))
        server.restarted()
        return server.facts.images[0].active != old
    }
}

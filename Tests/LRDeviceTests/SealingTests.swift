import Base
import Families
import Testing

/// Keys and sealed values, with the keys of RFC 7748 §6.1.
@Suite struct SealingTests {
    private static let alice = "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a"
    private static let bob = "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb"
    private static let shared = "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742"
    private static let derived = "afc342ec18cdb2e850a33e12acf0440b8aac89df7a00562be4bf1c7b824a9686"
    private static let password = "00000000-0000-0000-0000-000000000000"
    private static let box =
        "000102030405060708090a0b"
        + "eccfd0e4913ded077cfeca78d2bd6203ec9f8111991c8ffe5235de1b538d34407bb77d77"
        + "8a73d35f9b290596c224d50b19564b7f"

    private func secret(_ hex: String) throws -> Secret { Secret(try bytes(hex)) }
    private func bytes(_ hex: String) throws -> [UInt8] { try #require(Hex.bytes(hex)) }
    private func hex(_ secret: Secret?) -> String? { secret?.withBytes { Hex.text($0) } }
    private func key() throws -> SealingKey {
        try #require(SealingKey(try secret(Self.derived)))
    }

    @Test func `both sides come to the published secret and key`() throws {
        guard let alice = KeyPair(secret: try secret(Self.alice)),
            let bob = KeyPair(secret: try secret(Self.bob))
        else {
            Issue.record("32 bytes are a key")
            return
        }
        #expect(
            Hex.text(alice.publicKey)
                == "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"
        )
        #expect(hex(alice.sharedSecret(with: bob.publicKey)) == Self.shared)
        #expect(hex(bob.sharedSecret(with: alice.publicKey)) == Self.shared)
        #expect(hex(LRKeys.sealingKey(from: try secret(Self.shared))) == Self.derived)
    }

    @Test func `keys of another length and points that give the secret away are refused`() throws {
        for count in [0, 31, 33] {
            let pair = KeyPair(secret: Secret([UInt8](repeating: 7, count: count)))
            let isRefused = pair == nil
            #expect(isRefused)
        }
        guard let pair = KeyPair(secret: try secret(Self.alice)) else { return }
        #expect(pair.sharedSecret(with: [UInt8](repeating: 0, count: 32)) == nil)
        #expect(pair.sharedSecret(with: [1]) == nil)
    }

    @Test func `the published sealed messages are made byte for byte`() throws {
        let sealed = try #require(
            try key().seal(Array(Self.password.utf8), nonce: Array(0..<12))
        )
        #expect(Hex.text(sealed) == Self.box)
        let setPassword = LRMessage(.request, .setPassword, isSealed: true, payload: sealed)
        #expect(setPassword.map { Hex.text($0.bytes) } == "4501020301" + Self.box)
        let setLock = LRMessage(
            .request,
            .setLockState,
            isSealed: true,
            payload: LRPayload.lock(.unlocked, sealed: sealed)
        )
        #expect(setLock.map { Hex.text($0.bytes) } == "460102040101" + Self.box)
    }

    @Test func `a box opens with its key and not with one bit changed anywhere`() throws {
        let box = try bytes(Self.box)
        let key = try key()
        #expect(key.open(box).map { String(decoding: $0, as: UTF8.self) } == Self.password)
        for bit in 0..<box.count * 8 {
            var changed = box
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(key.open(changed) == nil)
        }
        #expect(key.open(Array(box.dropLast())) == nil)
        #expect(key.open([]) == nil)
        #expect(key.seal([1], nonce: [1, 2]) == nil)
        let empty = try #require(key.seal([], nonce: Array(0..<12)))
        #expect(empty.count == SealingKey.overhead && key.open(empty) == [])
    }

    /// Test case 1 of RFC 5869.
    @Test func `a derived key is the standard's`() throws {
        let key = KeyDerivation.key(
            from: Secret([UInt8](repeating: 0x0B, count: 22)),
            salt: Array(0...12),
            info: Array(0xF0...0xF9),
            length: 42
        )
        #expect(
            hex(key)
                == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"
                + "34007208d5b887185865"
        )
    }
}

import Base
import Images
import Testing

@Suite struct SHA256Tests {
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ])
    func `the standard's examples come out`(text: String, digest: String) {
        #expect(SHA256.digest(of: Array(text.utf8)).description == digest)
    }

    @Test(arguments: [1, 63, 64, 65, 1_000])
    func `pieces of any size give the same digest`(size: Int) {
        let bytes = random(10_000, seed: 1)
        var hash = SHA256()
        for start in stride(from: 0, to: bytes.count, by: size) {
            hash.update(bytes.span.extracting(start..<min(start + size, bytes.count)))
        }
        #expect(hash.finish() == SHA256.digest(of: bytes))
    }
}

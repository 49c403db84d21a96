import Base
import Images
import Testing

/// The list of contents at the beginning of a bundle.
@Suite struct BundleIndexTests {
    private static let digest = SHA256Digest(String(repeating: "0", count: 64))
    private static let created = WallTime(milliseconds: 1_795_219_200_000)

    private func member(_ name: String, _ size: Int64) throws -> BundleIndex.Member {
        BundleIndex.Member(name: name, size: size, digest: try #require(Self.digest))
    }

    @Test func `what is written is read`() throws {
        let (bytes, members) = try BundleIndex.head(
            of: [member("b", 5), member("a/c", 7)],
            created: Self.created
        )
        #expect(members.map(\.name) == ["a/c", "b"])
        let length = try BundleIndex.indexLength(bytes)
        let index = try BundleIndex(
            Array(bytes.dropFirst(BundleIndex.headLength).prefix(length)),
            total: Int64(bytes.count) + 12
        )
        #expect(index.members == members)
        #expect(index.created == Self.created)
        #expect(try index.place(of: "b").offset == Int64(bytes.count) + 7)
        #expect(throws: BundleFault.noMember("c")) { try index.place(of: "c") }
    }

    @Test(arguments: [
        "", "/a", "a/", "a//b", "../a", "a/..", "a/./b", ".", "..", "a\0b",
        String(repeating: "a", count: 256), String(repeating: "a/", count: 512) + "a",
    ])
    func `a name that could lead elsewhere is none`(name: String) throws {
        let list = [try member(name, 1)]
        #expect(throws: BundleFault.self) {
            try BundleIndex.head(of: list, created: Self.created)
        }
    }

    @Test(arguments: ["a b", "a\\b", "a\nb", "é", "e\u{301}", "a:b", "ключ.pub", "...", "50%"])
    func `any other name is written and read`(name: String) throws {
        let head = try BundleIndex.head(of: [member(name, 1)], created: Self.created)
        #expect(head.members.map { Array($0.name.utf8) } == [Array(name.utf8)])
    }

    @Test(arguments: [["a", "a/b"], ["a/b", "a/b/c/d"], ["a/b", "a/c", "a/b/c"]])
    func `a file that would be another's folder is refused`(names: [String]) throws {
        let list = try names.map { try member($0, 1) }
        #expect(throws: BundleFault.self) { try BundleIndex.head(of: list, created: Self.created) }
    }

    @Test(arguments: [
        "", "{}", #"{"form":2,"created":0,"members":[]}"#, #"{"form":1,"created":-1,"members":[]}"#,
        #"{"form":1,"created":0,"members":{}}"#, #"{"form":1,"created":0,"members":[{}]}"#,
        #"{"form":1,"created":0,"members":[{"name":"a","size":-1,"sha256":"00"}]}"#,
    ])
    func `a damaged index is refused`(text: String) {
        #expect(throws: BundleFault.self) {
            try BundleIndex(Array(text.utf8), total: 28 + Int64(text.utf8.count))
        }
    }

    @Test func `what is only named has no bytes, and belongs to a bundle that adds to another`()
        throws
    {
        let held = BundleIndex.Member(
            name: "images/b",
            size: 70,
            digest: try #require(Self.digest),
            isHeld: true
        )
        let list = [try member("a", 5), held, try member("z", 7)]
        #expect(throws: BundleFault.self) { try BundleIndex.head(of: list, created: Self.created) }
        let head = try BundleIndex.head(of: list, created: Self.created, base: Self.digest)
        let text = Array(head.bytes.dropFirst(BundleIndex.headLength))
        let index = try BundleIndex(text, total: Int64(head.bytes.count) + 12)
        #expect(index.members == list && index.base == Self.digest && index.length == 12)
        #expect(try index.place(of: "z").offset == Int64(head.bytes.count) + 5)
    }

    @Test func `one name twice, or a size of another file, is refused`() throws {
        let twice = [try member("a", 1), try member("a", 1)]
        #expect(throws: BundleFault.self) { try BundleIndex.head(of: twice, created: Self.created) }
        let large = [try member("a", BundleIndex.largestMember + 1)]
        #expect(throws: BundleFault.self) { try BundleIndex.head(of: large, created: Self.created) }
        let (bytes, _) = try BundleIndex.head(of: [member("a", 1)], created: Self.created)
        let index = Array(bytes.dropFirst(BundleIndex.headLength))
        for wrong in [0, 2, -1] {
            #expect(throws: BundleFault.self) {
                try BundleIndex(index, total: Int64(bytes.count + wrong))
            }
        }
    }

    @Test(arguments: [0, 10, 27])
    func `a beginning that ends early is none`(count: Int) throws {
        let (bytes, _) = try BundleIndex.head(of: [], created: Self.created)
        #expect(throws: BundleFault.noBundle) {
            try BundleIndex.indexLength(Array(bytes.prefix(count)))
        }
    }

    @Test func `an index longer than any is not read`() {
        let bytes = BundleIndex.mark + [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]
        #expect(throws: BundleFault.self) { try BundleIndex.indexLength(bytes) }
    }
}

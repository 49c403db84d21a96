import Foundation
import Signers
import Testing

/// A bundle gets the same answer as the network, whatever the fault.
///
/// Each situation is made twice with the same past: once with a server, once in a bundle.
@Suite struct TrustSituationTests {
    /// A fault, and the expected message.
    struct Situation: CustomTestStringConvertible, Sendable {
        let name: String
        let status: Int32
        let sentence: String
        var make: @Sendable (inout Stage) throws -> Void = { _ in }

        var testDescription: String { name }
    }

    /// The files that are served or put into the bundle.
    struct Stage {
        let depot: SignedDepot
        /// The documents of the repository; empty for an image that is signed with a key.
        var documents: [String: [UInt8]] = [:]
        var trust = ""
        var lists = ""
        var version = "4.12.0"
        var fits = "family: comodule, type: 17, variant: 0"
        var image: [UInt8]
        var signature: [UInt8]?
        var key: [UInt8]?

        init() throws {
            depot = try SignedDepot()
            image = Array(
                try Data(contentsOf: URL(filePath: depot.folder + "/demo/city-4.12.0.zip"))
            )
        }

        mutating func tree(_ name: String, trust: String = "") throws {
            try depot.depot.serve(name)
            let folder = depot.folder + "/repository"
            for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
                documents[file] = Array(try Data(contentsOf: URL(filePath: folder + "/" + file)))
            }
            self.trust = "tuf: {repository: vendor, target: bikes/city.zip}"
        }

        mutating func sign(
            _ comment: String,
            by signer: MinisignSigner = MinisignSigner(1),
            prehashed: Bool = true
        ) {
            signature = signer.sign(image, comment: comment, prehashed: prehashed)
            key = Array(signer.publicText.utf8)
            trust = "signature: {key: keys/signer.pub, url: 'file:city.minisig'}"
        }

        /// Puts all files where the manifest expects them.
        func serve() throws {
            let folder = depot.folder
            try depot.depot.serve(nil)
            try FileManager.default.createDirectory(
                atPath: folder + "/repository",
                withIntermediateDirectories: true
            )
            for (name, bytes) in documents {
                try depot.program.write("repository/" + name, Data(bytes))
            }
            try depot.program.write("demo/city-4.12.0.zip", Data(image))
            for (name, bytes) in [("city.minisig", signature), ("keys/signer.pub", key)] {
                try? FileManager.default.removeItem(atPath: folder + "/" + name)
                if let bytes { try depot.program.write(name, Data(bytes)) }
            }
            try depot.depot.manifest(version: version, fits: fits, trust: trust, lists: lists)
        }

        /// Puts all files into a bundle, without any check.
        func bundle() throws {
            let folder = depot.folder
            func bytes(_ name: String) throws -> [UInt8] {
                Array(try Data(contentsOf: URL(filePath: folder + "/" + name)))
            }
            var loose = LooseBundle()
            loose.parts["manifest/manifest.yaml"] = try bytes("manifest.yaml")
            loose.parts["files/demo/fleet.csv"] = try bytes("demo/fleet.csv")
            loose.parts["images/\(TrustedDepot.digest)"] = image
            if trust.contains("tuf:") {
                loose.parts["files/root.json"] = try bytes("root.json")
                for (name, bytes) in documents { loose.parts["metadata/vendor/\(name)"] = bytes }
            } else if trust.contains("signature:") {
                if let signature { loose.parts["signatures/city"] = signature }
                if let key { loose.parts["files/keys/signer.pub"] = key }
            }
            try loose.write(to: folder + "/tallinn.bundle")
        }

        /// Makes the depot trust this before the situation.
        func past() throws {
            try serve()
            let result = try depot.depot.fetch()
            #expect(result.status == 0, "\(result.errors)")
            try FileManager.default.removeItem(atPath: depot.program.state + "/images")
        }
    }

    private static func tuf(
        _ tree: String,
        _ status: Int32 = 77,
        _ sentence: String = "",
        _ name: String? = nil,
        _ change: @escaping @Sendable (inout Stage) throws -> Void = { _ in }
    ) -> Situation {
        Situation(name: "repository: \(name ?? tree)", status: status, sentence: sentence) {
            stage in
            try stage.tree(tree)
            try change(&stage)
        }
    }

    private static func key(
        _ name: String,
        _ comment: String,
        _ status: Int32 = 77,
        _ sentence: String = "",
        _ change: @escaping @Sendable (inout Stage) throws -> Void = { _ in }
    ) -> Situation {
        Situation(name: "signature: \(name)", status: status, sentence: sentence) { stage in
            stage.sign(comment)
            try change(&stage)
        }
    }

    /// A situation in which an earlier comment of the same key was trusted.
    private static func after(_ comment: String) -> @Sendable (inout Stage) throws -> Void {
        { stage in
            var before = stage
            before.sign(comment)
            try before.past()
        }
    }

    private static func cut(_ name: String) -> @Sendable (inout Stage) throws -> Void {
        { stage in
            let key = try #require(stage.documents.keys.first { $0.hasSuffix(name) })
            stage.documents[key]?.removeLast(40)
        }
    }

    private static func missing(_ name: String) -> @Sendable (inout Stage) throws -> Void {
        { stage in
            let key = try #require(stage.documents.keys.first { $0.hasSuffix(name) })
            stage.documents[key] = nil
        }
    }

    static let all: [Situation] = [
        tuf("good", 0), tuf("newer", 0), tuf("with older", 0), tuf("predecessor", 0),
        tuf("denied", 77, "is on the list of those denied"),
        tuf("not allowed", 77, "is not on the list of those allowed"),
        tuf("not listed", 77, "no role that may speak for it lists the target"),
        tuf("not understood", 77, "its signed 'counter' cannot be understood"),
        tuf("other file", 77, "the manifest pins \(TrustedDepot.digest)"),
        tuf("other hardware", 77, "the manifest would put it on comodule-17-0"),
        tuf("other version", 77, "it is signed as version 4.13.0"),
        tuf("release expired", 77, "its release expired at"),
        tuf("expired", 77, "timestamp expired at"),
        tuf("rotated", 77, "timestamp is signed by 0 of the keys"),
        tuf("stale", 77, "timestamp was rolled back", "stale after newer") { stage in
            var before = stage
            try before.tree("newer")
            try before.past()
        },
        tuf("good", 77, "", "timestamp missing", missing("timestamp.json")),
        tuf("good", 77, "", "snapshot missing", missing("snapshot.json")),
        tuf("good", 77, "", "targets missing", missing("targets.json")),
        tuf("good", 77, "", "timestamp cut", cut("timestamp.json")),
        tuf("good", 77, "", "snapshot cut", cut("snapshot.json")),
        tuf("good", 77, "", "targets cut", cut("targets.json")),
        tuf("good", 77, "", "type of other hardware") { $0.fits = "family: comodule, type: 99" },
        key("right", "counter:5", 0), key("says nothing", "hello", 0),
        key("older form", "counter:5", 0) { $0.sign("counter:5", prehashed: false) },
        key("of another key", "x", 77, "not by the key") { stage in
            let other = MinisignSigner(3)
            stage.signature = other.sign(stage.image, comment: "x")
        },
        key("over other bytes", "x", 77, "the signature is not over these bytes") { stage in
            stage.signature = MinisignSigner(1).sign([1, 2, 3], comment: "x")
        },
        key("comment changed", "counter:5", 77, "trusted comment was changed") { stage in
            let text = String(decoding: stage.signature ?? [], as: UTF8.self)
            stage.signature = Array(text.replacing("counter:5", with: "counter:6").utf8)
        },
        key("missing", "x", 77, "it is not there") { $0.signature = nil },
        key("no signature at all", "x", 77, "it is no signature of minisign") {
            $0.signature = Array("hello\n".utf8)
        },
        key("hardware", "hardware:comodule-17", 0),
        key("other hardware", "hardware:comodule-18", 77, "it is signed for comodule-18"),
        key("other version", "version:4.13.0", 77, "it is signed as version 4.13.0"),
        key("expired", "expires:2026-01-01T00:00:00Z", 77, "its release expired at"),
        key("not yet expired", "expires:2099-01-01T00:00:00Z", 0),
        key("not understood", "counter:many", 77, "its signed 'counter' cannot be understood"),
        key("said twice", "counter:1 counter:2", 77, "cannot be understood"),
        key("older release", "counter:4", 77, "it is release 4, and release 5", after("counter:5")),
        key("same release", "counter:5", 0, "", after("counter:5")),
        key("newer release", "counter:6", 0, "", after("counter:5")),
        key("no longer counted", "hello", 77, "its release is not counted", after("counter:5")),
        key("older than another key's", "counter:4", 0) { stage in
            var before = stage
            before.sign("counter:9", by: MinisignSigner(8))
            try before.past()
        },
        key("key missing", "x", 66, "the key of the image city cannot be read") { $0.key = nil },
        key("key damaged", "x", 78, "cannot be used") { $0.key = Array("RWno".utf8) },
        key("denied by the manifest", "x", 77, "is on the list of those denied") {
            $0.lists = "deny: [\(TrustedDepot.digest)]"
        },
        key("not allowed by the manifest", "x", 77, "is not on the list of those allowed") {
            $0.lists = "allow: [\(String(repeating: "0", count: 64))]"
        },
        Situation(name: "digest: right", status: 0, sentence: "") { _ in },
        Situation(name: "digest: other bytes", status: 77, sentence: "") { stage in
            stage.image[100] ^= 1
        },
        Situation(name: "digest: another size than promised", status: 77, sentence: "bytes") {
            stage in
            stage.trust = "size: \(stage.image.count - 1)"
        },
    ]

    @Test func `there are as many as were promised`() {
        #expect(Self.all.count >= 40)
        #expect(Set(Self.all.map(\.name)).count == Self.all.count)
    }

    @Test(arguments: all)
    func `a bundle gets the same answer as the network`(situation: Situation) throws {
        var stage = try Stage()
        try situation.make(&stage)
        try stage.serve()
        let state = stage.depot.program.state
        let offline = stage.depot.folder + "/offline"
        if FileManager.default.fileExists(atPath: state) {
            try FileManager.default.copyItem(atPath: state, toPath: offline)
        }
        // The first state of a depot: the root, and the key.
        if !FileManager.default.fileExists(atPath: offline + "/trust/repository-vendor") {
            try FileManager.default.createDirectory(
                atPath: offline + "/trust",
                withIntermediateDirectories: true
            )
            let begun = try stage.depot.program.run([
                "trust", "--metadata-dir", offline + "/trust/repository-vendor", "init",
                "root.json",
            ])
            #expect(begun.status == 0, "\(begun.errors)")
        }
        try stage.depot.program.write("brought.pub", stage.depot.signer.publicText)
        let added = try stage.depot.program.run([
            "trust", "add", "brought.pub", "--state", offline,
        ])
        #expect(added.status == 0, "\(added.errors)")
        try stage.bundle()
        let online = try stage.depot.depot.fetch()
        #expect(online.status == situation.status, "online: \(online.errors)")
        // Foundation finds an empty text in no other text.
        let sentence = situation.sentence.isEmpty ? "\n" : situation.sentence
        #expect((online.errors + "\n").contains(sentence), "online: \(online.errors)")
        let look = try stage.depot.verify(state: offline)
        #expect(look.status == situation.status, "offline: \(look.errors)")
        #expect((look.errors + "\n").contains(sentence), "offline: \(look.errors)")
        let target = stage.depot.folder + "/rollout"
        let taken = try stage.depot.verify("--target-dir", target, state: offline)
        #expect(taken.status == situation.status, "taken over: \(taken.errors)")
        #expect(FileManager.default.fileExists(atPath: target) == (situation.status == 0))
    }
}

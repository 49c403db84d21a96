import Foundation
import Testing

/// The messages about genuine images that must not be used.
@Suite struct TrustTests {
    @Test func `an image that its repository lists is fetched`() throws {
        let depot = try TrustedDepot()
        try depot.manifest()
        try depot.serve("good")
        let result = try depot.fetch()
        #expect(result.status == 0, "\(result.errors)")
        let shown = try depot.program.run(["trust", "show", "--state", depot.program.state])
        #expect(shown.status == 0, "\(shown.errors)")
        #expect(shown.output.contains("repository-vendor"))
        #expect(shown.output.contains("2099-01-01T00:00:00.000Z"))
        #expect(shown.output.contains("1 of 1"))
    }

    @Test(arguments: [
        (
            "other hardware",
            "it is signed for comodule-17-1, comodule-18, the manifest would put it on comodule-17-0"
        ),
        ("not understood", "its signed 'counter' cannot be understood"),
        ("other version", "it is signed as version 4.13.0, the manifest says 4.12.0"),
        ("release expired", "its release expired at 2026-01-01T00:00:00.000Z"),
        ("other file", "the manifest pins \(TrustedDepot.digest)"),
        ("denied", "is on the list of those denied"),
        ("not allowed", "is not on the list of those allowed"),
        ("not listed", "no role that may speak for it lists the target 'bikes/city.zip'"),
        ("expired", "timestamp expired at 2026-01-01T00:00:00.000Z"),
        ("expired, with grace", "timestamp expired at 2026-01-01T00:00:00.000Z"),
        ("rotated", "timestamp is signed by 0 of the keys that root names for it, 1 must sign"),
    ])
    func `a repository's no has its own sentence and exit 77`(tree: String, sentence: String) throws
    {
        let depot = try TrustedDepot()
        try depot.manifest()
        try depot.serve(tree)
        let result = try depot.fetch()
        #expect(result.status == 77)
        #expect(result.errors.contains(sentence), "\(result.errors)")
        // A later run with good documents is not blocked, except by a newer root that was valid.
        guard !["rotated", "expired, with grace"].contains(tree) else { return }
        try depot.serve("newer")
        let again = try depot.fetch()
        #expect(again.status == 0, "\(again.errors)")
    }

    @Test func `a stick with a stale copy is refused`() throws {
        let depot = try TrustedDepot()
        try depot.manifest()
        try depot.serve("newer")
        #expect(try depot.fetch().status == 0)
        try depot.serve("stale")
        let result = try depot.fetch()
        #expect(result.status == 77)
        #expect(
            result.errors.contains("timestamp was rolled back: version 9 was seen, 1 is offered")
        )
    }

    @Test func `an older release is refused once a newer one was trusted`() throws {
        let depot = try TrustedDepot()
        try depot.serve("with older")
        try depot.manifest()
        try depot.manifest(
            name: "older.yaml",
            image: "url: file:older.bin",
            sha256: try sha256(of: depot.program.folder.path + "/older.bin"),
            version: "4.11.0",
            trust: "tuf: {repository: vendor, target: bikes/older.bin}"
        )
        #expect(try depot.fetch("older.yaml").status == 0)
        #expect(try depot.fetch().status == 0)
        let result = try depot.fetch("older.yaml")
        #expect(result.status == 77)
        #expect(
            result.errors.contains(
                "it is release 4, and release 5 was trusted for comodule-17-0 before: "
                    + "an older release is not taken back"
            ),
            "\(result.errors)"
        )
    }

    private func sha256(of path: String) throws -> String {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/sha256sum")
        process.arguments = [path]
        process.standardOutput = pipe
        try process.run()
        let bytes = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(String(decoding: bytes, as: UTF8.self).prefix(64))
    }

    @Test func `a depot without network goes on within the grace, and not without one`() throws {
        let depot = try TrustedDepot()
        let nobody = "root: root.json, metadata: 'http://127.0.0.1:9/', allow-http: true"
        // Without stored documents the grace covers nothing, and the reason is the network.
        try depot.manifest(repository: nobody + ", grace: 3d")
        let first = try depot.fetch()
        #expect(first.status == 69 && !first.errors.contains("it is not there"), "\(first.errors)")
        try depot.manifest()
        try depot.serve("good")
        #expect(try depot.fetch().status == 0)
        try depot.manifest(repository: nobody)
        let refused = try depot.fetch()
        #expect(refused.status == 69)
        #expect(refused.errors.contains("the repository vendor is not trusted"))
        try depot.manifest(repository: nobody + ", grace: 3d")
        let result = try depot.fetch()
        #expect(result.status == 0, "\(result.errors)")
    }

    @Test func `the manifest's own lists hold for every image`() throws {
        let depot = try TrustedDepot()
        try depot.manifest(trust: "", lists: "deny: [\(TrustedDepot.digest)]")
        #expect(try depot.fetch().errors.contains("is on the list of those denied"))
        try depot.manifest(trust: "", lists: "allow: [\(String(repeating: "0", count: 64))]")
        let result = try depot.fetch()
        #expect(result.status == 77)
        #expect(result.errors.contains("is not on the list of those allowed"))
        try depot.manifest(trust: "", lists: "allow: [\(TrustedDepot.digest)]")
        #expect(try depot.fetch().status == 0)
    }

    @Test(arguments: [
        ("prehashed.minisig", "comodule, type: 17, variant: 0", "4.12.0", ""),
        ("legacy.minisig", "comodule, type: 17, variant: 0", "4.12.0", ""),
        ("other.minisig", "comodule, type: 17, variant: 0", "4.12.0", "not by the key"),
        (
            "prehashed.minisig", "comodule, type: 18, variant: 0", "4.12.0",
            "signed for comodule-17-0"
        ),
        ("prehashed.minisig", "comodule, type: 17, variant: 0", "4.13.0", "signed as version"),
        ("missing.minisig", "comodule, type: 17, variant: 0", "4.12.0", "it is not there"),
        ("key.pub", "comodule, type: 17, variant: 0", "4.12.0", "no signature of minisign"),
    ])
    func `an image is judged by its detached signature`(
        signature: String,
        fits: String,
        version: String,
        sentence: String
    ) throws {
        let depot = try TrustedDepot()
        try depot.manifest(
            image: "url: file:image",
            sha256: try sha256(of: depot.program.folder.path + "/image"),
            version: version,
            fits: "family: \(fits)",
            trust: "signature: {key: key.pub, url: 'file:\(signature)'}"
        )
        let result = try depot.fetch()
        #expect(result.status == (sentence.isEmpty ? 0 : 77), "\(result.errors)")
        #expect(result.errors.contains(sentence) || sentence.isEmpty, "\(result.errors)")
    }

    @Test func `a key that cannot be read never means that none is needed`() throws {
        let depot = try TrustedDepot()
        try depot.manifest(trust: "signature: {key: nowhere.pub, url: 'file:legacy.minisig'}")
        #expect(try depot.fetch().status == 66)
        try depot.manifest(trust: "signature: {key: image, url: 'file:legacy.minisig'}")
        #expect(try depot.fetch().status == 78)
    }

    @Test func `plan tells the level of trust of each image`() throws {
        let depot = try TrustedDepot()
        for (trust, words, level) in [
            ("", "trusted by its SHA-256 alone, pinned in the manifest", "digest"),
            ("signature: {key: key.pub}", "a signature by the key key.pub", "signature"),
            (
                "tuf: {repository: vendor, target: bikes/city.zip}",
                "the repository vendor, which must list it as bikes/city.zip", "tuf"
            ),
        ] {
            try depot.manifest(trust: trust)
            let text = try depot.program.run(["plan", "manifest.yaml"])
            #expect(text.status == 0, "\(text.errors)")
            #expect(text.output.contains(words), "\(text.output)")
            let json = try depot.program.run(["plan", "--json", "manifest.yaml"])
            #expect(json.output.contains(#""trust":"\#(level)""#))
        }
    }

    @Test func `a run stops before the first packet`() throws {
        let depot = try TrustedDepot()
        try depot.manifest()
        try depot.serve("other hardware")
        let run = [
            "run", "manifest.yaml", "--simulate", "demo/depot.yaml", "--state", depot.program.state,
        ]
        let refused = try depot.program.run(run)
        #expect(refused.status == 77)
        #expect(!refused.output.contains("rollout="))
        try depot.serve("newer")
        let result = try depot.program.run(run)
        #expect([0, 10, 11].contains(result.status), "\(result.errors)")
        #expect(result.lastLine.hasPrefix("rollout=trusted "))
    }

    @Test func `a module must run the release before, if the signer says so`() throws {
        let depot = try TrustedDepot()
        try depot.manifest()
        try depot.serve("predecessor")
        let result = try depot.program.run([
            "run", "manifest.yaml", "--simulate", "demo/depot.yaml", "--state", depot.program.state,
        ])
        #expect(
            result.output.contains("signed for modules that run 4.11.5 or newer"),
            "\(result.output)\(result.errors)"
        )
        #expect(!result.lastLine.contains(" ok=24 "))
    }
}

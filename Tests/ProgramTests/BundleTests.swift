import Foundation
import Testing

/// A rollout in one file: made where there is a network, verified where there is none.
@Suite struct BundleTests {
    /// A depot that has made a bundle of a rollout with a trusted repository.
    private func made(_ tree: String = "good") throws -> TrustedDepot {
        let depot = try TrustedDepot()
        try depot.manifest()
        // The files for a bundle are beside the manifest.
        try depot.serve(tree)
        let result = try depot.program.run([
            "bundle", "create", "manifest.yaml", "tallinn.bundle", "--state", depot.program.state,
        ])
        #expect(result.status == 0, "\(result.errors)")
        return depot
    }

    /// Another depot, which trusts the same root and has seen the documents of `tree`.
    private func offline(
        _ depot: TrustedDepot,
        having tree: String? = nil,
        name: String = "offline"
    ) throws -> String {
        let state = depot.program.folder.path + "/" + name
        try FileManager.default.createDirectory(
            atPath: state + "/trust",
            withIntermediateDirectories: true
        )
        let folder = state + "/trust/repository-vendor"
        let begun = try depot.program.run(["trust", "--metadata-dir", folder, "init", "root.json"])
        #expect(begun.status == 0, "\(begun.errors)")
        if let tree {
            try depot.serve(tree)
            let done = try depot.program.run([
                "trust", "--metadata-dir", folder, "--metadata-url", "file:repository", "refresh",
            ])
            #expect(done.status == 0, "\(done.errors)")
        }
        try depot.serve(nil)
        return state
    }

    private func verify(_ depot: TrustedDepot, _ state: String, _ more: String...) throws
        -> Program.Result
    {
        try depot.program.run(["bundle", "verify", "tallinn.bundle", "--state", state] + more)
    }

    @Test func `a bundle gets the same yes as the network`() throws {
        let depot = try made()
        let result = try verify(depot, offline(depot))
        #expect(result.status == 0, "\(result.errors)")
        #expect(
            result.output.contains("the repository vendor, which must list it as bikes/city.zip")
        )
        #expect(result.output.hasSuffix("verified=1 refused=0 exit=0\n"))
        let shown = try depot.program.run(["bundle", "show", "tallinn.bundle"])
        #expect(shown.status == 0)
        for part in [
            "files/demo/fleet.csv", "files/root.json", "images/\(TrustedDepot.digest)",
            "manifest/manifest.yaml", "metadata/vendor/timestamp.json",
        ] { #expect(shown.output.contains(part), "\(shown.output)") }
        // Of secrets, the bundle contains only the references.
        #expect(!shown.output.contains(".key"))
    }

    @Test func `a bundle cannot vouch for itself`() throws {
        let depot = try made()
        let result = try verify(depot, depot.program.folder.path + "/nothing")
        #expect(result.status == 77)
        #expect(result.errors.contains("there is no trusted root"), "\(result.errors)")
    }

    @Test func `a stick with a stale copy is refused`() throws {
        let depot = try made("stale")
        let result = try verify(depot, offline(depot, having: "newer"))
        #expect(result.status == 77)
        #expect(
            result.errors.contains("timestamp was rolled back: version 9 was seen, 1 is offered")
        )
    }

    @Test func `a look keeps nothing, taking it over makes a run work without network`() throws {
        let depot = try made()
        let state = try offline(depot)
        let before = try FileManager.default.subpathsOfDirectory(atPath: state).sorted()
        #expect(try verify(depot, state).status == 0)
        #expect(try FileManager.default.subpathsOfDirectory(atPath: state).sorted() == before)
        let taken = try verify(depot, state, "--target-dir", depot.program.folder.path + "/rollout")
        #expect(taken.status == 0, "\(taken.errors)")
        let folder = depot.program.folder.path + "/rollout/"
        for file in ["manifest.yaml", "root.json", "demo/fleet.csv"] {
            #expect(
                try Data(contentsOf: URL(filePath: folder + file))
                    == Data(contentsOf: URL(filePath: depot.program.folder.path + "/" + file))
            )
        }
        let shown = try depot.program.run([
            "trust", "show", "--metadata-dir", state + "/trust/repository-vendor",
        ])
        #expect(shown.output.contains("timestamp"))
        let images = try FileManager.default.subpathsOfDirectory(atPath: state + "/images")
        #expect(images.contains { $0.hasSuffix(TrustedDepot.digest) })
    }

    @Test func `a file is never written over`() throws {
        let depot = try made()
        let state = try offline(depot)
        let folder = depot.program.folder.path + "/rollout"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try depot.program.write("rollout/manifest.yaml", "mine")
        let result = try verify(depot, state, "--target-dir", folder)
        #expect(result.status != 0)
        #expect(try String(contentsOfFile: folder + "/manifest.yaml", encoding: .utf8) == "mine")
    }

    @Test func `any byte that is changed is found`() throws {
        let depot = try made()
        let state = try offline(depot)
        let path = depot.program.folder.path + "/tallinn.bundle"
        let whole = try Data(contentsOf: URL(filePath: path))
        var places = [0, 19, 20, 27, 28, 60, whole.count - 1]
        places += (1...12).map { $0 * whole.count / 13 }
        for place in places {
            var bent = whole
            bent[place] ^= 0x20
            try depot.program.write("tallinn.bundle", bent)
            let result = try verify(depot, state)
            #expect([65, 77].contains(result.status), "byte \(place): \(result.status)")
        }
        for count in [0, 10, 28, whole.count / 2, whole.count - 1] {
            try depot.program.write("tallinn.bundle", whole.prefix(count))
            #expect(try verify(depot, state).status == 77, "\(count) bytes")
        }
        try depot.program.write("tallinn.bundle", whole + Data([0]))
        #expect(try verify(depot, state).status == 77)
    }

    @Test func `a bundle that must be signed and is not is refused`() throws {
        let depot = try made()
        let state = try offline(depot)
        #expect(try verify(depot, state, "--key", "key.pub").errors.contains("is not signed"))
        try FileManager.default.copyItem(
            atPath: depot.program.folder.path + "/prehashed.minisig",
            toPath: depot.program.folder.path + "/tallinn.bundle.minisig"
        )
        let result = try verify(depot, state, "--key", "key.pub")
        #expect(result.status == 77)
        #expect(result.errors.contains("the signature is not over these bytes"))
    }

    @Test func `what lies outside the manifest's folder is not taken`() throws {
        let depot = try TrustedDepot()
        try depot.serve("good")
        try FileManager.default.createDirectory(
            atPath: depot.program.folder.path + "/inner",
            withIntermediateDirectories: false
        )
        let path = try depot.manifest(
            name: "inner/manifest.yaml",
            image: "url: 'file:../demo/city-4.12.0.zip'",
            repository: "root: ../root.json, metadata: 'file:../repository'"
        )
        let text = try String(contentsOfFile: path, encoding: .utf8)
            .replacing("demo/fleet.csv", with: "../demo/fleet.csv")
        try depot.program.write("inner/manifest.yaml", text)
        let result = try depot.program.run([
            "bundle", "create", "inner/manifest.yaml", "x.bundle", "--state", depot.program.state,
        ])
        #expect(result.status == 65)
        #expect(result.errors.contains("is not in the folder of the manifest"))
    }
}

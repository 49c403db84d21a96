import Foundation
import Testing

/// Bundles that extend earlier ones, and copies that are incomplete.
@Suite struct BundleSinceTests {
    private func depot() throws -> SignedDepot {
        let depot = try SignedDepot()
        try depot.sign()
        try depot.make()
        try depot.trust()
        return depot
    }

    private func size(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
    }

    private func makeSecond(_ depot: SignedDepot) throws {
        let text = try String(contentsOfFile: depot.folder + "/manifest.yaml", encoding: .utf8)
        try depot.program.write("manifest.yaml", text + "x-night: second\n")
        let result = try depot.program.run([
            "bundle", "create", "--since", "tallinn.bundle", "manifest.yaml", "second.bundle",
            "--state", depot.folder + "/office",
        ])
        #expect(result.status == 0, "\(result.errors)")
    }

    private func apply(_ depot: SignedDepot, _ bundle: String) throws -> Program.Result {
        try depot.program.run([
            "bundle", "apply", bundle, "--target-dir", "rollouts", "--state", depot.program.state,
        ])
    }

    @Test func `the second night's bundle holds only what the depot lacks`() throws {
        let depot = try depot()
        try makeSecond(depot)
        let image = try size(depot.folder + "/demo/city-4.12.0.zip")
        let (first, second) = try (
            size(depot.folder + "/tallinn.bundle"), size(depot.folder + "/second.bundle")
        )
        #expect(first - second > image - 500, "\(first) \(second)")
        let missing = try apply(depot, "second.bundle")
        #expect(missing.status == 66)
        #expect(missing.errors.contains("take that one over first"), "\(missing.errors)")
        #expect(try apply(depot, "tallinn.bundle").status == 0)
        let result = try apply(depot, "second.bundle")
        #expect(result.status == 0, "\(result.errors)")
        #expect(
            try String(
                contentsOfFile: depot.folder + "/rollouts/trusted/manifest.yaml",
                encoding: .utf8
            )
            .contains("x-night: second")
        )
        let shown = try depot.program.run(["bundle", "show", "second.bundle"])
        #expect(shown.output.contains("adds to the bundle"))
        #expect(shown.output.contains("from an earlier bundle"))
    }

    @Test func `an image of the depot that was changed does not pass for one of the bundle`() throws
    {
        let depot = try depot()
        try makeSecond(depot)
        #expect(try apply(depot, "tallinn.bundle").status == 0)
        let path =
            depot.program.state + "/images/sha256/\(TrustedDepot.digest.prefix(2))/"
            + TrustedDepot.digest
        chmod(path, 0o644)
        try Data("other".utf8).write(to: URL(filePath: path))
        #expect(try apply(depot, "second.bundle").status == 66)
    }

    @Test(arguments: [0, 10, 400, 5_000, 60_000, -1])
    func `a copy that was cut is gone on with`(count: Int) throws {
        let depot = try depot()
        let path = depot.folder + "/tallinn.bundle"
        let whole = try Data(contentsOf: URL(filePath: path))
        try depot.program.write("tallinn.bundle.minisig", "a signature")
        try FileManager.default.createDirectory(
            atPath: depot.folder + "/copies",
            withIntermediateDirectories: false
        )
        let kept = count < 0 ? whole.count : count
        try depot.program.write("copies/tallinn.bundle.part", whole.prefix(kept))
        let result = try depot.program.run(["bundle", "copy", "tallinn.bundle", "copies"])
        #expect(result.status == 0, "\(result.errors)")
        let copy = depot.folder + "/copies/tallinn.bundle"
        #expect(try Data(contentsOf: URL(filePath: copy)) == whole)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: depot.folder + "/copies").sorted()
                == ["tallinn.bundle", "tallinn.bundle.minisig"]
        )
        if count < 0 { #expect(result.output.contains("copied=0 kept=\(whole.count) exit=0")) }
    }

    @Test func `what is wrong in a cut copy is copied again, what is wrong at the source is not`()
        throws
    {
        let depot = try depot()
        let whole = try Data(contentsOf: URL(filePath: depot.folder + "/tallinn.bundle"))
        var bent = whole
        bent[whole.count - 100] ^= 1
        try depot.program.write("copy.bundle.part", bent)
        let result = try depot.program.run(["bundle", "copy", "tallinn.bundle", "copy.bundle"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(try Data(contentsOf: URL(filePath: depot.folder + "/copy.bundle")) == whole)
        try depot.program.write("bent.bundle", bent)
        let refused = try depot.program.run(["bundle", "copy", "bent.bundle", "other.bundle"])
        #expect(refused.status == 77)
        #expect(!FileManager.default.fileExists(atPath: depot.folder + "/other.bundle"))
    }
}

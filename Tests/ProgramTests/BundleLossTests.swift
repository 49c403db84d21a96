import Foundation
import Signers
import Testing

/// A bundle that was taken over on a disk that lost names in a power cut: the next `apply` restores
/// them.
@Suite struct BundleLossTests {
    private let depot: SignedDepot

    init() throws {
        depot = try SignedDepot()
        try depot.sign()
        try depot.make()
        try depot.signBundle(by: MinisignSigner(2))
    }

    private func apply() throws -> Program.Result {
        try depot.program.run([
            "bundle", "apply", "--key", "office.pub", "--target-dir", "rollouts", "--state",
            depot.program.state, "tallinn.bundle",
        ])
    }

    /// The bytes of all files below a folder; files with the time of arrival are left out, because
    /// they differ.
    private func contents(_ folder: String) throws -> [String: Data] {
        try depot.contents(of: depot.folder + "/" + folder).filter { name, _ in
            !name.hasSuffix("images/origins") && !name.hasSuffix("clock")
        }
    }

    @Test func `whatever names a takeover lost, the next one puts them back`() throws {
        let first = try apply()
        #expect(first.status == 0, "\(first.errors)")
        let files = FileManager.default
        let (rollouts, state) = try (contents("rollouts"), contents("state"))
        let names = try files.subpathsOfDirectory(atPath: depot.folder + "/rollouts")
        let kept = try files.subpathsOfDirectory(atPath: depot.folder + "/state").filter { name in
            // A bundle alone does not bring the trusted documents.
            !name.hasPrefix("trust")
        }
        #expect(names.count >= 5 && kept.count >= 5, "\(names) \(kept)")
        let lost = names.map { "rollouts/" + $0 } + kept.map { "state/" + $0 }
        for name in lost {
            // The contents of a folder are lost with it.
            try? files.removeItem(atPath: depot.folder + "/" + name)
            let again = try apply()
            #expect(again.status == 0, "\(name): \(again.errors)")
            #expect(try contents("rollouts") == rollouts, "\(name)")
            #expect(try contents("state") == state, "\(name)")
        }
    }

    @Test func `an image that was torn in the store is put right by the next apply`() throws {
        #expect(try apply().status == 0)
        let path =
            depot.program.state + "/images/sha256/\(TrustedDepot.digest.prefix(2))/"
            + TrustedDepot.digest
        let whole = try Data(contentsOf: URL(filePath: path))
        for count in [0, 1, 4_096, whole.count - 1] {
            try FileManager.default.removeItem(atPath: path)
            let torn = whole.prefix(count) + Data(repeating: 0, count: whole.count - count)
            try torn.write(to: URL(filePath: path))
            let again = try apply()
            #expect(again.status == 0, "\(count): \(again.errors)")
            #expect(try Data(contentsOf: URL(filePath: path)) == whole)
        }
    }
}

import Domain
import Foundation
import Signers
import Testing

/// A state directory of whose folders of trust none was ever synced when the power went.
///
/// Any of the names in them may be gone then. The next run asks for what it lost as a new depot would:
/// it takes no wrong image, and the right one without anybody's help.
@Suite struct TrustLossTests {
    private let files = FileManager.default

    /// The names below `trust` to be lost, one at a time and then several by chance.
    private func losses(_ program: Program) throws -> [[String]] {
        let names = try files.subpathsOfDirectory(atPath: program.state + "/trust").sorted()
        #expect(names.count >= 3, "\(names)")
        var chance = SplitMix64(seed: 81)
        let several = (0..<12).map { _ in names.filter { _ in Bool.random(using: &chance) } }
        return [[""]] + names.map { [$0] } + several
    }

    /// Brings the state back as it was, and takes names from it.
    private func lose(_ names: [String], _ program: Program) throws {
        try files.removeItem(atPath: program.state)
        try files.copyItem(atPath: program.state + "-kept", toPath: program.state)
        for name in names { try? files.removeItem(atPath: program.state + "/trust/" + name) }
    }

    @Test func `a signed image is judged rightly whatever names of trust are lost`() throws {
        let depot = try SignedDepot()
        let program = depot.program
        try depot.sign()
        try depot.make()
        #expect(try depot.depot.fetch().status == 0)
        try files.copyItem(atPath: program.state, toPath: program.state + "-kept")
        for names in try losses(program) {
            try lose(names, program)
            let records = try? files.contentsOfDirectory(
                atPath: program.state + "/trust/signatures"
            )
            let isKnown = records?.contains { $0.hasPrefix("releases-") } ?? false
            // A bundle that nobody signed brings no key: anyone who forgot the key says no.
            let bundle = try depot.verify()
            #expect(bundle.status == (isKnown ? 0 : 77), "\(names): \(bundle.errors)")
            try depot.sign(by: MinisignSigner(9))
            try program.write("keys/signer.pub", depot.signer.publicText, mode: 0o644)
            let wrong = try depot.depot.fetch()
            #expect(wrong.status == 77, "\(names): \(wrong.errors)")
            try depot.sign()
            let right = try depot.depot.fetch()
            #expect(right.status == 0, "\(names): \(right.errors)")
            #expect(try depot.verify().status == 0, "\(names)")
        }
    }

    @Test func `an image of a repository is judged rightly whatever names of trust are lost`()
        throws
    {
        let depot = try TrustedDepot()
        let program = depot.program
        try depot.manifest()
        try depot.serve("good")
        #expect(try depot.fetch().status == 0)
        try files.copyItem(atPath: program.state, toPath: program.state + "-kept")
        for names in try losses(program) {
            try lose(names, program)
            // A version that nobody signed, of a repository that has moved on.
            try depot.serve("newer")
            let path = program.folder.path + "/repository/timestamp.json"
            let signed = try String(contentsOfFile: path, encoding: .utf8)
            let forged = signed.replacing("2099-", with: "2098-")
            #expect(forged != signed)
            try program.write("repository/timestamp.json", forged)
            let wrong = try depot.fetch()
            #expect(wrong.status == 77, "\(names): \(wrong.errors)")
            try program.write("repository/timestamp.json", signed)
            let right = try depot.fetch()
            #expect(right.status == 0, "\(names): \(right.errors)")
        }
    }
}

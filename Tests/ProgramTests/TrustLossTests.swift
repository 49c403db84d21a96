import Base
import Foundation
import Signers
import Testing

/// A state directory whose trust folders were not synced before a power cut.
///
/// Any of their names may be gone. The next run obtains what it lost like a new depot: it accepts
/// no wrong image, and accepts the right one without a person's help.
@Suite struct TrustLossTests {
    private let files = FileManager.default

    /// The names below `trust` that are lost: each name alone, and then several at random.
    private func losses(_ program: Program) throws -> [[String]] {
        let names = try files.subpathsOfDirectory(atPath: program.state + "/trust").sorted()
        #expect(names.count >= 3, "\(names)")
        var chance = SplitMix64(seed: 81)
        let several = (0..<12).map { _ in names.filter { _ in Bool.random(using: &chance) } }
        return [[""]] + names.map { [$0] } + several
    }

    /// Restores the state, and removes names from it.
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
            // An unsigned bundle brings no key, so a depot that has lost the key refuses the
            // bundle.
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
            // An unsigned version, of a repository that has a newer one.
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

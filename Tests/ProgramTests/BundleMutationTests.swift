import Base
import Commands
import Foundation
import Images
import Operations
import Signers
import Testing

/// Bundles with random changes: nothing wrong is accepted, and none of them blocks later bundles.
@Suite struct BundleMutationTests {
    /// The number of attempts: few in the gate, any number by hand.
    private static let count =
        ProcessInfo.processInfo.environment["YARDMASTER_BUNDLE_MUTATIONS"].flatMap { Int($0) }
        ?? 400

    private final class NoOutlet: TextOutlet {
        func write(_ text: String, to descriptor: CInt, mayDrop: Bool) {}
        func failure(of descriptor: CInt) -> String? { nil }
    }

    /// Changes the bytes as a bad USB stick or a bad copy does.
    private static func bend(_ whole: [UInt8], _ chance: inout SplitMix64) -> [UInt8] {
        var bytes = whole
        for _ in 0..<Int.random(in: 1...3, using: &chance) {
            guard !bytes.isEmpty else { break }
            // The beginning describes the rest, so it is changed as often as the rest.
            let most = Bool.random(using: &chance) ? min(bytes.count, 2_000) : bytes.count
            let place = Int.random(in: 0..<most, using: &chance)
            let length = min(Int.random(in: 1...200, using: &chance), bytes.count - place)
            switch Int.random(in: 0..<7, using: &chance) {
            case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &chance)
            case 1: bytes[place] = UInt8.random(in: 0...255, using: &chance)
            case 2: bytes.removeSubrange(place..<place + length)
            case 3: bytes.insert(contentsOf: bytes[place..<place + length], at: place)
            case 4: bytes.removeLast(min(bytes.count, length))
            case 5: bytes += bytes[place..<place + length]
            default:
                let other = Int.random(in: 0...(bytes.count - length), using: &chance)
                bytes.replaceSubrange(place..<place + length, with: bytes[other..<other + length])
            }
        }
        return bytes
    }

    /// Changes the parts and adapts the list of contents, as an attacker would.
    private static func forge(
        _ parts: [String: [UInt8]],
        _ chance: inout SplitMix64
    ) throws -> [UInt8] {
        var parts = parts
        let names = parts.keys.sorted()
        let name = try #require(names.randomElement(using: &chance))
        let other = try #require(names.randomElement(using: &chance))
        let strange = [
            "../\(name)", "/\(name)", "files/.ssh/authorized_keys", "files/../../x", "\(name)/x",
            "files/manifest.yaml", "manifest/second.yaml", "images/x", "\(name).", "files/./a",
            "profiles/x.yaml", "signatures/city/x", "metadata/vendor/1.root.json", "files/a\u{0}b",
        ]
        switch Int.random(in: 0..<6, using: &chance) {
        case 0: parts[name] = nil
        case 1:
            parts[try #require(strange.randomElement(using: &chance))] = parts[name]
        case 2:
            let bytes = parts.removeValue(forKey: name)
            parts[try #require(strange.randomElement(using: &chance))] = bytes
        case 3: (parts[name], parts[other]) = (parts[other], parts[name])
        case 4: parts[name] = bend(parts[name] ?? [], &chance)
        default: parts[name] = parts[other]
        }
        return try bundle(parts)
    }

    /// A bundle of any parts with any names.
    private static func bundle(_ parts: [String: [UInt8]]) throws -> [UInt8] {
        let sorted = parts.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        let members = sorted.map { name, bytes in
            [
                "name": name, "size": bytes.count, "sha256": "\(SHA256.digest(of: bytes))",
            ] as [String: Any]
        }
        let index = Array(
            try JSONSerialization.data(
                withJSONObject: ["form": 1, "created": 0, "members": members] as [String: Any]
            )
        )
        var bytes = BundleIndex.mark
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: index.count >> shift))
        }
        return bytes + index + sorted.flatMap(\.value)
    }

    private func accept(
        _ path: String,
        _ state: String,
        _ demand: BundleDemand?,
        into target: String
    ) async throws {
        let bundle = try BundleFile(path, signedBy: demand)
        do throws(BundleFault) {
            try bundle.checkAll()
        } catch { throw BundleFile.refusal(path, error) }
        let contents = try BundlePlan(bundle) { _ in }
        let takeover = BundleTakeover(bundle: bundle, contents: contents, state: state)
        _ = try await takeover.judge()
        try await takeover.perform(into: target)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `nothing wrong is accepted and nothing is wedged`(seed: UInt64) async throws {
        let depot = try SignedDepot()
        try depot.sign()
        try depot.make()
        try depot.trust()
        let office = MinisignSigner(2)
        try depot.signBundle(by: office)
        let demand = BundleDemand([
            BundleDemand.Key(name: "office", key: try MinisignKey(Array(office.publicLine.utf8)))
        ])
        let path = depot.folder + "/tallinn.bundle"
        let target = depot.folder + "/rollout"
        let state = depot.program.state
        let whole = Array(try Data(contentsOf: URL(filePath: path)))
        let parts = try LooseBundle(path).parts
        let before = try depot.contents(of: state)
        var chance = SplitMix64(seed: seed)
        var (refused, taken) = (0, 0)
        for number in 0..<Self.count / 3 {
            let isForged = Bool.random(using: &chance)
            let bytes =
                isForged ? try Self.forge(parts, &chance) : Self.bend(whole, &chance)
            try Data(bytes).write(to: URL(filePath: path))
            let isSigned = Bool.random(using: &chance)
            do {
                try await accept(path, state, isSigned ? demand : nil, into: target)
            } catch let error as CommandError {
                refused += 1
                #expect(
                    [.trust, .manifest, .inputMissing, .configuration].contains(error.kind),
                    "\(number): \(error.text)"
                )
                #expect(!FileManager.default.fileExists(atPath: target), "\(number)")
                continue
            }
            taken += 1
            // An accepted signed bundle is exactly the one that was signed.
            if isSigned { #expect(bytes == whole, "seed \(seed), \(number)") }
            // An unsigned bundle may contain other text, but its image is still the signer's.
            let found = try depot.contents(of: target)
            #expect(!found.keys.contains { $0.hasPrefix(".") || $0.contains("/.") }, "\(number)")
            let image = depot.program.state + "/images/sha256/\(TrustedDepot.digest.prefix(2))/"
            #expect(
                SHA256.digest(
                    of: Array(
                        try Data(contentsOf: URL(filePath: image + TrustedDepot.digest))
                    )
                ).description == TrustedDepot.digest
            )
            if !isForged {
                let loose = try LooseBundle(path)
                let kept = Set(loose.parts.values.map { SHA256.digest(of: $0) })
                #expect(kept == Set(parts.values.map { SHA256.digest(of: $0) }), "\(number)")
            }
            try FileManager.default.removeItem(atPath: target)
        }
        #expect(refused > Self.count / 6, "\(refused) were refused, \(taken) taken over")
        if taken == 0 { #expect(try depot.contents(of: state) == before) }
        // The unchanged bundle is still accepted.
        try Data(whole).write(to: URL(filePath: path))
        try await accept(path, state, demand, into: target)
        #expect(try depot.contents(of: target).keys.contains("manifest.yaml"))
        #expect(
            !(try FileManager.default.subpathsOfDirectory(atPath: depot.folder))
                .contains { $0.contains("authorized_keys") }
        )
    }
}

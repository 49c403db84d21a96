import Base
import Manifest
import Testing

/// Random and broken input: it never traps, and it always gives either a plan or an error.
@Suite struct HostileInputTests {
    private static let rounds = 2_000

    /// A new seed for each run, which a failure prints, so that it can be replayed.
    private static let seed = UInt64.random(in: 0...UInt64.max)

    private func check(_ manifest: [UInt8], fleet: [UInt8], _ seed: UInt64, _ round: Int) {
        do {
            let read = try ManifestReader.read(manifest, path: "m.yaml") {
                path,
                _ throws(FileError) in
                guard path == "tallinn.csv" else { throw FileError(path: path, reason: .missing) }
                return fleet
            }
            let errors = read.diagnostics.filter { $0.severity == .error }
            #expect(
                (read.plan == nil) == !errors.isEmpty,
                "seed \(seed), round \(round): \(errors)"
            )
            #expect(
                errors.allSatisfy { $0.hint != nil && $0.place.line > 0 && $0.place.column > 0 },
                "seed \(seed), round \(round): \(errors)"
            )
            if let plan = read.draft { #expect(plan.waveSizes.reduce(0, +) == plan.vehicles.count) }
        } catch {
            // The only error that is thrown: the mutation changed the name of the fleet file.
            guard case .unreadable(_, .missing, .some) = error else {
                Issue.record("seed \(seed), round \(round): \(error)")
                return
            }
        }
    }

    @Test func `random bytes are refused without a trap`() {
        var random = SplitMix64(seed: Self.seed)
        for round in 0..<Self.rounds {
            let bytes = (0..<random.below(200)).map { _ in UInt8(truncatingIfNeeded: random.next())
            }
            check(bytes, fleet: bytes, Self.seed, round)
        }
    }

    @Test func `random text of YAML's own marks is refused without a trap`() {
        var random = SplitMix64(seed: Self.seed)
        let pieces = [
            "name", "vehicles", "steps", "images", ": ", "- ", "\n", "\n  ", "[", "]", "{", "}",
            ", ",
            "\"", "'", "&a ", "*a", "!", "|\n", ">\n", "? ", "#", "%", "<<", "~", "\t", "x-", "1",
            "é",
            "update", "command", "lock", "---\n", "...\n", "from", "tallinn.csv", "10%", "4h",
        ]
        for round in 0..<Self.rounds {
            let text = (0..<random.below(60)).map { _ in pieces[random.below(pieces.count)] }
                .joined()
            check(Array(text.utf8), fleet: Array(text.utf8), Self.seed, round)
        }
    }

    @Test func `a broken sample is a plan or an error`() {
        var random = SplitMix64(seed: Self.seed)
        let manifest = Array(Sample.manifest.utf8)
        let fleet = Array(
            (Sample.fleet + "EE-4,00112233445566ad,comodule,,,tallinn-1\n")
                .replacing("depot\n", with: "steps\n")
                .replacing("tallinn-1\n", with: "\"set: {a: \"\"x\"\"}; command: lock\"\n").utf8
        )
        for round in 0..<Self.rounds {
            check(
                Self.mutated(manifest, &random),
                fleet: round.isMultiple(of: 2) ? Self.mutated(fleet, &random) : fleet,
                Self.seed,
                round
            )
        }
    }

    /// The bytes with a few of them changed, removed, doubled or moved.
    private static func mutated(_ bytes: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
        var bytes = bytes
        for _ in 0...random.below(4) {
            guard !bytes.isEmpty else { return bytes }
            let at = random.below(bytes.count)
            let end = min(bytes.count, at + 1 + random.below(20))
            switch random.below(5) {
            case 0: bytes[at] = UInt8(truncatingIfNeeded: random.next())
            case 1: bytes.removeSubrange(at..<end)
            case 2: bytes.insert(contentsOf: bytes[at..<end], at: at)
            case 3: bytes.swapAt(at, random.below(bytes.count))
            default: bytes.insert(Array("\"'[]{}:,-#\n \t&*!%;|>".utf8)[random.below(20)], at: at)
            }
        }
        return bytes
    }
}

import Foundation
import HostScript
import Testing

/// The transcript of a script of calls, compared with the transcript of the real bluetoothd.
@Suite(.timeLimit(.minutes(5))) struct TranscriptTests {
    /// The mark `  ` begins a line that both have, `- ` a line of only the served world, `+ ` a
    /// line of only bluetoothd, and `# ` the reason for the differences that follow.
    private static let recorded = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "RealBlueZ/transcript")

    private func lines() throws -> [Substring] {
        let text = try String(contentsOf: Self.recorded, encoding: .utf8)
        return text.split(separator: "\n")
    }

    @Test func `the served world says what stands in the transcript`() async throws {
        let expected = try lines().filter { $0.hasPrefix("  ") || $0.hasPrefix("- ") }
            .map { String($0.dropFirst(2)) }
        let found = try await HostScript.playServed()
        let difference = found.difference(from: expected)
        #expect(difference.isEmpty, "\(Self.text(difference))")
    }

    private static func text(_ difference: CollectionDifference<String>) -> String {
        difference.map {
            switch $0 {
            case .insert(let place, let line, _): "\(place): now \(line)"
            case .remove(let place, let line, _): "\(place): not \(line)"
            }
        }.joined(separator: "\n")
    }

    @Test func `each difference from bluetoothd has its reason`() throws {
        var hasReason = false
        for line in try lines() {
            switch line.prefix(2) {
            case "# ": hasReason = true
            case "- ", "+ ": #expect(hasReason, "\(line)")
            default: hasReason = false
            }
        }
    }
}

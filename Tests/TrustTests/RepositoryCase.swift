import Base
import Foundation
import Images
import Synchronization
import Testing

/// A repository made by the reference implementation, and the expected answers of a client.
struct RepositoryCase: Sendable, CustomTestStringConvertible {
    struct Step: Sendable {
        let served: [String: [UInt8]]
        let now: WallTime
        let action: String
        let path: String?
        let expect: String
        let versions: [String: Int64]
        let content: String?
        let failing: String?
        let grace: Duration
    }

    let name: String
    let root: [UInt8]
    let steps: [Step]

    var testDescription: String { name }

    static let all: [RepositoryCase] = read()

    private static func read() -> [RepositoryCase] {
        guard
            let url = Bundle.module.url(
                forResource: "cases",
                withExtension: "json",
                subdirectory: "Fixtures"
            ), let data = try? Data(contentsOf: url),
            let document = try? JSONValue(json: Array(data)),
            let blobs = document["blobs"]?.array?.map(blob), let cases = document["cases"]?.array
        else { return [] }
        return cases.map { value in
            RepositoryCase(
                name: value["name"]?.string ?? "",
                root: blobs[Int(value["root"]?.integer ?? 0)],
                steps: (value["steps"]?.array ?? []).map { step($0, blobs) }
            )
        }
    }

    private static func blob(_ value: JSONValue) -> [UInt8] {
        if let text = value["text"]?.string { return Array(text.utf8) }
        if let count = value["spaces"]?.integer { return Array(repeating: 0x20, count: Int(count)) }
        return value["hex"]?.string.flatMap { Hex.bytes($0) } ?? []
    }

    private static func step(_ value: JSONValue, _ blobs: [[UInt8]]) -> Step {
        var served: [String: [UInt8]] = [:]
        for member in value["serve"]?.members ?? [] {
            served[member.name] = blobs[Int(member.value.integer ?? 0)]
        }
        var versions: [String: Int64] = [:]
        for member in value["versions"]?.members ?? [] {
            versions[member.name] = member.value.integer
        }
        return Step(
            served: served,
            now: WallTime(metadata: value["now"]?.string ?? "") ?? WallTime(milliseconds: 0),
            action: value["do"]?.string ?? "",
            path: value["path"]?.string,
            expect: value["expect"]?.string ?? "",
            versions: versions,
            content: value["content"]?.string,
            failing: value["fail"]?.string,
            grace: .seconds(value["grace"]?.integer ?? 0)
        )
    }
}

/// Serves the files of a step, and records the requests.
final class StepSource: MetadataSource {
    private let prefix: String
    private let step: RepositoryCase.Step
    let asked = Mutex<[String]>([])

    init(_ step: RepositoryCase.Step, below prefix: String) {
        self.step = step
        self.prefix = prefix
    }

    func fetch(_ path: String, limit: Int64) async throws(SourceError) -> [UInt8] {
        let name = prefix + path
        asked.withLock { $0.append(name) }
        if step.failing == name { throw .unreachable("the server is ill") }
        guard let bytes = step.served[name] else { throw .notThere }
        guard Int64(bytes.count) <= limit else { throw .tooLong(limit: limit) }
        return bytes
    }
}

extension RepositoryCase.Step {
    /// Runs the step; the refusal is nil when the client accepts everything.
    func run(_ files: some TrustFiles) async -> (refusal: TrustError?, bytes: [UInt8]?) {
        let source = StepSource(self, below: "metadata/")
        do throws(TrustError) {
            var updater = try Updater(files: files, source: source, now: now)
            updater.grace = grace
            guard action != "resume" else {
                try updater.resume()
                return (nil, nil)
            }
            try await updater.refresh()
            guard action == "find" else { return (nil, nil) }
            guard let path = TargetPath(path ?? "") else { throw .badTargetPath(path ?? "") }
            let file = try await updater.find(path)
            let targets = StepSource(self, below: "targets/")
            return (nil, try await updater.fetch(file, path, from: targets))
        } catch { return (error, nil) }
    }
}

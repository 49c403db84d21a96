import Base
import Foundation
import Images
import Testing

/// After a kill at any moment, the next run has the right result and trusts nothing unverified.
@Suite struct CrashTests {
    private static let names = [
        "an update from one state to the next", "other keys end a fast-forward",
        "a further key ends a fast-forward too", "a key was rotated and the old one is used",
        "a timestamp that was refused is not kept", "a delegated role leads to its file",
    ]

    private static let examples = RepositoryCase.all.filter { names.contains($0.name) }

    private func versions(_ files: some TrustFiles) throws -> [String: Int64] {
        var versions: [String: Int64] = [:]
        for name in try files.names() where name.hasSuffix(".json") {
            let bytes = try #require(try files.read(name, limit: 1 << 30))
            versions[name] = try JSONValue(json: bytes)["signed"]?["version"]?.integer
        }
        return versions
    }

    private func start<Files: TrustFiles>(_ example: RepositoryCase, in files: Files) throws {
        _ = try Updater<Files, StepSource>.begin(with: example.root, in: files)
    }

    @Test func `the examples are there`() { #expect(Self.examples.count == Self.names.count) }

    /// Ends the process at each moment: `make` gives a folder, and `crash` does further harm to it.
    private func everyMoment<Files: TrustFiles>(
        _ example: RepositoryCase,
        _ make: () throws -> Files,
        crash: (Files) -> Void
    ) async throws -> Int {
        var moments = 0
        for number in example.steps.indices {
            var isOver = false
            var moment = 0
            while !isOver {
                let files = try make()
                try start(example, in: files)
                for step in example.steps[..<number] { _ = await step.run(files) }
                let before = try versions(files)
                let dying = DyingFiles(files, after: moment)
                let (refusal, _) = await example.steps[number].run(dying)
                isOver = !dying.hasDied
                if !isOver {
                    crash(files)
                    moments += 1
                    // Each document is complete, in its old or its new version.
                    let after = try versions(files)
                    for (name, version) in after {
                        let isKnown =
                            before[name] == version
                            || served(name, example.steps[number]).contains(version)
                        #expect(isKnown, "\(name) at moment \(moment)")
                    }
                    #expect(after["root.json"] != nil)
                }
                if !isOver, refusal == nil { Issue.record("a dead process said yes") }
                // The same step again and all following steps, with the same results as without the
                // kill.
                for (later, step) in example.steps.enumerated().dropFirst(number) {
                    let (refusal, bytes) = await step.run(files)
                    let said = refusal?.description ?? "ok"
                    #expect(said.contains(step.expect), "moment \(moment), step \(later): \(said)")
                    if let content = step.content { #expect(bytes == Array(content.utf8)) }
                    let trusted = try versions(files)
                    for (role, version) in step.versions {
                        #expect(trusted[role + ".json"] == version, "\(role), moment \(moment)")
                    }
                }
                moment += 1
                #expect(moment < 200)
            }
        }
        return moments
    }

    /// The versions of a document that a step serves.
    private func served(_ name: String, _ step: RepositoryCase.Step) -> [Int64] {
        step.served.compactMap { served, bytes -> Int64? in
            guard served.hasPrefix("metadata/"),
                served.dropFirst(9) == name || served.hasSuffix("." + name)
            else { return nil }
            return (try? JSONValue(json: bytes))?["signed"]?["version"]?.integer
        }
    }

    @Test(arguments: examples)
    func `killed before any change of the folder`(example: RepositoryCase) async throws {
        let moments = try await everyMoment(example, { MemoryFiles() }, crash: { _ in })
        #expect(moments > 10)
    }

    @Test(arguments: examples, [false, true])
    func `the power goes before any change of the folder`(
        example: RepositoryCase,
        keepingNames: Bool
    ) async throws {
        let moments = try await everyMoment(
            example,
            { FadingFiles() },
            crash: { $0.loseThePower(keepingNames: keepingNames) }
        )
        #expect(moments > 10)
    }

    @Test(arguments: examples, [false, true])
    func `the power goes on a disk that never synced the folder`(
        example: RepositoryCase,
        isMixed: Bool
    ) async throws {
        var chance = SplitMix64(seed: 71)
        var begun = 0
        for number in example.steps.indices {
            for loss in 0..<40 {
                let files = FadingFiles()
                try start(example, in: files)
                for step in example.steps[...number] { _ = await step.run(files) }
                files.loseNames(drawing: &chance, isMixed: isMixed)
                // Every document with a valid name is complete.
                _ = try versions(files)
                for (later, step) in example.steps.enumerated().dropFirst(number) {
                    var (refusal, bytes) = await step.run(files)
                    if case .noRoot = refusal {
                        // The recovery is the same as the first start.
                        try start(example, in: files)
                        begun += 1
                        (refusal, bytes) = await step.run(files)
                    }
                    let said = refusal?.description ?? "ok"
                    #expect(said.contains(step.expect), "loss \(loss), step \(later): \(said)")
                    if let content = step.content { #expect(bytes == Array(content.utf8)) }
                    let trusted = try versions(files)
                    for (role, version) in step.versions {
                        // Of the lost documents, only right ones have returned.
                        let isRight = trusted[role + ".json"] == version
                        let isLost = refusal != nil && trusted[role + ".json"] == nil
                        #expect(isRight || isLost, "\(role), loss \(loss), step \(later)")
                    }
                }
            }
        }
        #expect(begun > 0)
    }

    @Test func `killed before any change of a folder on a disk`() async throws {
        let scratch = FileManager.default.temporaryDirectory
            .appending(path: "trust-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: scratch) }
        var number = 0
        let example = try #require(Self.examples.first { $0.name == Self.names[2] })
        let moments = try await everyMoment(
            example,
            {
                number += 1
                return try TrustFolder(scratch.path + "/\(number)")
            },
            crash: { _ in }
        )
        #expect(moments > 10)
    }
}

import Base
import Images
import Testing

/// The requirements for a client of signed repositories, one by one.
@Suite struct RepositoryTests {
    @Test func `the cases are there`() {
        #expect(RepositoryCase.all.count > 120)
        #expect(Set(RepositoryCase.all.map(\.name)).count == RepositoryCase.all.count)
    }

    @Test(arguments: RepositoryCase.all)
    func `a repository gets the verdict it deserves`(example: RepositoryCase) async throws {
        let files = MemoryFiles()
        _ = try Updater<MemoryFiles, StepSource>.begin(with: example.root, in: files)
        for (number, step) in example.steps.enumerated() {
            let (refusal, bytes) = await step.run(files)
            let said = refusal?.description ?? "ok"
            if step.expect == "ok" {
                #expect(refusal == nil, "step \(number): \(said)")
            } else {
                #expect(refusal != nil && said.contains(step.expect), "step \(number): \(said)")
            }
            if let content = step.content { #expect(bytes == Array(content.utf8)) }
            for (role, version) in step.versions {
                let stored = try files.read(role + ".json", limit: 1 << 30)
                let document = try stored.map { try JSONValue(json: $0) }
                #expect(document?["signed"]?["version"]?.integer == version, "\(role)")
            }
            // Stored documents are equal to served ones, byte by byte: the client adds nothing.
            for name in try files.names() where name.hasSuffix(".json") {
                let stored = try files.read(name, limit: 1 << 30)
                let served = example.steps[...number].flatMap { Array($0.served.values) }
                #expect(stored == example.root || served.contains { $0 == stored })
            }
        }
    }
}

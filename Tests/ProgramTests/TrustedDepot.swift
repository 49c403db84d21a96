import Foundation

/// A depot in a separate folder, whose manifest trusts a repository.
struct TrustedDepot {
    private struct Document: Decodable {
        let root: String
        let trees: [String: [String: String]]
        let older: String
    }

    static let digest = "7505fe5b8af2bb43117d294cd35b8eebf17838e5390865a4b031c76da50094cf"

    let program: Program
    private let document: Document

    init() throws {
        program = try Program()
        let tests = Program.repository.appending(path: "Tests/TrustTests/Fixtures")
        document = try JSONDecoder().decode(
            Document.self,
            from: try Data(contentsOf: tests.appending(path: "depot.json"))
        )
        try program.copyDemo()
        try FileManager.default.copyItem(
            atPath: program.folder.path + "/demo/keys",
            toPath: program.folder.path + "/keys"
        )
        try program.write("root.json", document.root)
        try program.write("older.bin", document.older)
        for name in [
            "image", "key.pub", "other.pub", "prehashed.minisig", "legacy.minisig", "other.minisig",
        ] {
            try program.write(
                name,
                try Data(contentsOf: tests.appending(path: "minisign/\(name)"))
            )
        }
    }

    /// Puts the documents of a repository where the manifest expects them.
    func serve(_ tree: String?, at folder: String = "repository") throws {
        let path = program.folder.path + "/" + folder
        try? FileManager.default.removeItem(atPath: path)
        guard let tree, let files = document.trees[tree] else { return }
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        for (name, text) in files { try program.write("\(folder)/\(name)", text) }
    }

    /// Writes a manifest that updates one bicycle to the demo's image.
    @discardableResult
    func manifest(
        name: String = "manifest.yaml",
        image: String = "url: file:demo/city-4.12.0.zip",
        sha256: String = digest,
        version: String = "4.12.0",
        fits: String = "family: comodule, type: 17, variant: 0",
        trust: String = "tuf: {repository: vendor, target: bikes/city.zip}",
        repository: String = "root: root.json, metadata: 'file:repository'",
        lists: String = ""
    ) throws -> String {
        let repositories =
            trust.contains("tuf:") ? "repositories: {vendor: {\(repository)}}" : ""
        let policy = [repositories, lists].filter { !$0.isEmpty }.joined(separator: ", ")
        return try program.write(
            name,
            """
            name: trusted
            vehicles:
              from: demo/fleet.csv
              select: {depot: tallinn-1}
            images:
              city:
                \(image)
                sha256: "\(sha256)"
                version: "\(version)"
                fits: {\(fits)}
                \(trust)
            \(policy.isEmpty ? "" : "trust: {\(policy)}")
            steps:
              - update: {to: city}
            settle: {quiet: 20s, confirm-gap: 2s, deadline: 10m}

            """
        )
    }

    func fetch(_ manifest: String = "manifest.yaml") throws -> Program.Result {
        try program.run(["fetch", manifest, "--state", program.state])
    }
}

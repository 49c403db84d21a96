import Foundation
import Testing
import Workbench

/// Space for images: messages before a fetch, and images that a clean-up keeps.
@Suite struct StoreRoomTests {
    private func depot(store: String, size: Int? = nil) throws -> TrustedDepot {
        let depot = try TrustedDepot()
        let path = depot.program.folder.path + "/demo/city-4.12.0.zip"
        let count = try Data(contentsOf: URL(filePath: path)).count
        try depot.manifest(trust: "size: \(size ?? count)")
        let manifest = depot.program.folder.path + "/manifest.yaml"
        let text = try String(contentsOfFile: manifest, encoding: .utf8)
        try depot.program.write("manifest.yaml", text + "fetch: {store: \(store)}\n")
        return depot
    }

    private func images(_ depot: TrustedDepot) throws -> [String] {
        let path = depot.program.state + "/images/sha256"
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        return try FileManager.default.subpathsOfDirectory(atPath: path).sorted()
    }

    @Test func `a fetch that does not fit into the store is refused before it begins`() throws {
        let depot = try depot(store: "2kB")
        let result = try depot.fetch()
        #expect(result.status == 74)
        #expect(result.errors.contains("the images do not fit into the store"))
        #expect(result.errors.contains("the store holds 0 B of at most 2 KiB"))
        #expect(result.lastLine == "fetched=0 present=0 failed=0 exit=74")
        #expect(try images(depot).isEmpty)
    }

    @Test func `what is fetched and where it goes is said first`() throws {
        let depot = try depot(store: "1GB")
        let result = try depot.fetch()
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errors.contains("1 image to fetch, "), "\(result.errors)")
        #expect(result.errors.contains("the store holds 0 B of 953.7 MiB, the disk has "))
        #expect(try depot.fetch().errors.isEmpty)
    }

    @Test func `images of a rollout that is not over are never pruned`() throws {
        let depot = try TrustedDepot()
        try depot.manifest(trust: "")
        let run = try depot.program.run([
            "run", "manifest.yaml", "--simulate", "demo/depot.yaml", "--state",
            depot.program.state,
        ])
        #expect(run.lastLine.hasPrefix("rollout=trusted "), "\(run.errors)")
        // A paused rollout is not over: its images stay, whatever is forgotten.
        let paused = try depot.program.run([
            "pause", "--reason", "wait", "--state", depot.program.state,
        ])
        #expect(paused.status == 0, "\(paused.errors)")
        let prune = [
            "images", "prune", "--forget", "trusted", "--state", depot.program.state,
        ]
        let spared = try depot.program.run(prune)
        #expect(spared.status == 0, "\(spared.errors)")
        #expect(spared.errors.contains("the rollout trusted is not over: its images stay"))
        #expect(try images(depot).contains { $0.hasSuffix("/" + TrustedDepot.digest) })
        // Every vehicle has its verdict: without the pause the rollout is over.
        let ended = try depot.program.run(["resume", "--state", depot.program.state])
        #expect(ended.status == 0, "\(ended.errors)")
        // A module that owes the image may wait for it in its bootloader.
        let journal = depot.program.state + "/journal.sqlite"
        func change(_ text: String) throws {
            #expect(try Workbench.run("sqlite3", journal, text) == 0)
        }
        try change(
            """
            INSERT INTO debts (serial, vehicle, rollout, execution, run, begun, image, name, target,
                total, stage, part, acknowledged, interruptions, restarts, target_seen, in_bootloader, seen_run)
            VALUES ('00a0000000000099', 'bike-99', 'gone', 1, 1, 1, '\(TrustedDepot.digest)', 'x',
                '', 100, 'transfer', 0, 0, 0, 0, 0, 1, 1)
            """
        )
        #expect(try depot.program.run(prune).status == 0)
        #expect(try images(depot).contains { $0.hasSuffix("/" + TrustedDepot.digest) })
        try change("DELETE FROM debts")
        #expect(try depot.program.run(prune).status == 0)
        #expect(try !images(depot).contains { $0.hasSuffix("/" + TrustedDepot.digest) })
    }
}

import Base
import Foundation
import Signers
import Testing
import Workbench

/// `bundle apply` that is killed at any point, as a plain user: the next `apply` finishes the work.
@Suite struct BundleCrashTests {
    /// The number of points: few in the gate, any number by hand.
    private static let count =
        ProcessInfo.processInfo.environment["YARDMASTER_CRASH_POINTS"].flatMap { Int($0) } ?? 12

    private struct Depot {
        let depot: SignedDepot

        init() throws {
            depot = try SignedDepot()
            try depot.sign()
            try depot.make()
            try depot.trust()
            try depot.signBundle(by: MinisignSigner(2))
            try FileManager.default.createDirectory(
                atPath: depot.folder + "/rollouts",
                withIntermediateDirectories: false
            )
            try PlainUser.own(depot.folder)
        }

        func start() throws -> Process {
            try PlainUser.start(
                [
                    Program.path, "bundle", "apply", "--quiet", "--key", "office.pub",
                    "--target-dir", "rollouts", "--state", depot.program.state, "tallinn.bundle",
                ],
                in: depot.folder
            )
        }

        /// The files behind the link; nil when there is no link yet.
        var rollout: [String]? {
            try? FileManager.default.subpathsOfDirectory(
                atPath: depot.folder + "/rollouts/trusted/"
            ).sorted()
        }

        /// Restores the state before the first bundle.
        func clean() throws {
            for folder in ["rollouts", "state/images"] {
                let path = depot.folder + "/" + folder
                for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
                    try FileManager.default.removeItem(atPath: path + "/" + name)
                }
            }
        }
    }

    @Test func `the end at any call is made good by the next apply`() throws {
        let depot = try Depot()
        // A run without a kill shows the number of calls.
        let whole = try depot.start()
        let most = whole.countCalls()
        #expect(whole.terminationStatus == 0 && most > 20, "\(most) calls")
        let complete = try #require(depot.rollout)
        #expect(complete.contains("manifest.yaml"))
        var chance = SplitMix64(seed: 16)
        var killed = 0
        for point in 0..<Self.count {
            try depot.clean()
            let place = Int.random(in: most / 4...most, using: &chance)
            let process = try depot.start()
            if process.isKilled(after: place) { killed += 1 }
            // A rollout is complete, or does not exist.
            if let rollout = depot.rollout { #expect(rollout == complete, "point \(point)") }
            let next = try depot.start()
            next.waitUntilExit()
            #expect(next.terminationStatus == 0, "point \(point), after \(place) calls")
            #expect(depot.rollout == complete, "point \(point)")
            let names = try FileManager.default.contentsOfDirectory(
                atPath: depot.depot.folder + "/rollouts"
            )
            // The link, the folder, and at most one link that was not renamed.
            #expect(names.count <= 3, "\(names)")
            let drafts = names.filter { $0.hasPrefix(".") }
            #expect(drafts.allSatisfy { $0.hasPrefix(".trusted-") }, "\(drafts)")
        }
        #expect(killed * 2 >= Self.count, "\(killed) of \(Self.count) were killed in time")
    }
}

import Domain
import Foundation
import Signers
import Testing
import Workbench

/// `bundle apply` that is killed anywhere, as a plain user: the next one finishes it.
@Suite struct BundleCrashTests {
    /// How many places: few in the gate, as many as one likes by hand.
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
            let line =
                PlainUser.prefix + [
                    Program.path, "bundle", "apply", "--quiet", "--key", "office.pub",
                    "--target-dir", "rollouts", "--state", depot.program.state, "tallinn.bundle",
                ]
            let process = Process()
            process.executableURL = URL(filePath: line[0])
            process.arguments = Array(line.dropFirst())
            process.currentDirectoryURL = URL(filePath: depot.folder)
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            return process
        }

        /// What lies behind the link, nothing when there is no link yet.
        var rollout: [String]? {
            try? FileManager.default.subpathsOfDirectory(
                atPath: depot.folder + "/rollouts/trusted/"
            ).sorted()
        }

        /// As it was before the first bundle came.
        func clean() throws {
            for folder in ["rollouts", "state/images"] {
                let path = depot.folder + "/" + folder
                for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
                    try FileManager.default.removeItem(atPath: path + "/" + name)
                }
            }
        }
    }

    /// How many calls a process has made to read and to write, as the kernel counts them.
    private static func calls(of process: Int32) -> Int? {
        guard let text = try? contents("/proc/\(process)/io") else { return nil }
        var sum = 0
        for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
            guard line.hasPrefix("syscr: ") || line.hasPrefix("syscw: ") else { continue }
            sum += Int(line.split(separator: " ")[1]) ?? 0
        }
        return sum
    }

    @Test func `the end at any call is made good by the next apply`() throws {
        let depot = try Depot()
        // One that nobody disturbs tells how many calls there are.
        let whole = try depot.start()
        var most = 0
        while whole.isRunning {
            most = max(most, Self.calls(of: whole.processIdentifier) ?? 0)
        }
        whole.waitUntilExit()
        #expect(whole.terminationStatus == 0 && most > 20, "\(most) calls")
        let complete = try #require(depot.rollout)
        #expect(complete.contains("manifest.yaml"))
        var chance = SplitMix64(seed: 16)
        var killed = 0
        for point in 0..<Self.count {
            try depot.clean()
            let place = Int.random(in: most / 4...most, using: &chance)
            let process = try depot.start()
            while process.isRunning {
                guard let calls = Self.calls(of: process.processIdentifier), calls >= place
                else { continue }
                kill(process.processIdentifier, SIGKILL)
                break
            }
            process.waitUntilExit()
            if process.terminationReason == .uncaughtSignal { killed += 1 }
            // A rollout is there whole, or not at all.
            if let rollout = depot.rollout { #expect(rollout == complete, "point \(point)") }
            let next = try depot.start()
            next.waitUntilExit()
            #expect(next.terminationStatus == 0, "point \(point), after \(place) calls")
            #expect(depot.rollout == complete, "point \(point)")
            let names = try FileManager.default.contentsOfDirectory(
                atPath: depot.depot.folder + "/rollouts"
            )
            // The link, the folder, and at most a link that was not renamed any more.
            #expect(names.count <= 3, "\(names)")
            let drafts = names.filter { $0.hasPrefix(".") }
            #expect(drafts.allSatisfy { $0.hasPrefix(".trusted-") }, "\(drafts)")
        }
        #expect(killed * 2 >= Self.count, "\(killed) of \(Self.count) were killed in time")
    }
}

import Foundation
import Testing
import Workbench

/// A rollout of the demo's image in a separate simulated depot.
extension Program {
    /// Of `count` vehicles the first `bad` have a fault, by default one that keeps their old version, and the last
    /// `away` are away.
    static func steered(
        _ count: Int,
        bad: Int = 0,
        fault: String = "returns-unchanged: true",
        away: Int = 0,
        rollout: String,
        depot: String = ""
    ) throws -> Program {
        let program = try Program()
        try program.copyDemo()
        let key = "00112233445566778899aabbccddeeff00112233"
        try program.write("key", key + "\n")
        func serial(_ number: Int) -> String {
            let digits = String(number)
            return "00f0" + String(repeating: "0", count: 12 - digits.count) + digits
        }
        let rows = (1...count).map { "v\($0),\(serial($0)),comodule,file:key" }
        try program.write(
            "fleet.csv",
            (["id,serial,family,secret"] + rows).joined(separator: "\n") + "\n"
        )
        try program.write("steered.yaml", steeredManifest(rollout))
        let modules = (1...max(1, count - away)).map { number in
            "  - {serial: \"\(serial(number))\", key: \"\(key)\", type: 17, version: \"4.11.3\""
                + (number <= bad ? ", faults: [{\(fault), times: 9}]" : "") + "}"
        }
        try program.write(
            "depot.yaml",
            "name: steered\nseed: 4\n\(depot)modules:\n" + modules.joined(separator: "\n") + "\n"
        )
        return program
    }

    /// Without other settings of the radio, one vehicle comes after the other.
    static func steeredManifest(_ rollout: String) -> String {
        """
        name: steered
        vehicles: {from: fleet.csv}
        images:
          city:
            url: file:demo/city-4.12.0.zip
            sha256: "7505fe5b8af2bb43117d294cd35b8eebf17838e5390865a4b031c76da50094cf"
            version: "4.12.0"
            fits: {family: comodule, type: 17, variant: 0}
        steps: [{update: city}]
        rollout: \(rollout)
        \(rollout.contains("radio:") ? "" : "radio: {links-per-adapter: 1}")

        """
    }

    var steeredRun: [String] {
        ["run", "steered.yaml", "--simulate", "depot.yaml", "--state", state]
    }

    /// A run that continues beside the test.
    final class Running {
        let process: Process
        private let folder: String
        private let name: String

        fileprivate init(_ process: Process, _ folder: String, _ name: String) {
            (self.process, self.folder, self.name) = (process, folder, name)
        }

        private func text(_ suffix: String) -> String {
            (try? String(contentsOfFile: "\(folder)/\(name).\(suffix)", encoding: .utf8)) ?? ""
        }

        var events: String { text("jsonl") }

        /// Waits until the events contain the words; false when the run ended before.
        func waits(for words: String) -> Bool { comes(words, in: "jsonl") }

        /// Waits until the events match the pattern; false when the run ended before.
        func waits(for pattern: Regex<Substring>) -> Bool {
            try? wait(for: "an event") { !process.isRunning || events.contains(pattern) }
            return events.contains(pattern)
        }

        /// Lets a paced run continue as fast as the machine allows.
        ///
        /// A slow pace keeps a run at the point that a test needs for as long as other programs
        /// take, also on a busy machine.
        func hurries() { kill(process.processIdentifier, SIGUSR1) }

        /// Waits until the messages for people contain the words; false when the run ended before.
        func says(_ words: String) -> Bool { comes(words, in: "err") }

        private func comes(_ words: String, in suffix: String) -> Bool {
            try? wait(for: words) { !process.isRunning || text(suffix).contains(words) }
            return text(suffix).contains(words)
        }

        func result() -> Result {
            process.waitUntilExit()
            return Result(
                status: process.terminationReason == .uncaughtSignal
                    ? -process.terminationStatus : process.terminationStatus,
                output: text("out"),
                errors: text("err")
            )
        }
    }

    /// Starts a run whose events, results and messages go to files with that name.
    func begin(
        _ name: String,
        _ arguments: [String],
        environment: [String: String] = [:]
    ) throws -> Running {
        let process = Process()
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.executableURL = URL(filePath: Self.path)
        process.arguments = arguments + ["--events", "\(name).jsonl"]
        process.currentDirectoryURL = URL(filePath: folder.path)
        process.standardInput = FileHandle.nullDevice
        for (suffix, isError) in [("out", false), ("err", true)] {
            let path = "\(folder.path)/\(name).\(suffix)"
            _ = FileManager.default.createFile(atPath: path, contents: nil)
            let handle = try FileHandle(forWritingTo: URL(filePath: path))
            if isError { process.standardError = handle } else { process.standardOutput = handle }
        }
        // An earlier run with this name has ended; its events are not those of this one.
        try? FileManager.default.removeItem(atPath: "\(folder.path)/\(name).jsonl")
        try process.run()
        return Running(process, folder.path, name)
    }
}

extension String {
    /// The words of a text without the reasons of pauses that are reported as lifted.
    var withoutWhatWasLifted: String {
        split(whereSeparator: \.isWhitespace).joined(separator: " ")
            .replacing("by request: rain; resumed since", with: "")
    }
}

extension Program.Result {
    /// The exit code and the reason in the document of `--json`.
    func exit() throws -> (Int, String) {
        let document = try JSONSerialization.jsonObject(with: Data(output.utf8))
        let exit = try #require((document as? [String: Any])?["exit"] as? [String: Any])
        return (try #require(exit["code"] as? Int), try #require(exit["reason"] as? String))
    }
}

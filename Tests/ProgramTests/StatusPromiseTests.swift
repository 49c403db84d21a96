import Foundation
import Testing

/// The messages about a journal that cannot be read, or about an unknown rollout.
@Suite struct StatusPromiseTests {
    private func yard() throws -> PromiseYard {
        let yard = try PromiseYard()
        try yard.manifest(steps: "[{command: lock}]")
        return yard
    }

    @Test func `status says the true reason`() throws {
        let yard = try yard()
        for verb in ["status", "history"] {
            let none = try yard.say(verb)
            #expect(none.status == 66 && none.errors.contains("there is no journal in"), "\(verb)")
        }
        #expect(try yard.run().status == 0)
        for verb in ["status", "history", "pause", "resume", "abort", "retry"] {
            let unknown = try yard.say(verb, "--rollout", "other")
            #expect(unknown.status == 66, "\(verb): \(unknown.errors)")
            #expect(unknown.errors.contains("no rollout other has run here"), "\(unknown.errors)")
        }
    }

    @Test(arguments: [0, 10, 700, 4_096, 9_000])
    func `a journal that was cut off is refused by everybody and replaced by nobody`(
        length: Int
    ) throws {
        let yard = try yard()
        #expect(try yard.run().status == 0)
        let url = URL(filePath: yard.program.state + "/journal.sqlite")
        let rest = try Data(contentsOf: url).prefix(length)
        try #require(rest.count == length)
        try rest.write(to: url)
        for verb in ["status", "history", "pause", "resume", "retry", "inhibit car", "clear --all"]
        {
            let words = verb.split(separator: " ").map(String.init)
            let answer = try yard.program.run(words + ["--state", yard.program.state])
            #expect(answer.status == 78, "\(verb): \(answer.errors)")
            #expect(answer.errors.contains("the journal is damaged"), "\(verb): \(answer.errors)")
            #expect(answer.errors.contains("restore a copy of journal.sqlite"), "\(verb)")
        }
        let again = [try yard.run(), try yard.exec("car", "command unlock-all")]
        for answer in again {
            #expect(answer.status == 78, "\(answer.errors)")
            #expect(answer.errors.contains("the journal is damaged"), "\(answer.errors)")
        }
        let plan = try yard.program.run(["plan", "yard.yaml", "--state", yard.program.state])
        #expect(plan.errors.contains("the journal is damaged"), "\(plan.errors)")
        #expect(try Data(contentsOf: url) == rest)
        #expect(yard.deeds == ["lock"])
    }

    @Test(.enabled(if: geteuid() == 0, "only root can become somebody else"))
    func `a user who may not read the state hears so`() throws {
        let yard = try yard()
        #expect(try yard.run().status == 0)
        // A copy of the program where the other user can start it.
        let folder = yard.program.folder.path
        try FileManager.default.copyItem(atPath: Program.path, toPath: folder + "/yardmaster")
        for path in [folder, folder + "/yardmaster"] { #expect(chmod(path, 0o755) == 0) }
        func say(_ verb: String) throws -> (status: Int32, errors: String) {
            let process = Process()
            let errors = Pipe()
            process.executableURL = URL(filePath: "/usr/bin/setpriv")
            process.arguments = [
                "--reuid=65534", "--clear-groups", folder + "/yardmaster", verb, "--state",
                yard.program.state,
            ]
            process.standardOutput = FileHandle.nullDevice
            process.standardError = errors
            try process.run()
            let data = errors.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return (process.terminationStatus, String(decoding: data, as: UTF8.self))
        }
        // First the folder is private to its owner; then the folder is open, and the file is not.
        for mode: mode_t in [0o700, 0o755] {
            #expect(chmod(yard.program.state, mode) == 0)
            #expect(chmod(yard.program.state + "/journal.sqlite", 0o600) == 0)
            for verb in ["status", "history"] {
                let answer = try say(verb)
                #expect(answer.status == 66, "\(answer.errors)")
                #expect(answer.errors.contains("the journal may not be read"), "\(answer.errors)")
                #expect(answer.errors.contains("user 65534"), "\(answer.errors)")
            }
        }
    }
}

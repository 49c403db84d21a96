import Commands
import Foundation
import Testing
import Workbench

@Suite struct CompletionTests {
    @Test(arguments: Completion.allCases)
    func `every command and each of its flags stands in the script of a shell`(
        shell: Completion
    ) {
        let words = Set(
            shell.script.split { !$0.isLetter && !$0.isNumber && $0 != "-" }.map { String($0) }
        )
        for command in Command.all where !command.isHidden {
            // The scripts of fish name a long flag without its hyphens.
            let flags = command.flags.map { shell == .fish ? $0.long : "--\($0.long)" }
            let missing = (command.words + flags).filter { !words.contains($0) }
            #expect(missing.isEmpty, "\(command.name)")
        }
        #expect(words.count > 200)
    }

    @Test(arguments: Completion.allCases)
    func `a shell finds no fault in its script`(shell: Completion) throws {
        guard let tool = Tool(shell.rawValue) else {
            print("\(shell.rawValue) is not installed: its script is not checked")
            return
        }
        let result = try tool.run(["-n"], input: shell.script)
        #expect(result.status == 0)
        #expect(result.errors == "")
    }

    @Test(
        .enabled(if: Tool.isInstalled("bash"), "bash is not installed"),
        arguments: [
            (["val"], ["validate"]),
            (["co"], ["completion"]),
            (["--v"], ["--version"]),
            (["run", "--s"], ["--seed", "--simulate", "--state"]),
            (["run", "--pace", ""], []),
            (["status", "--n"], ["--no-color"]),
            (["completion", ""], ["bash", "fish", "zsh"]),
            (["completion", "--"], ["--help"]),
            (["help", "ru"], ["run"]),
            (["history", ""], ["compare", "show"]),
            (["history", "--l"], ["--last"]),
            (["history", "show", "7", "--r"], ["--report"]),
            (["run", "m"], ["m one.yaml", "m two.yaml"]),
            (["run", "--events", "m o"], ["m one.yaml"]),
            (["run", "--events", "=", "m o"], ["m one.yaml"]),
            (["run", "--state", ""], ["state"]),
            (["unknown", ""], []),
        ]
    )
    func `bash completes`(words: [String], offered: [String]) throws {
        let bash = try #require(Tool("bash"))
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "completion-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(
            at: folder.appending(path: "state"),
            withIntermediateDirectories: true
        )
        for name in ["m one.yaml", "m two.yaml"] {
            try Data().write(to: folder.appending(path: name))
        }
        let quoted = (["yardmaster"] + words).map { "'\($0)'" }.joined(separator: " ")
        // 'compopt' works only while completing, so here it does nothing.
        let result = try bash.run(
            ["--norc", "-s"],
            input: Completion.bash.script + """
                compopt() { :; }
                cd '\(folder.path(percentEncoded: false))'
                COMP_WORDS=(\(quoted)) COMP_CWORD=\(words.count)
                _yardmaster
                for word in "${COMPREPLY[@]}"; do echo "$word"; done | sort
                """
        )
        #expect(result.errors == "")
        #expect(result.output.split(separator: "\n").map { String($0) } == offered)
    }

    @Test(
        .enabled(if: Tool.isInstalled("fish"), "fish is not installed"),
        arguments: [
            ("val", ["validate"]), ("run --se", ["--seed"]), ("completion z", ["zsh"]),
            ("status --n", ["--no-color"]), ("help ru", ["run"]),
        ]
    )
    func `fish completes`(line: String, offered: [String]) throws {
        let fish = try #require(Tool("fish"))
        let result = try fish.run(
            ["--no-config"],
            input: Completion.fish.script + "complete -C 'yardmaster \(line)'\n",
            environment: ["PATH": "/usr/bin:/bin", "HOME": "/dev/null"]
        )
        let words = result.output.split(separator: "\n").map {
            String($0.prefix { $0 != "\t" })
        }
        #expect(words == offered)
    }
}

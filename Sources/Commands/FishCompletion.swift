/// The script for fish 3 and later.
enum FishCompletion {
    static var script: String {
        var script = """
            # Completes yardmaster in fish; made by 'yardmaster completion fish'.
            function __yardmaster_known
                set -l words (commandline -opc)
                set -l state
                if set -l place (contains -i -- --state $words)
                    set state --state $words[(math $place + 1)]
                end
                command $words[1] complete $argv $state 2>/dev/null
            end
            complete -c yardmaster -f
            complete -c yardmaster -n __fish_use_subcommand -s h -l help -d 'Show help'
            complete -c yardmaster -n __fish_use_subcommand -s V -l version -d 'Print the version'

            """
        for word in Completion.firstWords {
            script +=
                "complete -c yardmaster -n __fish_use_subcommand -a \(word) -d "
                + quoted(Completion.summary(of: word)) + "\n"
        }
        for group in Completion.groups {
            let words = Completion.secondWords(of: group).joined(separator: " ")
            script +=
                "complete -c yardmaster -n '__fish_seen_subcommand_from \(group); "
                + "and not __fish_seen_subcommand_from \(words)' -a '\(words)'\n"
        }
        for command in Completion.commands {
            let seen = command.words.map { "__fish_seen_subcommand_from \($0)" }
            let start = "complete -c yardmaster -n '\(seen.joined(separator: "; and "))'"
            for flag in command.flags {
                script += start
                if let short = flag.short { script += " -s \(short)" }
                script += " -l \(flag.long)"
                if let value = flag.value { script += " " + taking(value.completion) }
                script += " -d \(quoted(flag.help))\n"
            }
            for argument in command.arguments {
                script += start + " " + offering(argument.kind.completion) + "\n"
            }
        }
        return script
    }

    /// The completion of a flag's value.
    private static func taking(_ completion: ValueCompletion) -> String {
        if case .files = completion { return "-r -F" }
        return (["-x"] + words(completion)).joined(separator: " ")
    }

    /// The completion of an argument.
    private static func offering(_ completion: ValueCompletion) -> String {
        let start =
            switch completion {
            case .files: ["-F"]
            case .nothing, .known: ["-f"]
            case .directories, .words, .commands: [String]()
            }
        return (start + words(completion)).joined(separator: " ")
    }

    /// The option with the words that are offered; none where the shell offers files, or nothing.
    private static func words(_ completion: ValueCompletion) -> [String] {
        switch completion {
        case .files, .nothing: []
        case .directories: ["-a '(__fish_complete_directories)'"]
        case .known(let known): ["-a '(__yardmaster_known \(known.rawValue))'"]
        case .words(let words): ["-a '\(words.joined(separator: " "))'"]
        case .commands: ["-a '\(Completion.firstWords.joined(separator: " "))'"]
        }
    }

    /// Inside fish's single quotes a backslash escapes itself and the quote.
    private static func quoted(_ text: String) -> String {
        var quoted = "'"
        for character in text {
            if character == "'" || character == "\\" { quoted += "\\" }
            quoted.append(character)
        }
        return quoted + "'"
    }
}

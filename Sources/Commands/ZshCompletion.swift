/// The script for zsh's completion system.
enum ZshCompletion {
    static var script: String {
        var script = """
            #compdef yardmaster
            # Completes yardmaster in zsh; made by 'yardmaster completion zsh'.
            _yardmaster_known() {
                local -a state known
                local -i place=${words[(I)--state]}
                (( place )) && state=(--state ${~${(Q)words[place+1]}})
                known=(${(f)"$(_call_program known yardmaster complete $1 $state 2>/dev/null)"})
                compadd -a known
            }
            _yardmaster() {
                local command=$words[2]
                local -a commands
                if (( CURRENT == 2 )); then
                    commands=(

            """
        for word in Completion.firstWords {
            let entry = word + ":" + Completion.summary(of: word)
            script += "            \(Completion.quoted(entry))\n"
        }
        script += """
                    )
                    _describe -t commands command commands
                    return
                fi
                shift words
                (( CURRENT-- ))

            """
        for group in Completion.groups {
            let words = Completion.secondWords(of: group).joined(separator: " ")
            // If the word is also a command without a second word, its flags may follow it.
            let isForm = Completion.isCommand(group) ? " && $words[2] != -*" : ""
            script += """
                    if [[ $command == \(group)\(isForm) ]]; then
                        if (( CURRENT == 2 )); then
                            _values form \(words)
                            return
                        fi
                        command+=" $words[2]"
                        shift words
                        (( CURRENT-- ))
                    fi

                """
        }
        script += "    case $command in\n"
        for command in Completion.commands {
            script += "    \(Completion.quoted(command.name)))\n        _arguments -S"
            for flag in command.flags { script += " \\\n            " + specification(flag) }
            for (index, argument) in command.arguments.enumerated() {
                let place = argument.count == .any ? "*" : String(index + 1)
                let text = "\(place):\(argument.name):\(action(argument.kind.completion))"
                script += " \\\n            " + Completion.quoted(text)
            }
            script += "\n        ;;\n"
        }
        return script + """
                esac
            }
            if [[ $funcstack[1] == _yardmaster ]]; then
                _yardmaster "$@"
            else
                compdef _yardmaster yardmaster
            fi

            """
    }

    /// One flag in the form that `_arguments` requires.
    private static func specification(_ flag: any FlagRow) -> String {
        let help = Completion.quoted("[" + escaped(flag.help) + "]")
        guard let value = flag.value else {
            guard let short = flag.short else { return "'--\(flag.long)'" + help }
            let both = "'(-\(short) --\(flag.long))'"
            return both + "{-\(short),--\(flag.long)}" + help
        }
        let action = Completion.quoted(":" + escaped(value.name) + ":" + action(value.completion))
        return "'\(flag.isRepeatable ? "*" : "")--\(flag.long)='" + help + action
    }

    private static func action(_ completion: ValueCompletion) -> String {
        switch completion {
        case .files: "_files"
        case .directories: "_files -/"
        case .nothing: " "
        case .known(let known): " _yardmaster_known \(known.rawValue)"
        case .words(let words): "(\(words.joined(separator: " ")))"
        case .commands: "(\(Completion.firstWords.joined(separator: " ")))"
        }
    }

    /// Escapes brackets, colons and backslashes, which end the parts of a specification.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text {
            if "[]:\\".contains(character) { escaped += "\\" }
            escaped.append(character)
        }
        return escaped
    }
}

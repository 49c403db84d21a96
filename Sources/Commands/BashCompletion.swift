/// The script for bash 4 and later; it does not need the bash-completion package.
enum BashCompletion {
    static var script: String {
        var script = #"""
            # Completes yardmaster in bash; made by 'yardmaster completion bash'.
            _yardmaster() {
                local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
                local command=${COMP_WORDS[1]} flags= arguments= kind=words
                COMPREPLY=()
                # Bash makes '=' a word of its own.
                if [[ $cur == = ]]; then
                    cur=
                elif [[ $prev == = ]] && ((COMP_CWORD > 2)); then
                    prev=${COMP_WORDS[COMP_CWORD-2]}
                fi
                if ((COMP_CWORD == 1)); then

            """#
        let first = (Completion.firstWords + ["--help", "--version"]).joined(separator: " ")
        script += "        mapfile -t COMPREPLY < <(compgen -W '\(first)' -- \"$cur\")\n"
        script += "        return\n    fi\n"
        for group in Completion.groups {
            let words = Completion.secondWords(of: group).joined(separator: " ")
            // If the word is also a command without a second word, its flags may follow it.
            let isForm = Completion.isCommand(group) ? " && ${COMP_WORDS[2]} != -*" : ""
            script += """
                    if [[ $command == \(group)\(isForm) ]]; then
                        if ((COMP_CWORD == 2)); then
                            mapfile -t COMPREPLY < <(compgen -W '\(words)' -- "$cur")
                            return
                        fi
                        command+=" ${COMP_WORDS[2]}"
                    fi

                """
        }
        script += "    case $command in\n"
        for command in Completion.commands { script += branch(command) }
        return script + #"""
                *) return ;;
                esac
                case $kind in
                none) [[ $cur == -* ]] || return ;;
                files | directories)
                    if [[ $cur != -* ]]; then
                        compopt -o filenames
                        if [[ $kind == files ]]; then
                            mapfile -t COMPREPLY < <(compgen -f -- "$cur")
                        else
                            mapfile -t COMPREPLY < <(compgen -d -- "$cur")
                        fi
                        return
                    fi
                    ;;
                vehicles | rollouts | runs)
                    if [[ $cur != -* ]]; then
                        local index word state=()
                        for ((index = 2; index + 1 < COMP_CWORD; index++)); do
                            [[ ${COMP_WORDS[index]} == --state ]] || continue
                            word=${COMP_WORDS[index + 1]}
                            [[ $word != = ]] || word=${COMP_WORDS[index + 2]}
                            state=(--state "${word/#\~/$HOME}")
                        done
                        while IFS= read -r word; do
                            [[ $word == "$cur"* ]] || continue
                            printf -v word %q "$word"
                            COMPREPLY+=("$word")
                        done < <("${COMP_WORDS[0]}" complete "$kind" "${state[@]}" 2>/dev/null)
                        return
                    fi
                    ;;
                esac
                if [[ $cur == -* ]]; then arguments=$flags; fi
                mapfile -t COMPREPLY < <(compgen -W "$arguments" -- "$cur")
            }
            complete -F _yardmaster yardmaster

            """#
    }

    private static func branch(_ command: Command) -> String {
        let flags = command.flags.map { "--" + $0.long }.joined(separator: " ")
        var branch = "    \(Completion.quoted(command.name)))\n"
        branch += "        flags=\(Completion.quoted(flags))\n"
        if let argument = command.arguments.first {
            branch += "        \(assignment(argument.kind.completion))\n"
        }
        let valued = command.flags.filter { $0.value != nil }
        if !valued.isEmpty {
            branch += "        case $prev in\n"
            for flag in valued {
                guard let value = flag.value else { continue }
                branch += "        --\(flag.long)) flags= \(assignment(value.completion)) ;;\n"
            }
            branch += "        esac\n"
        }
        return branch + "        ;;\n"
    }

    private static func assignment(_ completion: ValueCompletion) -> String {
        switch completion {
        case .files: "kind=files"
        case .directories: "kind=directories"
        case .nothing: "kind=none"
        case .known(let known): "kind=" + known.rawValue
        case .words(let words): "arguments=\(Completion.quoted(words.joined(separator: " ")))"
        case .commands:
            "arguments=\(Completion.quoted(Completion.firstWords.joined(separator: " ")))"
        }
    }
}

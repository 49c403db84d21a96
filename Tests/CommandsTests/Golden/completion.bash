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
        mapfile -t COMPREPLY < <(compgen -W 'validate plan run status pause resume abort retry inhibit uninhibit clear schema completion help version --help --version' -- "$cur")
        return
    fi
    case $command in
    'validate')
        flags='--json --quiet --no-color --help'
        kind=files
        ;;
    'plan')
        flags='--state --limit --simulate --json --quiet --no-color --help'
        kind=files
        case $prev in
        --state) flags= kind=directories ;;
        --limit) flags= kind=none ;;
        --simulate) flags= kind=files ;;
        esac
        ;;
    'run')
        flags='--state --limit --simulate --pace --seed --events --report --json --quiet --no-color --help'
        kind=files
        case $prev in
        --state) flags= kind=directories ;;
        --limit) flags= kind=none ;;
        --simulate) flags= kind=files ;;
        --pace) flags= kind=none ;;
        --seed) flags= kind=none ;;
        --events) flags= kind=files ;;
        --report) flags= kind=files ;;
        esac
        ;;
    'status')
        flags='--state --rollout --limit --json --quiet --no-color --help'
        case $prev in
        --state) flags= kind=directories ;;
        --rollout) flags= kind=none ;;
        --limit) flags= kind=none ;;
        esac
        ;;
    'pause')
        flags='--state --rollout --reason --json --quiet --no-color --help'
        case $prev in
        --state) flags= kind=directories ;;
        --rollout) flags= kind=none ;;
        --reason) flags= kind=none ;;
        esac
        ;;
    'resume')
        flags='--state --rollout --reason --json --quiet --no-color --help'
        case $prev in
        --state) flags= kind=directories ;;
        --rollout) flags= kind=none ;;
        --reason) flags= kind=none ;;
        esac
        ;;
    'abort')
        flags='--state --rollout --reason --json --quiet --no-color --help'
        case $prev in
        --state) flags= kind=directories ;;
        --rollout) flags= kind=none ;;
        --reason) flags= kind=none ;;
        esac
        ;;
    'retry')
        flags='--state --rollout --reason --json --quiet --no-color --help'
        kind=none
        case $prev in
        --state) flags= kind=directories ;;
        --rollout) flags= kind=none ;;
        --reason) flags= kind=none ;;
        esac
        ;;
    'inhibit')
        flags='--state --reason --for --json --quiet --no-color --help'
        kind=none
        case $prev in
        --state) flags= kind=directories ;;
        --reason) flags= kind=none ;;
        --for) flags= kind=none ;;
        esac
        ;;
    'uninhibit')
        flags='--state --json --quiet --no-color --help'
        kind=none
        case $prev in
        --state) flags= kind=directories ;;
        esac
        ;;
    'clear')
        flags='--state --json --quiet --no-color --help'
        kind=none
        case $prev in
        --state) flags= kind=directories ;;
        esac
        ;;
    'schema')
        flags='--help'
        ;;
    'completion')
        flags='--help'
        arguments='bash zsh fish'
        ;;
    'help')
        flags='--help'
        arguments='validate plan run status pause resume abort retry inhibit uninhibit clear schema completion help version'
        ;;
    'version')
        flags='--json --help'
        ;;
    *) return ;;
    esac
    case $kind in
    none) return ;;
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
    esac
    if [[ $cur == -* ]]; then arguments=$flags; fi
    mapfile -t COMPREPLY < <(compgen -W "$arguments" -- "$cur")
}
complete -F _yardmaster yardmaster

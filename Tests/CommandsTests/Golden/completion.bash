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
        mapfile -t COMPREPLY < <(compgen -W 'validate plan rehearse run status show morning pause resume abort retry inhibit uninhibit clear vehicle accept-restore history scan inventory enrol watch exec token secrets image fetch images profiles trust bundle notify systemd fleet gateways gateway serve simulate doctor schema completion help version --help --version' -- "$cur")
        return
    fi
    if [[ $command == vehicle ]]; then
        if ((COMP_CWORD == 2)); then
            mapfile -t COMPREPLY < <(compgen -W 'renamed moved' -- "$cur")
            return
        fi
        command+=" ${COMP_WORDS[2]}"
    fi
    if [[ $command == history && ${COMP_WORDS[2]} != -* ]]; then
        if ((COMP_CWORD == 2)); then
            mapfile -t COMPREPLY < <(compgen -W 'show compare' -- "$cur")
            return
        fi
        command+=" ${COMP_WORDS[2]}"
    fi
    if [[ $command == token ]]; then
        if ((COMP_CWORD == 2)); then
            mapfile -t COMPREPLY < <(compgen -W 'show' -- "$cur")
            return
        fi
        command+=" ${COMP_WORDS[2]}"
    fi
    if [[ $command == secrets ]]; then
        if ((COMP_CWORD == 2)); then
            mapfile -t COMPREPLY < <(compgen -W 'check rotate' -- "$cur")
            return
        fi
        command+=" ${COMP_WORDS[2]}"
    fi
    if [[ $command == image ]]; then
        if ((COMP_CWORD == 2)); then
            mapfile -t COMPREPLY < <(compgen -W 'inspect' -- "$cur")
            return
        fi
        command+=" ${COMP_WORDS[2]}"
    fi
    if [[ $command == images ]]; then
        if ((COMP_CWORD == 2)); then
            mapfile -t COMPREPLY < <(compgen -W 'list verify prune' -- "$cur")
            return
        fi
        command+=" ${COMP_WORDS[2]}"
    fi
    if [[ $command == profiles ]]; then
        if ((COMP_CWORD == 2)); then
            mapfile -t COMPREPLY < <(compgen -W 'list show check' -- "$cur")
            return
        fi
        command+=" ${COMP_WORDS[2]}"
    fi
    if [[ $command == bundle ]]; then
        if ((COMP_CWORD == 2)); then
            mapfile -t COMPREPLY < <(compgen -W 'create verify apply copy show' -- "$cur")
            return
        fi
        command+=" ${COMP_WORDS[2]}"
    fi
    if [[ $command == notify ]]; then
        if ((COMP_CWORD == 2)); then
            mapfile -t COMPREPLY < <(compgen -W 'test list send failure' -- "$cur")
            return
        fi
        command+=" ${COMP_WORDS[2]}"
    fi
    if [[ $command == systemd ]]; then
        if ((COMP_CWORD == 2)); then
            mapfile -t COMPREPLY < <(compgen -W 'print' -- "$cur")
            return
        fi
        command+=" ${COMP_WORDS[2]}"
    fi
    if [[ $command == fleet ]]; then
        if ((COMP_CWORD == 2)); then
            mapfile -t COMPREPLY < <(compgen -W 'status init check upgrade accept-restore prune' -- "$cur")
            return
        fi
        command+=" ${COMP_WORDS[2]}"
    fi
    if [[ $command == gateway ]]; then
        if ((COMP_CWORD == 2)); then
            mapfile -t COMPREPLY < <(compgen -W 'drain forget' -- "$cur")
            return
        fi
        command+=" ${COMP_WORDS[2]}"
    fi
    case $command in
    'validate')
        flags='--profiles --without-files --json --quiet --no-color --help'
        kind=files
        case $prev in
        --profiles) flags= kind=directories ;;
        esac
        ;;
    'plan')
        flags='--state --limit --profiles --simulate --json --quiet --no-color --help'
        kind=files
        case $prev in
        --state) flags= kind=directories ;;
        --limit) flags= kind=vehicles ;;
        --profiles) flags= kind=directories ;;
        --simulate) flags= kind=files ;;
        esac
        ;;
    'rehearse')
        flags='--bad --pace --seed --state --limit --profiles --report --json --quiet --no-color --help'
        kind=files
        case $prev in
        --pace) flags= kind=none ;;
        --seed) flags= kind=none ;;
        --state) flags= kind=directories ;;
        --limit) flags= kind=vehicles ;;
        --profiles) flags= kind=directories ;;
        --report) flags= kind=files ;;
        esac
        ;;
    'run')
        flags='--state --limit --again --clock-is-right --fleet --profiles --bus --simulate --pace --seed --notify --events --report --json --quiet --no-color --help'
        kind=files
        case $prev in
        --state) flags= kind=directories ;;
        --limit) flags= kind=vehicles ;;
        --fleet) flags= kind=none ;;
        --profiles) flags= kind=directories ;;
        --bus) flags= kind=none ;;
        --simulate) flags= kind=files ;;
        --pace) flags= kind=none ;;
        --seed) flags= kind=none ;;
        --events) flags= kind=files ;;
        --report) flags= kind=files ;;
        esac
        ;;
    'status')
        flags='--state --rollout --fleet --journal --limit --watch --report --json --quiet --no-color --help'
        case $prev in
        --state) flags= kind=directories ;;
        --rollout) flags= kind=rollouts ;;
        --fleet) flags= kind=none ;;
        --limit) flags= kind=vehicles ;;
        --report) flags= kind=files ;;
        esac
        ;;
    'show')
        flags='--state --fleet --journal --json --quiet --no-color --help'
        kind=vehicles
        case $prev in
        --state) flags= kind=directories ;;
        --fleet) flags= kind=none ;;
        esac
        ;;
    'morning')
        flags='--state --fleet --journal --since --days --csv --html --mail --json --quiet --no-color --help'
        case $prev in
        --state) flags= kind=directories ;;
        --fleet) flags= kind=none ;;
        --since) flags= kind=none ;;
        --days) flags= kind=none ;;
        --mail) flags= kind=none ;;
        esac
        ;;
    'pause')
        flags='--state --fleet --rollout --reason --json --quiet --no-color --help'
        case $prev in
        --state) flags= kind=directories ;;
        --fleet) flags= kind=none ;;
        --rollout) flags= kind=rollouts ;;
        --reason) flags= kind=none ;;
        esac
        ;;
    'resume')
        flags='--state --fleet --rollout --reason --json --quiet --no-color --help'
        case $prev in
        --state) flags= kind=directories ;;
        --fleet) flags= kind=none ;;
        --rollout) flags= kind=rollouts ;;
        --reason) flags= kind=none ;;
        esac
        ;;
    'abort')
        flags='--state --fleet --rollout --reason --json --quiet --no-color --help'
        case $prev in
        --state) flags= kind=directories ;;
        --fleet) flags= kind=none ;;
        --rollout) flags= kind=rollouts ;;
        --reason) flags= kind=none ;;
        esac
        ;;
    'retry')
        flags='--state --fleet --rollout --reason --json --quiet --no-color --help'
        kind=vehicles
        case $prev in
        --state) flags= kind=directories ;;
        --fleet) flags= kind=none ;;
        --rollout) flags= kind=rollouts ;;
        --reason) flags= kind=none ;;
        esac
        ;;
    'inhibit')
        flags='--state --fleet --manifest --all --reason --for --clock-is-right --json --quiet --no-color --help'
        kind=vehicles
        case $prev in
        --state) flags= kind=directories ;;
        --fleet) flags= kind=none ;;
        --manifest) flags= kind=files ;;
        --reason) flags= kind=none ;;
        --for) flags= kind=none ;;
        esac
        ;;
    'uninhibit')
        flags='--state --fleet --manifest --all --json --quiet --no-color --help'
        kind=vehicles
        case $prev in
        --state) flags= kind=directories ;;
        --fleet) flags= kind=none ;;
        --manifest) flags= kind=files ;;
        esac
        ;;
    'clear')
        flags='--state --fleet --manifest --all --reason --json --quiet --no-color --help'
        kind=vehicles
        case $prev in
        --state) flags= kind=directories ;;
        --fleet) flags= kind=none ;;
        --manifest) flags= kind=files ;;
        --reason) flags= kind=none ;;
        esac
        ;;
    'vehicle renamed')
        flags='--state --fleet --reason --json --quiet --no-color --help'
        kind=none
        case $prev in
        --state) flags= kind=directories ;;
        --fleet) flags= kind=none ;;
        --reason) flags= kind=none ;;
        esac
        ;;
    'vehicle moved')
        flags='--state --fleet --reason --json --quiet --no-color --help'
        kind=none
        case $prev in
        --state) flags= kind=directories ;;
        --fleet) flags= kind=none ;;
        --reason) flags= kind=none ;;
        esac
        ;;
    'accept-restore')
        flags='--state --fleet --reason --json --quiet --no-color --help'
        case $prev in
        --state) flags= kind=directories ;;
        --fleet) flags= kind=none ;;
        --reason) flags= kind=none ;;
        esac
        ;;
    'history')
        flags='--state --fleet --journal --rollout --last --json --quiet --no-color --help'
        case $prev in
        --state) flags= kind=directories ;;
        --fleet) flags= kind=none ;;
        --rollout) flags= kind=rollouts ;;
        --last) flags= kind=none ;;
        esac
        ;;
    'history show')
        flags='--state --fleet --journal --limit --report --json --quiet --no-color --help'
        kind=runs
        case $prev in
        --state) flags= kind=directories ;;
        --fleet) flags= kind=none ;;
        --limit) flags= kind=vehicles ;;
        --report) flags= kind=files ;;
        esac
        ;;
    'history compare')
        flags='--state --json --no-color --help'
        kind=runs
        case $prev in
        --state) flags= kind=directories ;;
        esac
        ;;
    'scan')
        flags='--for --state --profiles --bus --simulate --pace --seed --json --quiet --no-color --help'
        case $prev in
        --for) flags= kind=none ;;
        --state) flags= kind=directories ;;
        --profiles) flags= kind=directories ;;
        --bus) flags= kind=none ;;
        --simulate) flags= kind=files ;;
        --pace) flags= kind=none ;;
        --seed) flags= kind=none ;;
        esac
        ;;
    'inventory')
        flags='--manifest --fleet --limit --last --for --state --profiles --bus --simulate --pace --seed --csv --json --quiet --no-color --help'
        case $prev in
        --manifest) flags= kind=files ;;
        --fleet) flags= kind=none ;;
        --limit) flags= kind=vehicles ;;
        --for) flags= kind=none ;;
        --state) flags= kind=directories ;;
        --profiles) flags= kind=directories ;;
        --bus) flags= kind=none ;;
        --simulate) flags= kind=files ;;
        --pace) flags= kind=none ;;
        --seed) flags= kind=none ;;
        esac
        ;;
    'enrol')
        flags='--list --batch --serial --name --family --profile --old-secret --passkey --keys --credentials --hand-to --rotate --undo --for --state --profiles --clock-is-right --bus --simulate --pace --seed --json --quiet --no-color --help'
        kind=vehicles
        case $prev in
        --list) flags= kind=files ;;
        --batch) flags= kind=files ;;
        --serial) flags= kind=none ;;
        --name) flags= kind=none ;;
        --family) flags= kind=none ;;
        --profile) flags= kind=none ;;
        --old-secret) flags= kind=none ;;
        --passkey) flags= kind=none ;;
        --keys) flags= kind=directories ;;
        --credentials) flags= kind=directories ;;
        --hand-to) flags= kind=files ;;
        --for) flags= kind=none ;;
        --state) flags= kind=directories ;;
        --profiles) flags= kind=directories ;;
        --bus) flags= kind=none ;;
        --simulate) flags= kind=files ;;
        --pace) flags= kind=none ;;
        --seed) flags= kind=none ;;
        esac
        ;;
    'watch')
        flags='--manifest --property --for --profiles --bus --simulate --pace --seed --json --quiet --no-color --help'
        kind=vehicles
        case $prev in
        --manifest) flags= kind=files ;;
        --property) flags= kind=none ;;
        --for) flags= kind=none ;;
        --profiles) flags= kind=directories ;;
        --bus) flags= kind=none ;;
        --simulate) flags= kind=files ;;
        --pace) flags= kind=none ;;
        --seed) flags= kind=none ;;
        esac
        ;;
    'exec')
        flags='--manifest --fleet --profiles --state --clock-is-right --simulate --pace --seed --bus --events --report --json --quiet --no-color --help'
        kind=vehicles
        case $prev in
        --manifest) flags= kind=files ;;
        --fleet) flags= kind=none ;;
        --profiles) flags= kind=directories ;;
        --state) flags= kind=directories ;;
        --simulate) flags= kind=files ;;
        --pace) flags= kind=none ;;
        --seed) flags= kind=none ;;
        --bus) flags= kind=none ;;
        --events) flags= kind=files ;;
        --report) flags= kind=files ;;
        esac
        ;;
    'token show')
        flags='--json --help'
        kind=files
        ;;
    'secrets check')
        flags='--profiles --json --quiet --no-color --help'
        kind=files
        case $prev in
        --profiles) flags= kind=directories ;;
        esac
        ;;
    'secrets rotate')
        flags='--split --state --limit --again --clock-is-right --fleet --profiles --bus --simulate --pace --seed --notify --events --report --json --quiet --no-color --help'
        kind=files
        case $prev in
        --state) flags= kind=directories ;;
        --limit) flags= kind=vehicles ;;
        --fleet) flags= kind=none ;;
        --profiles) flags= kind=directories ;;
        --bus) flags= kind=none ;;
        --simulate) flags= kind=files ;;
        --pace) flags= kind=none ;;
        --seed) flags= kind=none ;;
        --events) flags= kind=files ;;
        --report) flags= kind=files ;;
        esac
        ;;
    'image inspect')
        flags='--state --json --quiet --no-color --help'
        kind=files
        case $prev in
        --state) flags= kind=directories ;;
        esac
        ;;
    'fetch')
        flags='--state --profiles --json --quiet --no-color --help'
        kind=files
        case $prev in
        --state) flags= kind=directories ;;
        --profiles) flags= kind=directories ;;
        esac
        ;;
    'images list')
        flags='--state --json --quiet --no-color --help'
        case $prev in
        --state) flags= kind=directories ;;
        esac
        ;;
    'images verify')
        flags='--state --json --quiet --no-color --help'
        case $prev in
        --state) flags= kind=directories ;;
        esac
        ;;
    'images prune')
        flags='--forget --state --json --quiet --no-color --help'
        case $prev in
        --forget) flags= kind=rollouts ;;
        --state) flags= kind=directories ;;
        esac
        ;;
    'profiles list')
        flags='--profiles --json --quiet --no-color --help'
        case $prev in
        --profiles) flags= kind=directories ;;
        esac
        ;;
    'profiles show')
        flags='--profiles --json --quiet --no-color --help'
        kind=none
        case $prev in
        --profiles) flags= kind=directories ;;
        esac
        ;;
    'profiles check')
        flags='--json --quiet --no-color --help'
        kind=files
        ;;
    'trust')
        flags='--metadata-dir --metadata-url --target-name --target-base-url --target-dir --key --repository --reason --state --json --quiet --no-color --help'
        arguments='init refresh download show add reset'
        case $prev in
        --metadata-dir) flags= kind=directories ;;
        --metadata-url) flags= kind=none ;;
        --target-name) flags= kind=none ;;
        --target-base-url) flags= kind=none ;;
        --target-dir) flags= kind=directories ;;
        --key) flags= kind=files ;;
        --repository) flags= kind=none ;;
        --reason) flags= kind=none ;;
        --state) flags= kind=directories ;;
        esac
        ;;
    'bundle create')
        flags='--state --since --profiles --json --quiet --no-color --help'
        kind=files
        case $prev in
        --state) flags= kind=directories ;;
        --since) flags= kind=files ;;
        --profiles) flags= kind=directories ;;
        esac
        ;;
    'bundle verify')
        flags='--state --key --threshold --older --reason --target-dir --json --quiet --no-color --help'
        kind=files
        case $prev in
        --state) flags= kind=directories ;;
        --key) flags= kind=files ;;
        --threshold) flags= kind=none ;;
        --reason) flags= kind=none ;;
        --target-dir) flags= kind=directories ;;
        esac
        ;;
    'bundle apply')
        flags='--from --target-dir --key --threshold --older --reason --state --profiles --json --quiet --no-color --help'
        kind=files
        case $prev in
        --from) flags= kind=directories ;;
        --target-dir) flags= kind=directories ;;
        --key) flags= kind=files ;;
        --threshold) flags= kind=none ;;
        --reason) flags= kind=none ;;
        --state) flags= kind=directories ;;
        --profiles) flags= kind=directories ;;
        esac
        ;;
    'bundle copy')
        flags='--json --quiet --no-color --help'
        kind=files
        ;;
    'bundle show')
        flags='--json --quiet --no-color --help'
        kind=files
        ;;
    'notify test')
        flags='--state --manifest --json --quiet --no-color --help'
        kind=none
        case $prev in
        --state) flags= kind=directories ;;
        --manifest) flags= kind=files ;;
        esac
        ;;
    'notify list')
        flags='--state --manifest --json --quiet --no-color --help'
        case $prev in
        --state) flags= kind=directories ;;
        --manifest) flags= kind=files ;;
        esac
        ;;
    'notify send')
        flags='--state --manifest --json --quiet --no-color --help'
        case $prev in
        --state) flags= kind=directories ;;
        --manifest) flags= kind=files ;;
        esac
        ;;
    'notify failure')
        flags='--state --manifest --json --quiet --no-color --help'
        kind=none
        case $prev in
        --state) flags= kind=directories ;;
        --manifest) flags= kind=files ;;
        esac
        ;;
    'systemd print')
        flags='--unit --program --watch --target-dir --key --threshold --profiles --json --quiet --no-color --help'
        kind=files
        case $prev in
        --unit) flags= arguments='service timer path failure notify-service notify-timer serve-socket serve-service' ;;
        --program) flags= kind=files ;;
        --watch) flags= kind=directories ;;
        --target-dir) flags= kind=directories ;;
        --key) flags= kind=files ;;
        --threshold) flags= kind=none ;;
        --profiles) flags= kind=directories ;;
        esac
        ;;
    'fleet status')
        flags='--rollout --limit --report --fleet --json --quiet --no-color --help'
        case $prev in
        --rollout) flags= kind=rollouts ;;
        --limit) flags= kind=vehicles ;;
        --report) flags= kind=files ;;
        --fleet) flags= kind=none ;;
        esac
        ;;
    'fleet init')
        flags='--sql --fleet --json --quiet --no-color --help'
        case $prev in
        --fleet) flags= kind=none ;;
        esac
        ;;
    'fleet check')
        flags='--fleet --json --quiet --no-color --help'
        case $prev in
        --fleet) flags= kind=none ;;
        esac
        ;;
    'fleet upgrade')
        flags='--sql --fleet --json --quiet --no-color --help'
        case $prev in
        --fleet) flags= kind=none ;;
        esac
        ;;
    'fleet accept-restore')
        flags='--fleet --json --quiet --no-color --help'
        case $prev in
        --fleet) flags= kind=none ;;
        esac
        ;;
    'fleet prune')
        flags='--keep --older-than --archive --dry-run --fleet --json --quiet --no-color --help'
        case $prev in
        --keep) flags= kind=none ;;
        --older-than) flags= kind=none ;;
        --archive) flags= kind=files ;;
        --fleet) flags= kind=none ;;
        esac
        ;;
    'gateways')
        flags='--metrics --fleet --json --quiet --no-color --help'
        case $prev in
        --fleet) flags= kind=none ;;
        esac
        ;;
    'gateway drain')
        flags='--fleet --json --quiet --no-color --help'
        kind=none
        case $prev in
        --fleet) flags= kind=none ;;
        esac
        ;;
    'gateway forget')
        flags='--fleet --json --quiet --no-color --help'
        kind=none
        case $prev in
        --fleet) flags= kind=none ;;
        esac
        ;;
    'serve')
        flags='--state --fleet --journal --listen --host --access --open --quiet --no-color --help'
        case $prev in
        --state) flags= kind=directories ;;
        --fleet) flags= kind=none ;;
        --listen) flags= kind=none ;;
        --host) flags= kind=none ;;
        --access) flags= kind=files ;;
        esac
        ;;
    'simulate')
        flags='--bus --adapter --state --seed --profiles --quiet --no-color --help'
        kind=files
        case $prev in
        --bus) flags= kind=none ;;
        --adapter) flags= kind=none ;;
        --state) flags= kind=directories ;;
        --seed) flags= kind=none ;;
        --profiles) flags= kind=directories ;;
        esac
        ;;
    'doctor')
        flags='--bus --profiles --json --quiet --no-color --help'
        kind=files
        case $prev in
        --bus) flags= kind=none ;;
        --profiles) flags= kind=directories ;;
        esac
        ;;
    'schema')
        flags='--api --help'
        ;;
    'completion')
        flags='--help'
        arguments='bash zsh fish'
        ;;
    'help')
        flags='--help'
        arguments='validate plan rehearse run status show morning pause resume abort retry inhibit uninhibit clear vehicle accept-restore history scan inventory enrol watch exec token secrets image fetch images profiles trust bundle notify systemd fleet gateways gateway serve simulate doctor schema completion help version'
        ;;
    'version')
        flags='--json --help'
        ;;
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

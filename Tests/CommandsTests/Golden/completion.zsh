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
            'validate:Check a manifest and the files it names'
            'plan:Show what a run would do'
            'rehearse:Play a night of a rollout with made-up vehicles'
            'run:Carry out the rollout of a manifest'
            'status:Show the state of the rollouts'
            'show:Show everything that is known of a vehicle'
            'morning:List the tasks for people after the night'
            'pause:Pause a rollout, so that it begins nothing new'
            'resume:Continue a paused rollout'
            'abort:End a rollout permanently'
            'retry:Try failed and unreachable vehicles again'
            'inhibit:Exclude vehicles, or the whole depot, from work'
            'uninhibit:Lift an inhibition'
            'clear:Record that a person has checked vehicles'
            'vehicle:renamed, moved'
            'accept-restore:Confirm the use of a restored journal'
            'history:List the past runs'
            'scan:Show which modules are in range'
            'inventory:Read and show the state of each vehicle'
            'enrol:Bring vehicles into service'
            'watch:Show a vehicle'\''s properties as they change'
            'exec:Carry out steps on single vehicles'
            'token:show'
            'secrets:check, rotate'
            'image:inspect'
            'fetch:Download the images of a manifest into the store'
            'images:list, verify, prune'
            'profiles:list, show, check'
            'trust:Manage and show trusted keys and repositories'
            'bundle:create, verify, apply, copy, show'
            'notify:test, list, send, failure'
            'systemd:print'
            'fleet:status, init, check, upgrade, accept-restore, prune'
            'gateways:Show the gateways of a fleet'
            'gateway:drain, forget'
            'serve:Show the rollouts of this machine to browsers'
            'simulate:Serve a simulated depot as Bluetooth for any program'
            'doctor:Check this host'\''s Bluetooth'
            'schema:Print the manifest'\''s JSON Schema, or the interface description for programs'
            'completion:Print a shell'\''s completion script'
            'help:Explain a command'
            'version:Print the version'
        )
        _describe -t commands command commands
        return
    fi
    shift words
    (( CURRENT-- ))
    if [[ $command == vehicle ]]; then
        if (( CURRENT == 2 )); then
            _values form renamed moved
            return
        fi
        command+=" $words[2]"
        shift words
        (( CURRENT-- ))
    fi
    if [[ $command == history && $words[2] != -* ]]; then
        if (( CURRENT == 2 )); then
            _values form show compare
            return
        fi
        command+=" $words[2]"
        shift words
        (( CURRENT-- ))
    fi
    if [[ $command == token ]]; then
        if (( CURRENT == 2 )); then
            _values form show
            return
        fi
        command+=" $words[2]"
        shift words
        (( CURRENT-- ))
    fi
    if [[ $command == secrets ]]; then
        if (( CURRENT == 2 )); then
            _values form check rotate
            return
        fi
        command+=" $words[2]"
        shift words
        (( CURRENT-- ))
    fi
    if [[ $command == image ]]; then
        if (( CURRENT == 2 )); then
            _values form inspect
            return
        fi
        command+=" $words[2]"
        shift words
        (( CURRENT-- ))
    fi
    if [[ $command == images ]]; then
        if (( CURRENT == 2 )); then
            _values form list verify prune
            return
        fi
        command+=" $words[2]"
        shift words
        (( CURRENT-- ))
    fi
    if [[ $command == profiles ]]; then
        if (( CURRENT == 2 )); then
            _values form list show check
            return
        fi
        command+=" $words[2]"
        shift words
        (( CURRENT-- ))
    fi
    if [[ $command == bundle ]]; then
        if (( CURRENT == 2 )); then
            _values form create verify apply copy show
            return
        fi
        command+=" $words[2]"
        shift words
        (( CURRENT-- ))
    fi
    if [[ $command == notify ]]; then
        if (( CURRENT == 2 )); then
            _values form test list send failure
            return
        fi
        command+=" $words[2]"
        shift words
        (( CURRENT-- ))
    fi
    if [[ $command == systemd ]]; then
        if (( CURRENT == 2 )); then
            _values form print
            return
        fi
        command+=" $words[2]"
        shift words
        (( CURRENT-- ))
    fi
    if [[ $command == fleet ]]; then
        if (( CURRENT == 2 )); then
            _values form status init check upgrade accept-restore prune
            return
        fi
        command+=" $words[2]"
        shift words
        (( CURRENT-- ))
    fi
    if [[ $command == gateway ]]; then
        if (( CURRENT == 2 )); then
            _values form drain forget
            return
        fi
        command+=" $words[2]"
        shift words
        (( CURRENT-- ))
    fi
    case $command in
    'validate')
        _arguments -S \
            '--profiles=''[Folder of profiles to use in addition to the built-in ones.]'':DIR:_files -/' \
            '--without-files''[Do not check the keys, tokens, images, time zone and program that the manifest names\: for machines without them.]' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:MANIFEST:_files'
        ;;
    'plan')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '*--limit=''[Take only these vehicles\: an id, a pattern with '\''*'\'' and '\''?'\'', LABEL=VALUE of the fleet list, or how they ended in the last run\: @failed, @unreachable, @deferred, @doubt.]'':VEHICLES: _yardmaster_known vehicles' \
            '--profiles=''[Folder of profiles to use in addition to the built-in ones.]'':DIR:_files -/' \
            '--simulate=''[Use the simulated depot of this file instead of Bluetooth\: a rehearsal, which changes nothing outside its state directory. Without --state that is the one of real runs with '\''-rehearsal'\'' after its name.]'':DEPOT.yaml:_files' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:MANIFEST:_files'
        ;;
    'rehearse')
        _arguments -S \
            '--bad''[A part of the vehicles has faults, drawn from the seed.]' \
            '--pace=''[Let X seconds of the simulation pass in a second.]'':X: ' \
            '--seed=''[The seed of all random numbers in the simulation; the same seed replays the same run.]'':N: ' \
            '--state=''[Directory of the rehearsal, in which nothing has run.]'':DIR:_files -/' \
            '*--limit=''[Take only these vehicles\: an id, a pattern with '\''*'\'' and '\''?'\'', LABEL=VALUE of the fleet list, or how they ended in the last run\: @failed, @unreachable, @deferred, @doubt.]'':VEHICLES: _yardmaster_known vehicles' \
            '--profiles=''[Folder of profiles to use in addition to the built-in ones.]'':DIR:_files -/' \
            '*--report=''[Write a report to FILE; a run writes it when it has ended. The ending of its name selects the format\: .html (for people, one file), .xml (JUnit), .csv, .json, or .prom (metrics for Prometheus'\''s textfile collector).]'':FILE:_files' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:MANIFEST:_files'
        ;;
    'run')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '*--limit=''[Take only these vehicles\: an id, a pattern with '\''*'\'' and '\''?'\'', LABEL=VALUE of the fleet list, or how they ended in the last run\: @failed, @unreachable, @deferred, @doubt.]'':VEHICLES: _yardmaster_known vehicles' \
            '--again''[Begin the rollout again from the first step, whatever was done\: commands are carried out once more. This also ends an abort, but not a pause.]' \
            '--clock-is-right''[The machine'\''s clock is right, although it shows a time before 2026 or before the last run.]' \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager provides the credential fleet-password.]'':ADDRESS: ' \
            '--profiles=''[Folder of profiles to use in addition to the built-in ones.]'':DIR:_files -/' \
            '--bus=''[Find BlueZ on the D-Bus bus at this address.]'':ADDRESS: ' \
            '--simulate=''[Use the simulated depot of this file instead of Bluetooth\: a rehearsal, which changes nothing outside its state directory. Without --state that is the one of real runs with '\''-rehearsal'\'' after its name.]'':DEPOT.yaml:_files' \
            '--pace=''[Let X seconds of the simulation pass in a second.]'':X: ' \
            '--seed=''[The seed of all random numbers in the simulation; the same seed replays the same run.]'':N: ' \
            '--notify''[Send the notices of this rehearsal too; each says that it is about a rehearsal.]' \
            '--events=''[Append all events to FILE, one JSON object per line; '\''-'\'' writes them to standard output, and the result then goes to standard error.]'':FILE:_files' \
            '*--report=''[Write a report to FILE; a run writes it when it has ended. The ending of its name selects the format\: .html (for people, one file), .xml (JUnit), .csv, .json, or .prom (metrics for Prometheus'\''s textfile collector).]'':FILE:_files' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:MANIFEST:_files'
        ;;
    'status')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--rollout=''[The rollout.]'':NAME: _yardmaster_known rollouts' \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager provides the credential fleet-password.]'':ADDRESS: ' \
            '--journal''[Read only this machine'\''s journal, even if the machine belongs to a fleet.]' \
            '*--limit=''[Take only these vehicles\: an id, a pattern with '\''*'\'' and '\''?'\'', LABEL=VALUE of the fleet list, or how they ended in the last run\: @failed, @unreachable, @deferred, @doubt.]'':VEHICLES: _yardmaster_known vehicles' \
            '--watch''[Show the active run continuously, and the next one after it, until Ctrl-C.]' \
            '*--report=''[Write a report to FILE; a run writes it when it has ended. The ending of its name selects the format\: .html (for people, one file), .xml (JUnit), .csv, .json, or .prom (metrics for Prometheus'\''s textfile collector).]'':FILE:_files' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'show')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager provides the credential fleet-password.]'':ADDRESS: ' \
            '--journal''[Read only this machine'\''s journal, even if the machine belongs to a fleet.]' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:VEHICLE: _yardmaster_known vehicles'
        ;;
    'morning')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager provides the credential fleet-password.]'':ADDRESS: ' \
            '--journal''[Read only this machine'\''s journal, even if the machine belongs to a fleet.]' \
            '--since=''[From when on\: how long ago, such as 18h or 3d, or a time of the window'\''s zone, such as '\''2026-11-21 18\:00'\''.]'':TIME: ' \
            '--days=''[After how many days without an update or a sign of life a vehicle is listed.]'':NUMBER: ' \
            '--csv''[Write the tasks as a table for spreadsheets.]' \
            '--html''[Write the page as one HTML file that loads nothing.]' \
            '--mail=''[Write the page as a message to ADDRESS, for '\''sendmail -t'\''.]'':ADDRESS: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'pause')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager provides the credential fleet-password.]'':ADDRESS: ' \
            '--rollout=''[The rollout.]'':NAME: _yardmaster_known rollouts' \
            '--reason=''[The reason, for readers of the report and the status.]'':TEXT: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'resume')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager provides the credential fleet-password.]'':ADDRESS: ' \
            '--rollout=''[The rollout.]'':NAME: _yardmaster_known rollouts' \
            '--reason=''[The reason, for readers of the report and the status.]'':TEXT: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'abort')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager provides the credential fleet-password.]'':ADDRESS: ' \
            '--rollout=''[The rollout.]'':NAME: _yardmaster_known rollouts' \
            '--reason=''[The reason, for readers of the report and the status.]'':TEXT: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'retry')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager provides the credential fleet-password.]'':ADDRESS: ' \
            '--rollout=''[The rollout.]'':NAME: _yardmaster_known rollouts' \
            '--reason=''[The reason, for readers of the report and the status.]'':TEXT: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '*:VEHICLE: _yardmaster_known vehicles'
        ;;
    'inhibit')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager provides the credential fleet-password.]'':ADDRESS: ' \
            '*--manifest=''[A manifest whose vehicles may be named before anything has run on them.]'':FILE:_files' \
            '--all''[The whole depot\: all vehicles, also those that are added later.]' \
            '--reason=''[The reason, for readers of the report and the status.]'':TEXT: ' \
            '--for=''[How long it applies, such as 90m or 2d.]'':TIME: ' \
            '--clock-is-right''[The machine'\''s clock is right, although it shows a time before 2026 or before the last run.]' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '*:VEHICLE: _yardmaster_known vehicles'
        ;;
    'uninhibit')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager provides the credential fleet-password.]'':ADDRESS: ' \
            '*--manifest=''[A manifest whose vehicles may be named before anything has run on them.]'':FILE:_files' \
            '--all''[The whole depot\: all vehicles, also those that are added later.]' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '*:VEHICLE: _yardmaster_known vehicles'
        ;;
    'clear')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager provides the credential fleet-password.]'':ADDRESS: ' \
            '*--manifest=''[A manifest whose vehicles may be named before anything has run on them.]'':FILE:_files' \
            '--all''[The whole depot\: all vehicles, also those that are added later.]' \
            '--reason=''[The reason, for readers of the report and the status.]'':TEXT: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '*:VEHICLE: _yardmaster_known vehicles'
        ;;
    'vehicle renamed')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager provides the credential fleet-password.]'':ADDRESS: ' \
            '--reason=''[The reason, for readers of the report and the status.]'':TEXT: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:OLD: ' \
            '2:NEW: ' \
            '*:MORE: '
        ;;
    'vehicle moved')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager provides the credential fleet-password.]'':ADDRESS: ' \
            '--reason=''[The reason, for readers of the report and the status.]'':TEXT: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:SERIAL: ' \
            '2:VEHICLE: '
        ;;
    'accept-restore')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager provides the credential fleet-password.]'':ADDRESS: ' \
            '--reason=''[The reason, for readers of the report and the status.]'':TEXT: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'history')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager provides the credential fleet-password.]'':ADDRESS: ' \
            '--journal''[Read only this machine'\''s journal, even if the machine belongs to a fleet.]' \
            '--rollout=''[The rollout.]'':NAME: _yardmaster_known rollouts' \
            '--last=''[How many runs to list.]'':N: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'history show')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager provides the credential fleet-password.]'':ADDRESS: ' \
            '--journal''[Read only this machine'\''s journal, even if the machine belongs to a fleet.]' \
            '*--limit=''[Take only these vehicles\: an id, a pattern with '\''*'\'' and '\''?'\'', LABEL=VALUE of the fleet list, or how they ended in the last run\: @failed, @unreachable, @deferred, @doubt.]'':VEHICLES: _yardmaster_known vehicles' \
            '*--report=''[Write a report to FILE; a run writes it when it has ended. The ending of its name selects the format\: .html (for people, one file), .xml (JUnit), .csv, .json, or .prom (metrics for Prometheus'\''s textfile collector).]'':FILE:_files' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:RUN: _yardmaster_known runs'
        ;;
    'history compare')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:BEFORE: _yardmaster_known runs' \
            '2:AFTER: _yardmaster_known runs'
        ;;
    'scan')
        _arguments -S \
            '--for=''[How long to listen, such as 5s or 2m.]'':TIME: ' \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--profiles=''[Folder of profiles to use in addition to the built-in ones.]'':DIR:_files -/' \
            '--bus=''[Find BlueZ on the D-Bus bus at this address.]'':ADDRESS: ' \
            '--simulate=''[Use the simulated depot of this file instead of Bluetooth\: a rehearsal, which changes nothing outside its state directory. Without --state that is the one of real runs with '\''-rehearsal'\'' after its name.]'':DEPOT.yaml:_files' \
            '--pace=''[Let X seconds of the simulation pass in a second.]'':X: ' \
            '--seed=''[The seed of all random numbers in the simulation; the same seed replays the same run.]'':N: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'inventory')
        _arguments -S \
            '--manifest=''[The manifest whose vehicles are read, and that they are compared with.]'':FILE:_files' \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager provides the credential fleet-password.]'':ADDRESS: ' \
            '*--limit=''[Take only these vehicles\: an id, a pattern with '\''*'\'' and '\''?'\'', LABEL=VALUE of the fleet list, or how they ended in the last run\: @failed, @unreachable, @deferred, @doubt.]'':VEHICLES: _yardmaster_known vehicles' \
            '--last''[Show the last results from the journal; no radio is used.]' \
            '--for=''[How long to listen for modules that were not heard yet, such as 10s or 2m.]'':TIME: ' \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--profiles=''[Folder of profiles to use in addition to the built-in ones.]'':DIR:_files -/' \
            '--bus=''[Find BlueZ on the D-Bus bus at this address.]'':ADDRESS: ' \
            '--simulate=''[Use the simulated depot of this file instead of Bluetooth\: a rehearsal, which changes nothing outside its state directory. Without --state that is the one of real runs with '\''-rehearsal'\'' after its name.]'':DEPOT.yaml:_files' \
            '--pace=''[Let X seconds of the simulation pass in a second.]'':X: ' \
            '--seed=''[The seed of all random numbers in the simulation; the same seed replays the same run.]'':N: ' \
            '--csv''[Write the result as a table for spreadsheets on standard output.]' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'enrol')
        _arguments -S \
            '--list=''[The fleet list that gets the vehicle'\''s row\: the CSV file that manifests name.]'':FLEET.csv:_files' \
            '--batch=''[Enrol every row of this file. Its columns are id, serial, family and, optionally, profile, old-secret and passkey; others are copied into columns of the same name.]'':FILE.csv:_files' \
            '--serial=''[The module'\''s serial.]'':SERIAL: ' \
            '--name=''[The name that the module advertises.]'':NAME: ' \
            '--family=''[The module'\''s family.]'':FAMILY: ' \
            '--profile=''[The module'\''s profile.]'':NAME: ' \
            '--old-secret=''[The reference to the module'\''s current secret, if it has one\: file\:PATH, credential\:NAME or env\:NAME.]'':REFERENCE: ' \
            '--passkey=''[The reference to the six digits for pairing\: file\:PATH, credential\:NAME or env\:NAME. It is written into the column passkey of the vehicle'\''s row.]'':REFERENCE: ' \
            '--keys=''[The folder for secrets, relative to the fleet list.]'':DIR:_files -/' \
            '--credentials=''[Put secrets into this folder of the service manager'\''s credentials, such as /etc/yardmaster/credentials, and write credential\:ID into the vehicle'\''s row.]'':DIR:_files -/' \
            '--hand-to=''[Run this program for each secret that was proven\: it gets the vehicle'\''s id and serial as arguments and the secret as a line on its standard input. The file stays. If it does not end with 0, the vehicle counts as failed, and the same command gives it the secret again.]'':PROGRAM:_files' \
            '--rotate''[Give the module another secret although the one in its file is proven.]' \
            '--undo''[Take the vehicle out of service.]' \
            '--for=''[How long to look for a module, such as 10s or 2m.]'':TIME: ' \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--profiles=''[Folder of profiles to use in addition to the built-in ones.]'':DIR:_files -/' \
            '--clock-is-right''[The machine'\''s clock is right, although it shows a time before 2026 or before the last run.]' \
            '--bus=''[Find BlueZ on the D-Bus bus at this address.]'':ADDRESS: ' \
            '--simulate=''[Use the simulated depot of this file instead of Bluetooth\: a rehearsal, which changes nothing outside its state directory. Without --state that is the one of real runs with '\''-rehearsal'\'' after its name.]'':DEPOT.yaml:_files' \
            '--pace=''[Let X seconds of the simulation pass in a second.]'':X: ' \
            '--seed=''[The seed of all random numbers in the simulation; the same seed replays the same run.]'':N: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:VEHICLE: _yardmaster_known vehicles'
        ;;
    'watch')
        _arguments -S \
            '--manifest=''[The manifest that lists the vehicle, with its secret.]'':FILE:_files' \
            '*--property=''[Show only this property.]'':NAME: ' \
            '--for=''[How long to watch, such as 30s or 2h.]'':TIME: ' \
            '--profiles=''[Folder of profiles to use in addition to the built-in ones.]'':DIR:_files -/' \
            '--bus=''[Find BlueZ on the D-Bus bus at this address.]'':ADDRESS: ' \
            '--simulate=''[Use the simulated depot of this file instead of Bluetooth\: a rehearsal, which changes nothing outside its state directory. Without --state that is the one of real runs with '\''-rehearsal'\'' after its name.]'':DEPOT.yaml:_files' \
            '--pace=''[Let X seconds of the simulation pass in a second.]'':X: ' \
            '--seed=''[The seed of all random numbers in the simulation; the same seed replays the same run.]'':N: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:VEHICLE: _yardmaster_known vehicles'
        ;;
    'exec')
        _arguments -S \
            '--manifest=''[The manifest that lists the vehicle, with its secret.]'':FILE:_files' \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager provides the credential fleet-password.]'':ADDRESS: ' \
            '--profiles=''[Folder of profiles to use in addition to the built-in ones.]'':DIR:_files -/' \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--clock-is-right''[The machine'\''s clock is right, although it shows a time before 2026 or before the last run.]' \
            '--simulate=''[Use the simulated depot of this file instead of Bluetooth\: a rehearsal, which changes nothing outside its state directory. Without --state that is the one of real runs with '\''-rehearsal'\'' after its name.]'':DEPOT.yaml:_files' \
            '--pace=''[Let X seconds of the simulation pass in a second.]'':X: ' \
            '--seed=''[The seed of all random numbers in the simulation; the same seed replays the same run.]'':N: ' \
            '--bus=''[Find BlueZ on the D-Bus bus at this address.]'':ADDRESS: ' \
            '--events=''[Append all events to FILE, one JSON object per line; '\''-'\'' writes them to standard output, and the result then goes to standard error.]'':FILE:_files' \
            '*--report=''[Write a report to FILE; a run writes it when it has ended. The ending of its name selects the format\: .html (for people, one file), .xml (JUnit), .csv, .json, or .prom (metrics for Prometheus'\''s textfile collector).]'':FILE:_files' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:VEHICLE: _yardmaster_known vehicles' \
            '2:STEP: '
        ;;
    'token show')
        _arguments -S \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:FILE:_files'
        ;;
    'secrets check')
        _arguments -S \
            '--profiles=''[Folder of profiles to use in addition to the built-in ones.]'':DIR:_files -/' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:MANIFEST:_files'
        ;;
    'secrets rotate')
        _arguments -S \
            '--split''[Give each vehicle that shares its key with others a file of its own first, beside the shared one, and write its name into the fleet list.]' \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '*--limit=''[Take only these vehicles\: an id, a pattern with '\''*'\'' and '\''?'\'', LABEL=VALUE of the fleet list, or how they ended in the last run\: @failed, @unreachable, @deferred, @doubt.]'':VEHICLES: _yardmaster_known vehicles' \
            '--again''[Begin the rollout again from the first step, whatever was done\: commands are carried out once more. This also ends an abort, but not a pause.]' \
            '--clock-is-right''[The machine'\''s clock is right, although it shows a time before 2026 or before the last run.]' \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager provides the credential fleet-password.]'':ADDRESS: ' \
            '--profiles=''[Folder of profiles to use in addition to the built-in ones.]'':DIR:_files -/' \
            '--bus=''[Find BlueZ on the D-Bus bus at this address.]'':ADDRESS: ' \
            '--simulate=''[Use the simulated depot of this file instead of Bluetooth\: a rehearsal, which changes nothing outside its state directory. Without --state that is the one of real runs with '\''-rehearsal'\'' after its name.]'':DEPOT.yaml:_files' \
            '--pace=''[Let X seconds of the simulation pass in a second.]'':X: ' \
            '--seed=''[The seed of all random numbers in the simulation; the same seed replays the same run.]'':N: ' \
            '--notify''[Send the notices of this rehearsal too; each says that it is about a rehearsal.]' \
            '--events=''[Append all events to FILE, one JSON object per line; '\''-'\'' writes them to standard output, and the result then goes to standard error.]'':FILE:_files' \
            '*--report=''[Write a report to FILE; a run writes it when it has ended. The ending of its name selects the format\: .html (for people, one file), .xml (JUnit), .csv, .json, or .prom (metrics for Prometheus'\''s textfile collector).]'':FILE:_files' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:MANIFEST:_files'
        ;;
    'image inspect')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:FILE:_files'
        ;;
    'fetch')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--profiles=''[Folder of profiles to use in addition to the built-in ones.]'':DIR:_files -/' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:MANIFEST:_files'
        ;;
    'images list')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'images verify')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'images prune')
        _arguments -S \
            '*--forget=''[End this rollout'\''s need for its images; the name is that in its manifest.]'':ROLLOUT: _yardmaster_known rollouts' \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'profiles list')
        _arguments -S \
            '--profiles=''[Folder of profiles to use in addition to the built-in ones.]'':DIR:_files -/' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'profiles show')
        _arguments -S \
            '--profiles=''[Folder of profiles to use in addition to the built-in ones.]'':DIR:_files -/' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:NAME: '
        ;;
    'profiles check')
        _arguments -S \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:FILE:_files'
        ;;
    'trust')
        _arguments -S \
            '--metadata-dir=''[Directory of the repository'\''s trusted documents.]'':DIR:_files -/' \
            '--metadata-url=''[URL of the repository'\''s documents\: http, https or file.]'':URL: ' \
            '*--target-name=''[A target to download, by its name in the repository.]'':NAME: ' \
            '--target-base-url=''[URL of the repository'\''s targets\: http, https or file.]'':URL: ' \
            '--target-dir=''[Directory for verified files.]'':DIR:_files -/' \
            '--key=''[For reset\: the public key of the record, as its file or as the line itself.]'':KEY:_files' \
            '--repository=''[For reset\: the repository of the record, by its name in the manifest.]'':NAME: ' \
            '--reason=''[For reset\: the reason, which is recorded.]'':TEXT: ' \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:ACTION:(init refresh download show add reset)' \
            '2:FILE:_files'
        ;;
    'bundle create')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--since=''[Leave out the images of this bundle, for a depot that has taken it over.]'':BUNDLE:_files' \
            '--profiles=''[Folder of profiles to use in addition to the built-in ones.]'':DIR:_files -/' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:MANIFEST:_files' \
            '2:BUNDLE:_files'
        ;;
    'bundle verify')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '*--key=''[Public key of minisign that must have signed the bundle\: its file, or the line itself.]'':KEY:_files' \
            '--threshold=''[How many of the keys must have signed the bundle.]'':N: ' \
            '--older''[Take over a bundle that is older than the newest one of its rollout and key.]' \
            '--reason=''[Why the older bundle is taken over, for the journal.]'':TEXT: ' \
            '--target-dir=''[Directory for verified files.]'':DIR:_files -/' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:BUNDLE:_files'
        ;;
    'bundle apply')
        _arguments -S \
            '--from=''[Apply every bundle in this folder instead of a named one.]'':DIR:_files -/' \
            '--target-dir=''[Directory for verified files.]'':DIR:_files -/' \
            '*--key=''[Public key of minisign that must have signed the bundle\: its file, or the line itself.]'':KEY:_files' \
            '--threshold=''[How many of the keys must have signed the bundle.]'':N: ' \
            '--older''[Take over a bundle that is older than the newest one of its rollout and key.]' \
            '--reason=''[Why the older bundle is taken over, for the journal.]'':TEXT: ' \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--profiles=''[Folder of profiles to use in addition to the built-in ones.]'':DIR:_files -/' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:BUNDLE:_files'
        ;;
    'bundle copy')
        _arguments -S \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:BUNDLE:_files' \
            '2:FILE:_files'
        ;;
    'bundle show')
        _arguments -S \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:BUNDLE:_files'
        ;;
    'notify test')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--manifest=''[A manifest whose `notify` counts too.]'':MANIFEST:_files' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '*:TARGET: '
        ;;
    'notify list')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--manifest=''[A manifest whose `notify` counts too.]'':MANIFEST:_files' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'notify send')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--manifest=''[A manifest whose `notify` counts too.]'':MANIFEST:_files' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'notify failure')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--manifest=''[A manifest whose `notify` counts too.]'':MANIFEST:_files' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:UNIT: '
        ;;
    'systemd print')
        _arguments -S \
            '--unit=''[Print only one\: service or timer, with --watch service or path; failure, which sends a notice when a service of this program has failed; notify-service and notify-timer, which send notices again that did not arrive; serve-socket and serve-service, which show the rollouts to browsers.]'':KIND:(service timer path failure notify-service notify-timer serve-socket serve-service)' \
            '--program=''[Where the program will be.]'':PATH:_files' \
            '--watch=''[Print the units that apply bundles as they arrive in this folder.]'':DIR:_files -/' \
            '--target-dir=''[Directory for verified files.]'':DIR:_files -/' \
            '*--key=''[Public key of minisign that must have signed the bundle\: its file, or the line itself.]'':KEY:_files' \
            '--threshold=''[How many of the keys must have signed the bundle.]'':N: ' \
            '--profiles=''[Folder of profiles to use in addition to the built-in ones.]'':DIR:_files -/' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:MANIFEST:_files'
        ;;
    'fleet status')
        _arguments -S \
            '--rollout=''[The rollout.]'':NAME: _yardmaster_known rollouts' \
            '*--limit=''[Take only these vehicles\: an id, a pattern with '\''*'\'' and '\''?'\'', LABEL=VALUE of the fleet list, or how they ended in the last run\: @failed, @unreachable, @deferred, @doubt.]'':VEHICLES: _yardmaster_known vehicles' \
            '*--report=''[Write a report to FILE; a run writes it when it has ended. The ending of its name selects the format\: .html (for people, one file), .xml (JUnit), .csv, .json, or .prom (metrics for Prometheus'\''s textfile collector).]'':FILE:_files' \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager provides the credential fleet-password.]'':ADDRESS: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'fleet init')
        _arguments -S \
            '--sql''[Change nothing, and print the statements.]' \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager provides the credential fleet-password.]'':ADDRESS: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'fleet check')
        _arguments -S \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager provides the credential fleet-password.]'':ADDRESS: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'fleet upgrade')
        _arguments -S \
            '--sql''[Change nothing, and print the statements.]' \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager provides the credential fleet-password.]'':ADDRESS: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'fleet accept-restore')
        _arguments -S \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager provides the credential fleet-password.]'':ADDRESS: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'fleet prune')
        _arguments -S \
            '--keep=''[How many beginnings of each rollout to keep, including the current one.]'':N: ' \
            '--older-than=''[Delete only rows that are older than this, such as 365d.]'':TIME: ' \
            '--archive=''[Add the deleted rows to this file first, as JSON lines.]'':FILE:_files' \
            '--dry-run''[Change nothing, and print how many rows would be deleted.]' \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager provides the credential fleet-password.]'':ADDRESS: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'gateways')
        _arguments -S \
            '--metrics''[Print metrics for Prometheus instead of the table.]' \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager provides the credential fleet-password.]'':ADDRESS: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'gateway drain')
        _arguments -S \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager provides the credential fleet-password.]'':ADDRESS: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:GATEWAY: '
        ;;
    'gateway forget')
        _arguments -S \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager provides the credential fleet-password.]'':ADDRESS: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:GATEWAY: '
        ;;
    'serve')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager provides the credential fleet-password.]'':ADDRESS: ' \
            '--journal''[Read only this machine'\''s journal, even if the machine belongs to a fleet.]' \
            '*--listen=''[Serve here\: ADDRESS\:PORT of the loopback, or unix\:PATH.]'':ADDRESS: ' \
            '*--host=''[Also answer to this name, in addition to localhost\: the name that browsers request.]'':NAME: ' \
            '--access=''[Give access only to the people in this list.]'':FILE:_files' \
            '--open''[Let everybody look where there is no list of tokens.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'simulate')
        _arguments -S \
            '--bus=''[Serve the depot on the D-Bus bus at this address.]'':ADDRESS: ' \
            '*--adapter=''[Serve the depot from this adapter of the host; each module needs its own adapter.]'':ADAPTER: ' \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--seed=''[The seed of all random numbers in the simulation.]'':N: ' \
            '--profiles=''[Folder of profiles to use in addition to the built-in ones.]'':DIR:_files -/' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:DEPOT.yaml:_files'
        ;;
    'doctor')
        _arguments -S \
            '--bus=''[Find BlueZ on the D-Bus bus at this address.]'':ADDRESS: ' \
            '--profiles=''[Folder of profiles to use in addition to the built-in ones.]'':DIR:_files -/' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only the problems.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:MANIFEST:_files'
        ;;
    'schema')
        _arguments -S \
            '--api''[Print the description of the interface for programs (OpenAPI 3.1).]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'completion')
        _arguments -S \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:SHELL:(bash zsh fish)'
        ;;
    'help')
        _arguments -S \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '*:COMMAND:(validate plan rehearse run status show morning pause resume abort retry inhibit uninhibit clear vehicle accept-restore history scan inventory enrol watch exec token secrets image fetch images profiles trust bundle notify systemd fleet gateways gateway serve simulate doctor schema completion help version)'
        ;;
    'version')
        _arguments -S \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    esac
}
if [[ $funcstack[1] == _yardmaster ]]; then
    _yardmaster "$@"
else
    compdef _yardmaster yardmaster
fi

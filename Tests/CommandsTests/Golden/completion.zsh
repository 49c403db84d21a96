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
            'run:Bring the vehicles of a manifest to where it says'
            'status:Show where the rollouts stand'
            'show:Show everything that is known of a vehicle'
            'morning:Say what people have to do after the night'
            'pause:Let a rollout begin nothing new'
            'resume:Let a paused rollout go on'
            'abort:End a rollout for good'
            'retry:Take failed and unreachable vehicles again'
            'inhibit:Leave vehicles, or the whole depot, alone'
            'uninhibit:Lift an inhibition'
            'clear:Say that vehicles have been looked at'
            'history:List the runs that there were'
            'scan:Show which modules are in reach'
            'inventory:Show what each vehicle is, runs and owes'
            'enrol:Bring vehicles into service'
            'watch:Show a vehicle'\''s properties as they change'
            'exec:Give vehicles one order'
            'token:show'
            'secrets:check, rotate'
            'image:inspect'
            'fetch:Bring the images of a manifest into the store'
            'images:list, verify, prune'
            'profiles:list, show, check'
            'trust:Keep and show what signed repositories are trusted for'
            'bundle:create, verify, apply, copy, show'
            'notify:test, list, send, failure'
            'systemd:print'
            'fleet:status, init, check, upgrade, accept-restore, prune'
            'gateways:Show the gateways of a fleet'
            'gateway:drain, forget'
            'serve:Show the rollouts of this machine to browsers'
            'simulate:Put a simulated depot in the place of Bluetooth, for any program'
            'doctor:Say what is wrong with this host'\''s Bluetooth'
            'schema:Print the manifest'\''s JSON Schema, or what describes the interface for programs'
            'completion:Print a shell'\''s completion script'
            'help:Explain a command'
            'version:Print the version'
        )
        _describe -t commands command commands
        return
    fi
    shift words
    (( CURRENT-- ))
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
            '--profiles=''[Folder of profiles to be used besides those that are built in.]'':DIR:_files -/' \
            '--without-files''[Look at no key, token, image, time zone or program that the manifest names\: for machines that have none of them.]' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:MANIFEST:_files'
        ;;
    'plan')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '*--limit=''[Take only these vehicles\: an id, a pattern with '\''*'\'' and '\''?'\'', LABEL=VALUE of the fleet list, or how they ended in the last run\: @failed, @unreachable, @deferred, @doubt.]'':VEHICLES: _yardmaster_known vehicles' \
            '--profiles=''[Folder of profiles to be used besides those that are built in.]'':DIR:_files -/' \
            '--simulate=''[Use the simulated depot of this file instead of Bluetooth.]'':DEPOT.yaml:_files' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:MANIFEST:_files'
        ;;
    'run')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '*--limit=''[Take only these vehicles\: an id, a pattern with '\''*'\'' and '\''?'\'', LABEL=VALUE of the fleet list, or how they ended in the last run\: @failed, @unreachable, @deferred, @doubt.]'':VEHICLES: _yardmaster_known vehicles' \
            '--again''[Begin the rollout again from the first step, whatever was done\: commands are carried out once more. An abort is over with it; a pause is not.]' \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager hands over the credential fleet-password.]'':ADDRESS: ' \
            '--profiles=''[Folder of profiles to be used besides those that are built in.]'':DIR:_files -/' \
            '--bus=''[Find BlueZ on the D-Bus bus at this address.]'':ADDRESS: ' \
            '--simulate=''[Use the simulated depot of this file instead of Bluetooth.]'':DEPOT.yaml:_files' \
            '--pace=''[Let X seconds of the simulation pass in a second.]'':X: ' \
            '--seed=''[Draw all chance of the simulation from this number; the same number replays the same run.]'':N: ' \
            '--events=''[Append everything that happens to FILE, one JSON object a line; '\''-'\'' writes it to standard output, and the result then goes to standard error.]'':FILE:_files' \
            '*--report=''[Write a report to FILE when the run has ended. Its ending says which\: .html (for people, one file), .xml (JUnit), .csv, .json, or .prom (metrics for Prometheus'\''s textfile collector).]'':FILE:_files' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:MANIFEST:_files'
        ;;
    'status')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--rollout=''[The rollout that is meant.]'':NAME: _yardmaster_known rollouts' \
            '--fleet=''[Show the fleet in this PostgreSQL instead, as '\''fleet status'\'' does.]'':ADDRESS: ' \
            '*--limit=''[Take only these vehicles\: an id, a pattern with '\''*'\'' and '\''?'\'', LABEL=VALUE of the fleet list, or how they ended in the last run\: @failed, @unreachable, @deferred, @doubt.]'':VEHICLES: _yardmaster_known vehicles' \
            '--watch''[Show the run under way as it goes on, and the next one after it, until Ctrl-C.]' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'show')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:VEHICLE: _yardmaster_known vehicles'
        ;;
    'morning')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--since=''[From when on\: how long ago, such as 18h or 3d, or a time of the window'\''s zone, such as '\''2026-11-21 18\:00'\''.]'':TIME: ' \
            '--days=''[After how many days without an update or a sign of life a vehicle is named.]'':NUMBER: ' \
            '--csv''[Write the tasks as a table for spreadsheets.]' \
            '--html''[Write the page as one HTML file that loads nothing.]' \
            '--mail=''[Write the page as a message to ADDRESS, for '\''sendmail -t'\''.]'':ADDRESS: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'pause')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--rollout=''[The rollout that is meant.]'':NAME: _yardmaster_known rollouts' \
            '--reason=''[Why, for anyone who reads the report or the status.]'':TEXT: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'resume')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--rollout=''[The rollout that is meant.]'':NAME: _yardmaster_known rollouts' \
            '--reason=''[Why, for anyone who reads the report or the status.]'':TEXT: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'abort')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--rollout=''[The rollout that is meant.]'':NAME: _yardmaster_known rollouts' \
            '--reason=''[Why, for anyone who reads the report or the status.]'':TEXT: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'retry')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--rollout=''[The rollout that is meant.]'':NAME: _yardmaster_known rollouts' \
            '--reason=''[Why, for anyone who reads the report or the status.]'':TEXT: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '*:VEHICLE: _yardmaster_known vehicles'
        ;;
    'inhibit')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '*--fleet=''[A manifest whose vehicles may be named before anything has run on them.]'':MANIFEST:_files' \
            '--reason=''[Why, for anyone who reads the report or the status.]'':TEXT: ' \
            '--for=''[How long it holds, such as 90m or 2d.]'':TIME: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '*:VEHICLE: _yardmaster_known vehicles'
        ;;
    'uninhibit')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '*--fleet=''[A manifest whose vehicles may be named before anything has run on them.]'':MANIFEST:_files' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '*:VEHICLE: _yardmaster_known vehicles'
        ;;
    'clear')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '*--fleet=''[A manifest whose vehicles may be named before anything has run on them.]'':MANIFEST:_files' \
            '--reason=''[Why, for anyone who reads the report or the status.]'':TEXT: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '*:VEHICLE: _yardmaster_known vehicles'
        ;;
    'history')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--rollout=''[The rollout that is meant.]'':NAME: _yardmaster_known rollouts' \
            '--last=''[How many runs to list.]'':N: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'history show')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '*--limit=''[Take only these vehicles\: an id, a pattern with '\''*'\'' and '\''?'\'', LABEL=VALUE of the fleet list, or how they ended in the last run\: @failed, @unreachable, @deferred, @doubt.]'':VEHICLES: _yardmaster_known vehicles' \
            '*--report=''[Write a report to FILE when the run has ended. Its ending says which\: .html (for people, one file), .xml (JUnit), .csv, .json, or .prom (metrics for Prometheus'\''s textfile collector).]'':FILE:_files' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
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
            '--profiles=''[Folder of profiles to be used besides those that are built in.]'':DIR:_files -/' \
            '--bus=''[Find BlueZ on the D-Bus bus at this address.]'':ADDRESS: ' \
            '--simulate=''[Use the simulated depot of this file instead of Bluetooth.]'':DEPOT.yaml:_files' \
            '--pace=''[Let X seconds of the simulation pass in a second.]'':X: ' \
            '--seed=''[Draw all chance of the simulation from this number; the same number replays the same run.]'':N: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'inventory')
        _arguments -S \
            '--fleet=''[The manifest whose vehicles are read, and that they are compared with.]'':MANIFEST:_files' \
            '*--limit=''[Take only these vehicles\: an id, a pattern with '\''*'\'' and '\''?'\'', LABEL=VALUE of the fleet list, or how they ended in the last run\: @failed, @unreachable, @deferred, @doubt.]'':VEHICLES: _yardmaster_known vehicles' \
            '--last''[Show what was read last, from the journal; no radio is used.]' \
            '--for=''[How long to listen for those that were not heard yet, such as 10s or 2m.]'':TIME: ' \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--profiles=''[Folder of profiles to be used besides those that are built in.]'':DIR:_files -/' \
            '--bus=''[Find BlueZ on the D-Bus bus at this address.]'':ADDRESS: ' \
            '--simulate=''[Use the simulated depot of this file instead of Bluetooth.]'':DEPOT.yaml:_files' \
            '--pace=''[Let X seconds of the simulation pass in a second.]'':X: ' \
            '--seed=''[Draw all chance of the simulation from this number; the same number replays the same run.]'':N: ' \
            '--csv''[Write the result as a table for spreadsheets on standard output.]' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'enrol')
        _arguments -S \
            '--fleet=''[The fleet list that gets the vehicle'\''s row\: the CSV file that manifests name.]'':FLEET.csv:_files' \
            '--batch=''[Enrol every row of this file. Its columns are id, serial, family and, where they are wanted, profile old-secret and passkey; others are copied into columns of that name.]'':FILE.csv:_files' \
            '--serial=''[The module'\''s serial.]'':SERIAL: ' \
            '--name=''[The name that the module advertises.]'':NAME: ' \
            '--family=''[The module'\''s family.]'':FAMILY: ' \
            '--profile=''[The module'\''s profile.]'':NAME: ' \
            '--old-secret=''[Where the secret is kept that the module has now, where it has one\: file\:PATH, credential\:NAME or env\:NAME.]'':REFERENCE: ' \
            '--passkey=''[Where the six digits are kept by which the module is paired with\: file\:PATH, credential\:NAME or env\:NAME. They stand in the column passkey of its row then.]'':REFERENCE: ' \
            '--keys=''[Where secrets are put, as seen from the fleet list.]'':DIR:_files -/' \
            '--credentials=''[Put secrets into this folder of the service manager'\''s credentials, such as /etc/yardmaster/credentials, and write credential\:ID into the vehicle'\''s row.]'':DIR:_files -/' \
            '--hand-to=''[Run this program for each secret that was proven\: it gets the vehicle'\''s id and serial as arguments and the secret as a line on its standard input. The file stays. If it does not end with 0, the vehicle counts as failed, and the same command gives it the secret again.]'':PROGRAM:_files' \
            '--rotate''[Give the module another secret although the one in its file is proven.]' \
            '--undo''[Take the vehicle out of service.]' \
            '--for=''[How long to look for a module, such as 10s or 2m.]'':TIME: ' \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--profiles=''[Folder of profiles to be used besides those that are built in.]'':DIR:_files -/' \
            '--bus=''[Find BlueZ on the D-Bus bus at this address.]'':ADDRESS: ' \
            '--simulate=''[Use the simulated depot of this file instead of Bluetooth.]'':DEPOT.yaml:_files' \
            '--pace=''[Let X seconds of the simulation pass in a second.]'':X: ' \
            '--seed=''[Draw all chance of the simulation from this number; the same number replays the same run.]'':N: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:VEHICLE: _yardmaster_known vehicles'
        ;;
    'watch')
        _arguments -S \
            '--fleet=''[The manifest that lists the vehicle, with its secret.]'':MANIFEST:_files' \
            '*--property=''[Show only this property.]'':NAME: ' \
            '--for=''[How long to watch, such as 30s or 2h.]'':TIME: ' \
            '--profiles=''[Folder of profiles to be used besides those that are built in.]'':DIR:_files -/' \
            '--bus=''[Find BlueZ on the D-Bus bus at this address.]'':ADDRESS: ' \
            '--simulate=''[Use the simulated depot of this file instead of Bluetooth.]'':DEPOT.yaml:_files' \
            '--pace=''[Let X seconds of the simulation pass in a second.]'':X: ' \
            '--seed=''[Draw all chance of the simulation from this number; the same number replays the same run.]'':N: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:VEHICLE: _yardmaster_known vehicles'
        ;;
    'exec')
        _arguments -S \
            '--fleet=''[The manifest that lists the vehicle, with its secret.]'':MANIFEST:_files' \
            '--profiles=''[Folder of profiles to be used besides those that are built in.]'':DIR:_files -/' \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--simulate=''[Use the simulated depot of this file instead of Bluetooth.]'':DEPOT.yaml:_files' \
            '--pace=''[Let X seconds of the simulation pass in a second.]'':X: ' \
            '--seed=''[Draw all chance of the simulation from this number; the same number replays the same run.]'':N: ' \
            '--bus=''[Find BlueZ on the D-Bus bus at this address.]'':ADDRESS: ' \
            '--events=''[Append everything that happens to FILE, one JSON object a line; '\''-'\'' writes it to standard output, and the result then goes to standard error.]'':FILE:_files' \
            '*--report=''[Write a report to FILE when the run has ended. Its ending says which\: .html (for people, one file), .xml (JUnit), .csv, .json, or .prom (metrics for Prometheus'\''s textfile collector).]'':FILE:_files' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
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
            '--profiles=''[Folder of profiles to be used besides those that are built in.]'':DIR:_files -/' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:MANIFEST:_files'
        ;;
    'secrets rotate')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '*--limit=''[Take only these vehicles\: an id, a pattern with '\''*'\'' and '\''?'\'', LABEL=VALUE of the fleet list, or how they ended in the last run\: @failed, @unreachable, @deferred, @doubt.]'':VEHICLES: _yardmaster_known vehicles' \
            '--again''[Begin the rollout again from the first step, whatever was done\: commands are carried out once more. An abort is over with it; a pause is not.]' \
            '--profiles=''[Folder of profiles to be used besides those that are built in.]'':DIR:_files -/' \
            '--bus=''[Find BlueZ on the D-Bus bus at this address.]'':ADDRESS: ' \
            '--simulate=''[Use the simulated depot of this file instead of Bluetooth.]'':DEPOT.yaml:_files' \
            '--pace=''[Let X seconds of the simulation pass in a second.]'':X: ' \
            '--seed=''[Draw all chance of the simulation from this number; the same number replays the same run.]'':N: ' \
            '--events=''[Append everything that happens to FILE, one JSON object a line; '\''-'\'' writes it to standard output, and the result then goes to standard error.]'':FILE:_files' \
            '*--report=''[Write a report to FILE when the run has ended. Its ending says which\: .html (for people, one file), .xml (JUnit), .csv, .json, or .prom (metrics for Prometheus'\''s textfile collector).]'':FILE:_files' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:MANIFEST:_files'
        ;;
    'image inspect')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:FILE:_files'
        ;;
    'fetch')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--profiles=''[Folder of profiles to be used besides those that are built in.]'':DIR:_files -/' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:MANIFEST:_files'
        ;;
    'images list')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'images verify')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'images prune')
        _arguments -S \
            '*--forget=''[End what this rollout needs, by the name in its manifest.]'':ROLLOUT: _yardmaster_known rollouts' \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'profiles list')
        _arguments -S \
            '--profiles=''[Folder of profiles to be used besides those that are built in.]'':DIR:_files -/' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'profiles show')
        _arguments -S \
            '--profiles=''[Folder of profiles to be used besides those that are built in.]'':DIR:_files -/' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:NAME: '
        ;;
    'profiles check')
        _arguments -S \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:FILE:_files'
        ;;
    'trust')
        _arguments -S \
            '--metadata-dir=''[Directory of the repository'\''s trusted documents.]'':DIR:_files -/' \
            '--metadata-url=''[Where the repository'\''s documents are\: http, https or file.]'':URL: ' \
            '*--target-name=''[A target to download, as the repository calls it.]'':NAME: ' \
            '--target-base-url=''[Where the repository'\''s targets are\: http, https or file.]'':URL: ' \
            '--target-dir=''[Directory that verified files are put into.]'':DIR:_files -/' \
            '--key=''[For reset\: the public key whose record is meant, its file or the line itself.]'':KEY:_files' \
            '--repository=''[For reset\: the repository whose record is meant, as the manifest calls it.]'':NAME: ' \
            '--reason=''[For reset\: why; it is written down.]'':TEXT: ' \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:ACTION:(init refresh download show add reset)' \
            '2:FILE:_files'
        ;;
    'bundle create')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--since=''[Leave out the images that a depot has which took this bundle over.]'':BUNDLE:_files' \
            '--profiles=''[Folder of profiles to be used besides those that are built in.]'':DIR:_files -/' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
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
            '--target-dir=''[Directory that verified files are put into.]'':DIR:_files -/' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:BUNDLE:_files'
        ;;
    'bundle apply')
        _arguments -S \
            '--from=''[Apply every bundle in this folder instead of one that is named.]'':DIR:_files -/' \
            '--target-dir=''[Directory that verified files are put into.]'':DIR:_files -/' \
            '*--key=''[Public key of minisign that must have signed the bundle\: its file, or the line itself.]'':KEY:_files' \
            '--threshold=''[How many of the keys must have signed the bundle.]'':N: ' \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--profiles=''[Folder of profiles to be used besides those that are built in.]'':DIR:_files -/' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:BUNDLE:_files'
        ;;
    'bundle copy')
        _arguments -S \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:BUNDLE:_files' \
            '2:FILE:_files'
        ;;
    'bundle show')
        _arguments -S \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:BUNDLE:_files'
        ;;
    'notify test')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--manifest=''[A manifest whose `notify` counts too.]'':MANIFEST:_files' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '*:TARGET: '
        ;;
    'notify list')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--manifest=''[A manifest whose `notify` counts too.]'':MANIFEST:_files' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'notify send')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--manifest=''[A manifest whose `notify` counts too.]'':MANIFEST:_files' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'notify failure')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--manifest=''[A manifest whose `notify` counts too.]'':MANIFEST:_files' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:UNIT: '
        ;;
    'systemd print')
        _arguments -S \
            '--unit=''[Print only one\: service or timer, with --watch service or path; failure, which sends a notice when a service of ours has failed; notify-service and notify-timer, which send again what did not arrive; serve-socket and serve-service, which show the rollouts to browsers.]'':KIND:(service timer path failure notify-service notify-timer serve-socket serve-service)' \
            '--program=''[Where the program will be.]'':PATH:_files' \
            '--watch=''[Print the units that apply bundles as they come into this folder.]'':DIR:_files -/' \
            '--target-dir=''[Directory that verified files are put into.]'':DIR:_files -/' \
            '*--key=''[Public key of minisign that must have signed the bundle\: its file, or the line itself.]'':KEY:_files' \
            '--threshold=''[How many of the keys must have signed the bundle.]'':N: ' \
            '--profiles=''[Folder of profiles to be used besides those that are built in.]'':DIR:_files -/' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:MANIFEST:_files'
        ;;
    'fleet status')
        _arguments -S \
            '--rollout=''[The rollout that is meant.]'':NAME: _yardmaster_known rollouts' \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager hands over the credential fleet-password.]'':ADDRESS: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'fleet init')
        _arguments -S \
            '--sql''[Change nothing, and print the statements.]' \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager hands over the credential fleet-password.]'':ADDRESS: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'fleet check')
        _arguments -S \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager hands over the credential fleet-password.]'':ADDRESS: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'fleet upgrade')
        _arguments -S \
            '--sql''[Change nothing, and print the statements.]' \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager hands over the credential fleet-password.]'':ADDRESS: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'fleet accept-restore')
        _arguments -S \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager hands over the credential fleet-password.]'':ADDRESS: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'fleet prune')
        _arguments -S \
            '--keep=''[How many beginnings of each rollout stay, the one that is on among them.]'':N: ' \
            '--older-than=''[Drop nothing that is newer, such as 365d.]'':TIME: ' \
            '--archive=''[Add what is dropped to this file first, as JSON lines.]'':FILE:_files' \
            '--dry-run''[Change nothing, and say how many rows would be dropped.]' \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager hands over the credential fleet-password.]'':ADDRESS: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'gateways')
        _arguments -S \
            '--metrics''[Print metrics for Prometheus instead of the table.]' \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager hands over the credential fleet-password.]'':ADDRESS: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'gateway drain')
        _arguments -S \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager hands over the credential fleet-password.]'':ADDRESS: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:GATEWAY: '
        ;;
    'gateway forget')
        _arguments -S \
            '--fleet=''[The fleet'\''s PostgreSQL, as in postgresql\://USER@HOST\:PORT,HOST/DATABASE. A password is never part of it\: ?passfile=FILE names a password file, or the service manager hands over the credential fleet-password.]'':ADDRESS: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:GATEWAY: '
        ;;
    'serve')
        _arguments -S \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '*--listen=''[Serve here\: ADDRESS\:PORT of the loopback, or unix\:PATH.]'':ADDRESS: ' \
            '*--host=''[Answer to this name too, beside localhost\: the one that browsers ask for.]'':NAME: ' \
            '--access=''[Let in those whom this list names, and nobody else.]'':FILE:_files' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
        ;;
    'simulate')
        _arguments -S \
            '--bus=''[Serve the depot on the D-Bus bus at this address.]'':ADDRESS: ' \
            '*--adapter=''[Serve the depot from this adapter of the host, each module from one of its own.]'':ADAPTER: ' \
            '--state=''[Directory of the journal, the lock and the image store.]'':DIR:_files -/' \
            '--seed=''[Draw all chance of the simulation from this number.]'':N: ' \
            '--profiles=''[Folder of profiles to be used besides those that are built in.]'':DIR:_files -/' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]' \
            '1:DEPOT.yaml:_files'
        ;;
    'doctor')
        _arguments -S \
            '--bus=''[Find BlueZ on the D-Bus bus at this address.]'':ADDRESS: ' \
            '--json''[Write the result as one JSON document on standard output.]' \
            '(-q --quiet)'{-q,--quiet}'[Print nothing when all is well, and otherwise only what is not.]' \
            '--no-color''[Use no colour. A NO_COLOR variable that is not empty does the same.]' \
            '(-h --help)'{-h,--help}'[Show this help.]'
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
            '*:COMMAND:(validate plan run status show morning pause resume abort retry inhibit uninhibit clear history scan inventory enrol watch exec token secrets image fetch images profiles trust bundle notify systemd fleet gateways gateway serve simulate doctor schema completion help version)'
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

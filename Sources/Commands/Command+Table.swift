extension Command {
    /// All commands, in the order in which the help lists them.
    package static let all: [Command] = [
        .initialise, .validate, .plan, .approve, .rehearse, .run, .status, .show, .morning, .pause,
        .resume,
        .abort,
        .retry, .rollback, .recall, .inhibit,
        .uninhibit,
        .clear, .vehicleRenamed, .vehicleMoved, .acceptRestore, .history, .historyShow,
        .historyCompare, .scan, .inventory, .enrol, .watch, .update, .exec,
        .tokenShow,
        .secretsCheck, .secretsRotate,
        .imageInspect,
        .fetch, .sync,
        .imagesList, .imagesVerify, .imagesPrune, .profilesList, .profilesShow, .profilesCheck,
        .trust, .bundleCreate, .bundleVerify, .bundleApply, .bundleCopy, .bundleShow,
        .notifyTest, .notifyList, .notifySend, .notifyFailure, .systemdPrint,
        .fleetStatus, .fleetCreate, .fleetInvite, .fleetJoin, .fleetCheck, .fleetUpgrade,
        .fleetAcceptRestore, .fleetPrune,
        .gateways, .gatewayDrain, .gatewayForget,
        .serve, .simulate, .doctor,
        .schema,
        .completion, .complete, .man, .help, .version,
    ]

    package static func named(_ id: CommandName) -> Command? { all.first { $0.id == id } }

    static let manifestFile = Argument(
        .file("MANIFEST"),
        help: "The fleet manifest, a YAML or JSON file."
    )

    static let validate = Command(
        .validate,
        summary: "Check a manifest and the files it names",
        description: [
            "Reads the manifest and the vehicle tables it names and reports all errors "
                + "together, each with file, line and column: every error that a run would find "
                + "before it uses the radio, including keys, tokens and images that are missing "
                + "or wrong on this machine. An error in many rows is reported once. Neither "
                + "the network nor Bluetooth is used and nothing is written."
        ],
        arguments: [manifestFile],
        flags: [profiles, withoutFiles, json, quiet, noColor, wide],
        examples: [
            Example("yardmaster validate tallinn.yaml", "Reports its errors, if there are any.")
        ],
        exitCodes: [.invalidManifest, .inputMissing, .trustRefused, .configuration]
    )

    static let plan = Command(
        .plan,
        summary: "Show what a run would do",
        description: [
            "Turns the manifest into the frozen plan that a run would follow: the "
                + "vehicles in their waves, the steps and images of each, and the rules at "
                + "which the rollout pauses; and, from the journal, what would happen to each "
                + "vehicle, and how long it takes. Different plans have different digests. No "
                + "vehicle is touched.",
            "With --save the plan is also written as the text that people approve with `approve`: "
                + "images, vehicles, steps, programs, waves, gates and window, the name of the "
                + "rollout and that of the fleet.",
        ],
        arguments: [manifestFile],
        flags: [
            state, savedPlan, fleetAddress, limit, profiles, simulated, json, quiet, noColor, wide,
        ],
        examples: [
            Example("yardmaster plan tallinn.yaml", "Lists waves, vehicles and steps."),
            Example(
                "yardmaster plan --limit 'bus-*' --json tallinn.yaml",
                "The part of the plan for the buses, for a program."
            ),
            Example(
                "yardmaster plan --save tallinn.yaml.plan tallinn.yaml",
                "Writes the plan for those who have to approve it."
            ),
        ],
        exitCodes: [
            .invalidManifest, .inputMissing, .cannotCreate, .cannotWrite, .configuration,
        ]
    )

    static let rehearse = Command(
        .rehearse,
        summary: "Play a night of a rollout with made-up vehicles",
        description: [
            "Makes up a depot from the fleet list: a simulated module for each vehicle, of its family and "
                + "profile, with a key of its own, running a version before the release. Then it carries "
                + "out the rollout there as `run` does, and shows the night with its times. No vehicle, "
                + "key, token or depot file is needed, and nothing outside the rehearsal's own directory "
                + "changes: no packet leaves this machine, and no notice is sent.",
            "With --bad a part of the vehicles has faults, as on a bad night; the same seed gives the "
                + "same night. Without --state the directory is a new one for each rehearsal, and `status` and "
                + "`morning` show it when they get its path. An image that is fetched over the network must be "
                + "on this machine: fetch it first.",
            "For a depot of your own, with several nights, use `run --simulate`.",
        ],
        arguments: [manifestFile],
        flags: [
            bad, freePace, freeSeed, newState, limit, profiles, report, json, quiet,
            noColor, wide,
        ],
        examples: [
            Example("yardmaster rehearse tallinn.yaml", "A good night, in a few seconds."),
            Example(
                "yardmaster rehearse --bad --seed 7 tallinn.yaml",
                "A bad night: what fails, what the gate does, what the morning asks for."
            ),
            Example(
                "yardmaster rehearse --pace 60 tallinn.yaml",
                "To watch: a minute of the night in a second."
            ),
        ],
        exitCodes: [
            .someFailed, .someMissed, .paused, .aborted, .workLeft, .invalidManifest,
            .inputMissing, .cannotCreate, .cannotWrite, .trustRefused, .configuration,
            .interrupted, .terminated,
        ]
    )

    static let run = Command(
        .run,
        summary: "Carry out the rollout of a manifest",
        description: [
            "Downloads and verifies the images, then connects to the modules wave by wave "
                + "on all adapters, updates each, waits through its restarts, reads back its "
                + "version and carries out the other steps. An update counts as done only when "
                + "the module itself reports the new version.",
            "Every intent and every result is written to the journal first: a run that "
                + "was interrupted in any way is continued by the same command, and completed "
                + "steps stay done until the rollout is begun again, by --again or by its "
                + "manifest's `again`. INT or TERM ends the run at the next safe point, a "
                + "second one immediately.",
            "The result goes to standard output and ends with a line such as "
                + "'rollout=tallinn-4.12 ok=41 current=3 deferred=2 unreachable=1 failed=0 "
                + "exit=0'. Progress and warnings go to standard error.",
        ],
        arguments: [manifestFile],
        flags: [
            state, limit, again, approved, clockIsRight, fleetAddress, profiles, bus, simulated,
            pace,
            seed, notify, events, report, json, quiet, noColor, wide,
        ],
        examples: [
            Example("yardmaster run tallinn.yaml", "Runs or continues the rollout."),
            Example("yardmaster run --again checks.yaml", "Carries out every step once more."),
            Example(
                "yardmaster run --quiet --events /var/log/yardmaster.jsonl nightly.yaml",
                "From cron: no output, and so no mail, unless something went wrong."
            ),
            Example(
                "yardmaster run --report night.html --report night.xml tallinn.yaml",
                "Writes a report for people and one for the build server."
            ),
            Example(
                "yardmaster run --simulate depot.yaml --seed 7 tallinn.yaml",
                "Rehearses the rollout on simulated vehicles."
            ),
        ],
        exitCodes: [
            .someFailed, .someMissed, .paused, .aborted, .workLeft, .invalidManifest,
            .inputMissing, .unavailable, .cannotCreate, .cannotWrite, .busy, .trustRefused,
            .configuration, .interrupted, .terminated,
        ]
    )

    static let status = Command(
        .status,
        summary: "Show the state of the rollouts",
        description: [
            "Reads the journal and shows the rollout with its vehicles: how they ended, "
                + "or what they wait for; whether it is paused and why; requests, excluded "
                + "vehicles, and the next deadline. Takes no lock: it may be used during a run.",
            "On a machine that belongs to a fleet on PostgreSQL, or with --fleet, it shows the rollout "
                + "over all gateways, from the fleet's database, and says so; a rollout that only the "
                + "journal has is read from there. When no server answers, it shows what the journal "
                + "has, says that this is only this machine's work, and ends with 69.",
            "With --watch it shows the same as the run's own terminal, also for other "
                + "users, until Ctrl-C; into a pipe it writes a line for each event. In a fleet it "
                + "shows all gateways; with --journal only the run of this machine.",
        ],
        flags: [
            state, rollout, fleetAddress, journal, limit, watches, report, json, quiet,
            noColor, wide,
        ],
        examples: [
            Example("yardmaster status", "The latest rollout, and which vehicles need somebody."),
            Example("yardmaster status --limit '*'", "A line for each of its vehicles."),
            Example("yardmaster status --watch", "The active run, as on its own terminal."),
            Example("yardmaster status --json", "The same for a program."),
            Example(
                "yardmaster status --report night.html --quiet",
                "A report of the rollout as it stands, over all gateways of the fleet."
            ),
        ],
        exitCodes: [
            .inputMissing, .unavailable, .cannotCreate, .cannotWrite, .configuration, .terminated,
        ]
    )

    static let scan = Command(
        .scan,
        summary: "Show which modules are in range",
        description: [
            "Listens for modules of every family that has a profile and shows each with its "
                + "serial, its signal and its name: in a table that is redrawn on a terminal, "
                + "elsewhere with a line for each that comes or goes. A module that was not heard "
                + "for five seconds counts as gone.",
            "No module is connected to. A module that is connected to a phone, or that "
                + "sleeps, is not heard. With --json it also prints what an inventory has read "
                + "from a module.",
            "With --csv it prints the modules as a fleet list; each that cannot be a row of one is "
                + "named on standard error.",
        ],
        flags: [
            length, state, profiles, bus, simulated, pace, seed, fleetRows, json, quiet, noColor,
            wide,
        ],
        examples: [
            Example("yardmaster scan", "All modules that are heard in half a minute."),
            Example(
                "yardmaster scan --for 5s --json --simulate depot.yaml",
                "The simulated depot, for a program."
            ),
            Example("yardmaster scan --csv > tallinn.csv", "A fleet list of what is in range."),
        ],
        exitCodes: [
            .invalidManifest, .inputMissing, .unavailable, .interrupted, .terminated,
        ]
    )

    static let exec = Command(
        .exec,
        summary: "Carry out steps on single vehicles",
        description: [
            "Carries out one step, or several with ';' between them, on one vehicle or "
                + "those that a pattern selects: the same steps as in a manifest, in the same "
                + "way, with the journal first. Waves, gates and windows do not apply.",
            "A command whose result never arrives ends in doubt and is not sent again, except lock, "
                + "ignition-inhibit and secure-conditions-check: these are harmless and are sent "
                + "again.",
        ],
        arguments: [
            Argument(.vehicles("VEHICLE"), help: "The vehicle's id, or a pattern such as 'bus-*'."),
            Argument(
                .text("STEP"),
                help: "Such as 'command lock', 'set lights=disabled', 'read speed', "
                    + "'expect speed=0' or 'update city-4.12'."
            ),
        ],
        flags: [
            manifest, savedPlan, approved, fleetAddress, profiles, state, clockIsRight, simulated,
            pace, seed, bus,
            events, report, json, quiet, noColor, wide,
        ],
        examples: [
            Example(
                "yardmaster exec --manifest tallinn.yaml bus-17 'set lights=disabled'",
                "Switches the lights of one bus off."
            ),
            Example(
                "yardmaster exec --manifest tallinn.yaml car-4 'command lock'",
                "Locks a car through its GO device."
            ),
        ],
        exitCodes: [
            .someFailed, .someMissed, .invalidManifest, .inputMissing, .unavailable,
            .cannotCreate, .cannotWrite, .busy, .trustRefused, .configuration, .interrupted,
            .terminated,
        ]
    )

    static let watch = Command(
        .watch,
        summary: "Show a vehicle's properties as they change",
        description: [
            "Connects to the module of one vehicle, prints every property that can be read, and "
                + "then a line for each change. After a lost link it connects again."
        ],
        arguments: [
            Argument(.vehicles("VEHICLE"), help: "The vehicle's id, or its module's serial.")
        ],
        flags: [
            manifest, property, watchLength, profiles, bus, simulated, pace, seed, json,
            quiet, noColor, wide,
        ],
        examples: [
            Example(
                "yardmaster watch --manifest tallinn.yaml bus-17",
                "All properties of one bus, until interrupted."
            ),
            Example(
                "yardmaster watch --manifest tallinn.yaml --property speed --json bus-17",
                "One property, a JSON object for each change."
            ),
        ],
        exitCodes: [
            .invalidManifest, .inputMissing, .unavailable, .configuration, .interrupted,
            .terminated,
        ]
    )

    static let tokenShow = Command(
        .tokenShow,
        summary: "Show what a car-share token permits",
        description: [
            "Shows whose token it is, for which vehicle, from when to when and for which "
                + "commands, and every reason for which it would be refused. The private key in "
                + "it is checked and never shown. A token that would be refused ends with 78."
        ],
        arguments: [
            Argument(
                .file("FILE"),
                help: "The token's file, or a reference: file:PATH, credential:NAME, env:NAME."
            )
        ],
        flags: [json],
        examples: [
            Example("yardmaster token show car-17.token", "Explains the token of one vehicle.")
        ],
        exitCodes: [.inputMissing, .configuration]
    )

    static let secretsCheck = Command(
        .secretsCheck,
        summary: "Read every key and token that a manifest names",
        description: [
            "Reads each key, token and passkey that the manifest's vehicles name and "
                + "reports its state: whether it exists, whether others can read it, whether it "
                + "is valid, whose a token is and when it ends. A token that ends within a week "
                + "is reported. For tokens from an issuer, only the secret of the request is "
                + "read. No secret is ever shown, and nothing is sent."
        ],
        arguments: [manifestFile],
        flags: [profiles, json, quiet, noColor, wide],
        examples: [
            Example("yardmaster secrets check tallinn.yaml", "Shows the state of each secret.")
        ],
        exitCodes: [.invalidManifest, .inputMissing, .trustRefused, .configuration]
    )

    static let secretsRotate = Command(
        .secretsRotate,
        summary: "Give the modules of a fleet new secrets",
        description: [
            "Gives each module whose secret is kept in a file a new one, proves it on a "
                + "new link, and stores it in place of the old one, which is kept beside it in "
                + "KEY.before. It is a separate rollout, NAME-secrets: with the manifest's "
                + "waves, windows and gates, and with the journal first; 'status', 'pause' and "
                + "similar commands work on it.",
            "An interrupted change locks nobody out: the new secret is in KEY.new before "
                + "the module can have it, and the next run that reaches the module, in any "
                + "rollout, finds out which one it has. Repeat the command until it reports "
                + "that all are done; with --again it begins once more.",
            "A key that several vehicles name is not replaced, since the others would be locked "
                + "out: the command ends with 65, and --split gives each vehicle a file of its "
                + "own first. The shared file stays as it is.",
        ],
        arguments: [manifestFile],
        flags: [
            split, state, limit, again, savedPlan, approved, clockIsRight, fleetAddress,
            profiles, bus, simulated,
            pace, seed, notify, events, report, json, quiet, noColor, wide,
        ],
        examples: [
            Example(
                "yardmaster secrets rotate tallinn.yaml",
                "Changes the key of every bike, wave by wave."
            ),
            Example(
                "yardmaster secrets rotate tallinn.yaml --limit bike-31",
                "Changes that of one bike."
            ),
            Example(
                "yardmaster secrets rotate tallinn.yaml --split",
                "Ends the sharing of one key by many bikes, and changes each."
            ),
        ],
        exitCodes: [
            .someFailed, .someMissed, .paused, .aborted, .workLeft, .invalidManifest,
            .inputMissing, .unavailable, .cannotCreate, .cannotWrite, .busy, .trustRefused,
            .configuration, .interrupted, .terminated,
        ]
    )

    package static let split = Flag(
        "split",
        help: "Give each vehicle that shares its key with others a file of its own first, "
            + "beside the shared one, and write its name into the fleet list."
    )

    static let imageInspect = Command(
        .imageInspect,
        summary: "Show what is in an image file and whether it is intact",
        description: [
            "Parses a Secure DFU package, an MCUboot image or a package of MCUboot "
                + "images, checks everything that can be checked without a module and shows its "
                + "contents: versions, hashes, signatures, what it fits and what it needs. For "
                + "a broken file it reports where and why.",
            "For an image in the store it also shows its source and its signers: which "
                + "key or role, what the signer stated, and since when that is known.",
        ],
        arguments: [
            Argument(
                .file("FILE"),
                help: "A zip package, or an MCUboot image; or the SHA-256 of one in the store."
            )
        ],
        flags: [state, json, quiet, noColor, wide],
        examples: [
            Example("yardmaster image inspect city-4.12.0.zip", "Lists the parts of a package."),
            Example(
                "yardmaster image inspect --json app_update.bin",
                "The same for an MCUboot image and a program."
            ),
        ],
        exitCodes: [.invalidManifest, .inputMissing, .cannotWrite]
    )

    static let simulate = Command(
        .simulate,
        summary: "Serve a simulated depot as Bluetooth for any program",
        description: [
            "Serves the depot's modules as the Bluetooth service org.bluez on a bus, in "
                + "real time, until it is interrupted. 'run --bus' works on them, and so does "
                + "any other program for BlueZ: the modules advertise, can be connected to and "
                + "updated, and simulated GO devices connect to every host that advertises "
                + "their service.",
            "With --adapter a module is served from a real adapter, through the host's "
                + "Bluetooth, so that another adapter can work on it: a rehearsal with two "
                + "adapters and no vehicle. A GO device searches for its service with its "
                + "adapter. Modules are assigned to adapters in the order of the file.",
            "On a bus the modules keep their state in the state directory, as with "
                + "--simulate. A line on standard output reports when programs can begin.",
        ],
        arguments: [Argument(.file("DEPOT.yaml"), help: "The simulated depot.")],
        flags: [
            servedBus, servedAdapter, state, servedSeed, profiles, quiet, noColor, wide,
        ],
        examples: [
            Example(
                "yardmaster simulate --bus unix:path=/run/user/1000/bus depot.yaml",
                "Serves the depot on the user's own bus."
            ),
            Example(
                "yardmaster simulate --bus unix:path=/tmp/bus --state /tmp/depot depot.yaml",
                "On a separate bus, with a state apart from that of the runs."
            ),
            Example(
                "yardmaster simulate --adapter hci1 depot.yaml",
                "Serves the depot's module from the second adapter of this host."
            ),
        ],
        exitCodes: [
            .usage, .invalidManifest, .inputMissing, .unavailable, .cannotCreate, .configuration,
            .interrupted, .terminated,
        ]
    )

    static let doctor = Command(
        .doctor,
        summary: "Check this host's Bluetooth",
        description: [
            "Checks the bus, the Bluetooth service and its version, the adapters and "
                + "other programs that use them, and the service's settings, and reports a "
                + "remedy for each fault. Nothing is changed and no vehicle is touched.",
            "With a manifest it also reports what `validate` warns about in it, such as vehicles "
                + "that are opened over a link without a bond.",
        ],
        arguments: [
            Argument(
                .file("MANIFEST"),
                .atMostOne,
                help: "A fleet manifest that is meant for this host."
            )
        ],
        flags: [bus, profiles, json, quiet, noColor, wide],
        examples: [
            Example("yardmaster doctor", "Reports whether this host can work on vehicles."),
            Example(
                "yardmaster doctor tallinn.yaml",
                "Also warns about vehicles that anybody nearby could stand in for."
            ),
        ],
        exitCodes: [.invalidManifest, .inputMissing, .unavailable, .configuration]
    )

    static let schema = Command(
        .schema,
        summary: "Print the manifest's JSON Schema, or the interface description for programs",
        description: [
            "Prints the JSON Schema of the fleet manifest, for editors that check and complete "
                + "while one types. It is made from the table that the manifest is read with.",
            "With `--api` it prints the description (OpenAPI 3.1) of the documents that "
                + "`--json` writes and that `serve` gives to programs. It is generated from the "
                + "code that writes them.",
        ],
        flags: [api],
        examples: [
            Example(
                "yardmaster schema > yardmaster.schema.json",
                "Stores it where an editor finds it."
            ),
            Example(
                "yardmaster schema --api > api.json",
                "Stores it where a program is developed."
            ),
        ],
        isQuick: true
    )

    static let completion = Command(
        .completion,
        summary: "Print a shell's completion script",
        description: [
            "Prints the script that teaches a shell to complete yardmaster's commands, flags and "
                + "values."
        ],
        arguments: [
            Argument(.words("SHELL", ["bash", "zsh", "fish"]), help: "bash, zsh or fish.")
        ],
        examples: [
            Example(
                "yardmaster completion bash > /etc/bash_completion.d/yardmaster",
                "For all users of bash."
            )
        ],
        isQuick: true
    )

    static let complete = Command(
        .complete,
        summary: "Print what a shell completes a word with",
        description: [
            "For the scripts of 'completion': prints the vehicles with their labels and groups, the "
                + "rollouts or the runs that the state directory knows, one a line; nothing where "
                + "it knows none."
        ],
        arguments: [
            Argument(
                .words("KIND", Completion.Known.allCases.map(\.rawValue)),
                help: "vehicles, rollouts or runs."
            )
        ],
        flags: [state],
        isHidden: true,
        isQuick: true
    )

    static let man = Command(
        .man,
        summary: "Print the manual page",
        description: ["Prints the manual page in mdoc, to be installed as yardmaster.1."],
        examples: [Example("yardmaster man | mandoc -l", "Shows it.")],
        isHidden: true,
        isQuick: true
    )

    static let help = Command(
        .help,
        summary: "Explain a command",
        description: ["Explains one command, or lists all of them."],
        arguments: [Argument(.command("COMMAND"), .any, help: "The command to explain.")],
        examples: [Example("yardmaster help run", "The same as 'yardmaster run --help'.")],
        isQuick: true
    )

    static let version = Command(
        .version,
        summary: "Print the version",
        description: ["Prints the program's name and version."],
        flags: [json],
        isQuick: true
    )
}

extension Command {
    static let inventory = Command(
        .inventory,
        summary: "Show what each vehicle is, runs and owes",
        description: [
            "Hears the vehicles of a manifest, connects to each and reads what it is: the versions "
                + "of all parts, model, battery and every property that can be read. Shows that "
                + "with signal, bond, when it was last seen, what is owed to it, and what is not "
                + "as the manifest has it. Nothing is changed on a vehicle.",
            "Without a manifest it looks at anyone who is in reach; modules that are opened by a "
                + "secret are then heard and not read.",
            "What was found is kept in the journal: 'inventory --last' shows it again without any "
                + "radio, and 'show' and 'scan --json' print it. It holds the lock of the state "
                + "directory, as a run does. GO devices look for us and are not read.",
        ],
        flags: [
            listed, .limit, kept, listening, .state, .profiles, .bus, .simulate, .pace, .seed,
            table, .json, .quiet, .noColor,
        ],
        examples: [
            Example(
                "yardmaster inventory --fleet tallinn.yaml",
                "Reads every vehicle and says what differs from the manifest."
            ),
            Example(
                "yardmaster inventory --fleet tallinn.yaml --last --csv > yard.csv",
                "What was read last, for a spreadsheet; needs no Bluetooth."
            ),
            Example("yardmaster inventory --for 10s", "Anyone who is in reach."),
        ],
        exitCodes: [
            .someFailed, .someMissed, .invalidManifest, .inputMissing, .unavailable,
            .cannotCreate, .cannotWrite, .busy, .configuration, .interrupted, .terminated,
        ]
    )

    private static let listed = Flag(
        "fleet",
        value: Flag.Value("MANIFEST", .file),
        help: "The manifest whose vehicles are read, and that they are compared with.",
        fallback: "anyone who is in reach"
    )

    private static let kept = Flag(
        "last",
        help: "Show what was read last, from the journal; no radio is used."
    )

    private static let listening = Flag(
        "for",
        value: Flag.Value("TIME", .duration),
        help: "How long to listen for those that were not heard yet, such as 10s or 2m.",
        fallback: "30s"
    )

    private static let table = Flag(
        "csv",
        help: "Write the result as a table for spreadsheets on standard output."
    )
}

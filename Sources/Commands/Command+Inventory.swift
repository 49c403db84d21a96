extension Command {
    static let inventory = Command(
        .inventory,
        summary: "Read and show the state of each vehicle",
        description: [
            "Listens for the vehicles of a manifest, connects to each and reads the "
                + "versions of all parts, the model, the battery and every readable property. "
                + "Shows them with the signal, the bond, the last sighting, what is owed, "
                + "and differences from the manifest. Nothing is changed on a vehicle.",
            "Without a manifest it reads every module in range; modules that require a "
                + "secret are then only heard.",
            "The results are kept in the journal: 'inventory --last' shows them again "
                + "without radio, and 'show' and 'scan --json' print them. It holds the lock of "
                + "the state directory, as a run does. GO devices connect to us and are not "
                + "read.",
            "In a fleet on PostgreSQL it does not connect to a module that one of the gateways is "
                + "working on.",
        ],
        flags: [
            listed, fleetAddress, limit, kept, listening, state, profiles, bus, simulated,
            pace, seed,
            table, json, quiet, noColor, wide,
        ],
        examples: [
            Example(
                "yardmaster inventory --manifest tallinn.yaml",
                "Reads every vehicle and shows the differences from the manifest."
            ),
            Example(
                "yardmaster inventory --manifest tallinn.yaml --last --csv > yard.csv",
                "The last results, for a spreadsheet; needs no Bluetooth."
            ),
            Example("yardmaster inventory --for 10s", "All modules in range."),
        ],
        exitCodes: [
            .someFailed, .someMissed, .invalidManifest, .inputMissing, .unavailable,
            .cannotCreate, .cannotWrite, .busy, .configuration, .interrupted, .terminated,
        ]
    )

    static let listed = Flag(
        "manifest",
        .file("FILE"),
        help: "The manifest whose vehicles are read, and that they are compared with.",
        fallback: "all modules in range"
    )

    package static let kept = Flag(
        "last",
        help: "Show the last results from the journal; no radio is used."
    )

    package static let listening = Flag(
        "for",
        .duration("TIME"),
        help: "How long to listen for modules that were not heard yet, such as 10s or 2m.",
        standard: "30s"
    )

    package static let table = Flag(
        "csv",
        help: "Write the result as a table for spreadsheets on standard output."
    )
}

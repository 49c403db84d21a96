extension Command {
    static let morning = Command(
        .morning,
        summary: "List the tasks for people after the night",
        description: [
            "Reads the journal and prints one page about all rollouts since a time: the "
                + "tasks in their order (rescue from the bootloader, check doubtful commands, "
                + "inspect vehicles, correct lists and keys, charge, bring in, wait), by depot "
                + "and bay, from the labels `depot`, `bay` and `plate` of the fleet list; each "
                + "vehicle with its serial, when and how strongly it was heard, and the command "
                + "to run; the changes; and the vehicles that were not updated or not seen for "
                + "days. Takes no lock.",
            "On a machine that belongs to a fleet on PostgreSQL the page covers all gateways.",
            "The page is text; --html is one file that prints a job card for each vehicle, --mail "
                + "a message for 'sendmail -t', --csv a table of the tasks.",
        ],
        flags: [
            state, fleetAddress, journal, sinceTime, days, csv, html, mail, json, quiet,
            noColor, wide,
        ],
        examples: [
            Example("yardmaster morning", "The tasks since yesterday's noon."),
            Example("yardmaster morning --html >cards.html", "Job cards for the printer."),
            Example(
                "yardmaster morning --mail crew@example.com | sendmail -t",
                "The same as mail, each day from a timer."
            ),
            Example("yardmaster morning --since 3d --json", "Three days, for a program."),
        ],
        exitCodes: [.inputMissing, .unavailable, .cannotWrite, .configuration]
    )

    static let show = Command(
        .show,
        summary: "Show everything that is known of a vehicle",
        description: [
            "Reads the journal and prints everything about one vehicle: its module, its "
                + "state in each rollout, its versions, what is owed or in doubt, what people "
                + "have set, its last runs, and the next task. On a machine that belongs to a fleet "
                + "on PostgreSQL it prints what all gateways know of the vehicle."
        ],
        arguments: [
            Argument(
                .vehicles("VEHICLE"),
                help:
                    "The vehicle's id in the fleet list, its serial, its plate or another label's "
                    + "value, or a word of one."
            )
        ],
        flags: [state, fleetAddress, journal, json, quiet, noColor, wide],
        examples: [
            Example("yardmaster show bus-17", "What is known of one bus."),
            Example("yardmaster show '113 ÕÄB'", "The same for a number plate."),
        ],
        exitCodes: [.inputMissing, .unavailable, .cannotWrite, .configuration]
    )
}

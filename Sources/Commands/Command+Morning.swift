extension Command {
    static let morning = Command(
        .morning,
        summary: "Say what people have to do after the night",
        description: [
            "Reads the journal and makes one page over all rollouts since a time: what is to be "
                + "done, in its order (rescue from the bootloader, look at doubtful commands, "
                + "see to vehicles, correct lists and keys, charge, bring in, wait), by depot and "
                + "bay as the fleet list has them in the labels `depot`, `bay` and `plate`; each "
                + "vehicle with its serial, when and how strongly it was heard, and the command to "
                + "give; what has changed; and the vehicles that were not updated or not seen for "
                + "days. Takes no lock.",
            "The page is text; --html is one file that prints a job card for each vehicle, --mail "
                + "a message for 'sendmail -t', --csv a table of the tasks.",
        ],
        flags: [.state, .sinceTime, .days, .csv, .html, .mail, .json, .quiet, .noColor],
        examples: [
            Example("yardmaster morning", "What is to be done since yesterday's noon."),
            Example("yardmaster morning --html >cards.html", "Job cards for the printer."),
            Example(
                "yardmaster morning --mail crew@example.com | sendmail -t",
                "The same as mail, each day from a timer."
            ),
            Example("yardmaster morning --since 3d --json", "Three days, for a program."),
        ],
        exitCodes: [.inputMissing, .cannotWrite, .configuration]
    )

    static let show = Command(
        .show,
        summary: "Show everything that is known of a vehicle",
        description: [
            "Reads the journal and prints what it has of one vehicle: its module, where it stands in each "
                + "rollout, its versions, what is owed or in doubt, what people have set, its last "
                + "runs, and what is to be done next."
        ],
        arguments: [
            Argument("VEHICLE", .vehicles, help: "The vehicle's id as the fleet list has it.")
        ],
        flags: [.state, .json, .quiet, .noColor],
        examples: [Example("yardmaster show bus-17", "What is known of one bus.")],
        exitCodes: [.inputMissing, .cannotWrite, .configuration]
    )
}

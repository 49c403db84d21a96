extension Command {
    private static let targets: [Flag] = [.state, .listing, .json, .quiet, .noColor]

    static let notifyTest = Command(
        .notifyTest,
        summary: "Send a test notice to everybody who gets notices",
        description: [
            "Takes the same way as every notice, and says of each target whether it arrived, or why "
                + "not. Targets are named in /etc/yardmaster/notify.yaml, in notify.yaml of the state "
                + "directory, and under `notify` of a manifest."
        ],
        arguments: [
            Argument("TARGET", .text, .any, help: "Only these, by their names in the lists.")
        ],
        flags: targets,
        examples: [
            Example("yardmaster notify test", "Tells everybody."),
            Example("yardmaster notify test --manifest tallinn.yaml crew", "One of a manifest."),
        ],
        exitCodes: [
            .invalidManifest, .inputMissing, .unavailable, .cannotCreate, .cannotWrite,
            .configuration,
        ]
    )

    static let notifyList = Command(
        .notifyList,
        summary: "Show who gets notices of how runs end, and which did not arrive",
        description: [
            "Lists the targets, then the last notices: first those that did not arrive, with the "
                + "reason and when they are tried again. With --quiet only these."
        ],
        flags: targets,
        examples: [Example("yardmaster notify list --quiet", "What did not arrive.")],
        exitCodes: [.invalidManifest, .inputMissing, .cannotWrite, .configuration]
    )

    static let notifySend = Command(
        .notifySend,
        summary: "Tell again what did not arrive",
        description: [
            "Tries what is due; a notice is tried for a day, with longer and longer pauses. Where a "
                + "list says `silent-after`, the targets that it names get a notice when nothing was heard "
                + "from the last rollout for so long. yardmaster-notify.timer does it every five "
                + "minutes."
        ],
        flags: targets,
        examples: [Example("yardmaster notify send", "Tries what is due.")],
        exitCodes: [
            .invalidManifest, .inputMissing, .cannotCreate, .cannotWrite, .configuration,
        ]
    )

    static let notifyFailure = Command(
        .notifyFailure,
        summary: "Tell that a systemd unit has failed",
        description: [
            "For `OnFailure=`: takes the exit status from what systemd hands over, and repeats nothing "
                + "that the run itself has reported."
        ],
        arguments: [Argument("UNIT", .text, help: "The unit's name.")],
        flags: targets,
        examples: [
            Example("yardmaster notify failure yardmaster@tallinn.service", "As systemd does.")
        ],
        exitCodes: [
            .invalidManifest, .inputMissing, .cannotCreate, .cannotWrite, .configuration,
        ]
    )
}

extension Flag {
    fileprivate static let listing = Flag(
        "manifest",
        value: Value("MANIFEST", .file),
        help: "A manifest whose `notify` counts too."
    )
}

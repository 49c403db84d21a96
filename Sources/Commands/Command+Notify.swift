extension Command {
    private static let targets: [any FlagRow] = [state, listing, json, quiet, noColor, wide]

    static let notifyTest = Command(
        .notifyTest,
        summary: "Send a test notice to all recipients of notices",
        description: [
            "Uses the same way as every notice, and reports for each target whether it "
                + "arrived, or why not. Targets are listed in /etc/yardmaster/notify.yaml, in "
                + "notify.yaml of the state directory, and under `notify` of a manifest."
        ],
        arguments: [
            Argument(.text("TARGET"), .any, help: "Only these, by their names in the lists.")
        ],
        flags: targets,
        examples: [
            Example("yardmaster notify test", "Sends to all recipients."),
            Example("yardmaster notify test --manifest tallinn.yaml crew", "One of a manifest."),
        ],
        exitCodes: [
            .invalidManifest, .inputMissing, .unavailable, .cannotCreate, .cannotWrite,
            .configuration,
        ]
    )

    static let notifyList = Command(
        .notifyList,
        summary: "Show the recipients of notices, and undelivered notices",
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
        summary: "Send undelivered notices again",
        description: [
            "Sends the notices that are due; a notice is tried for a day, with longer and "
                + "longer pauses. Where a list has `silent-after`, its targets get a notice "
                + "when nothing was heard from the last rollout for this time. "
                + "yardmaster-notify.timer does it every five minutes."
        ],
        flags: targets,
        examples: [Example("yardmaster notify send", "Sends what is due.")],
        exitCodes: [
            .invalidManifest, .inputMissing, .cannotCreate, .cannotWrite, .configuration,
        ]
    )

    static let notifyFailure = Command(
        .notifyFailure,
        summary: "Send a notice that a systemd unit has failed",
        description: [
            "For `OnFailure=`: uses the exit status that systemd passes, and does not "
                + "repeat what the run itself has reported."
        ],
        arguments: [Argument(.text("UNIT"), help: "The unit's name.")],
        flags: targets,
        examples: [
            Example("yardmaster notify failure yardmaster@tallinn.service", "As systemd does.")
        ],
        exitCodes: [
            .invalidManifest, .inputMissing, .cannotCreate, .cannotWrite, .configuration,
        ]
    )
}

extension Command {
    static let listing = Flag(
        "manifest",
        .file("MANIFEST"),
        help: "A manifest whose `notify` counts too."
    )
}

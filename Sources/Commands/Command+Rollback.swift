extension Command {
    static let rollback = Command(
        .rollback,
        summary: "Bring the vehicles of a rollout back to what they ran before it",
        description: [
            "Begins a rollout named ROLLOUT-rollback, with the conditions, waves, gates and windows of that "
                + "rollout: each module that it has updated gets the version that it ran before. What was "
                + "begun on a module is brought to its end first. The images are those that earlier rollouts "
                + "have installed, those of kept plans with that version, or the files of --image.",
            "Shows what it would do to each vehicle, and does it when it is told so: by an answer on a "
                + "terminal, or by --yes. A vehicle stays as it is when nobody knows what it ran before, when "
                + "no image of that is here, when the image is recalled or denied, when its security counter "
                + "is lower than the module's, and when its profile takes no earlier version; then the exit "
                + "code is 10 at best. What the rollout has not updated is left alone.",
            "With that ROLLOUT is recalled: it begins nothing more on any gateway, and further runs of it end "
                + "with code 13. When this command was interrupted in any way, give it again.",
        ],
        arguments: [
            Argument(.rollout("ROLLOUT"), help: "The rollout whose vehicles are brought back."),
            Argument(
                .vehicles("VEHICLE"),
                .any,
                help: "Only these vehicles, as with --limit of 'run'. Default: all of the rollout."
            ),
        ],
        flags: [
            agreed, preview, savedPlan, approved, returnImage, imageVersion, reason, state,
            clockIsRight, fleetAddress, profiles, bus, simulated, pace, seed, notify, events,
            report, json, quiet, noColor, wide,
        ],
        examples: [
            Example(
                "yardmaster rollback --dry-run tallinn-4.12",
                "What each vehicle would go back to."
            ),
            Example(
                "yardmaster rollback --yes --reason brakes tallinn-4.12",
                "Brings all of them back, from a script."
            ),
            Example(
                "yardmaster rollback --image city-4.11.zip tallinn-4.12 bus-17",
                "One vehicle, with a file of what it ran before."
            ),
        ],
        exitCodes: [
            .someFailed, .someMissed, .paused, .aborted, .workLeft, .invalidManifest, .inputMissing,
            .unavailable, .cannotCreate, .cannotWrite, .busy, .trustRefused, .configuration,
            .interrupted, .terminated,
        ]
    )

    static let recall = Command(
        .recall,
        summary: "Recall an image, so that no run installs it",
        description: [
            "When the command has returned, no run of any gateway begins to send this image: vehicles that "
                + "would get it are rejected, with the reason. A transfer that has begun is finished, as under "
                + "'abort': a module with half an image may run none. The vehicles that have the image are "
                + "listed, those with half of it first; 'rollback' brings them back.",
            "Without IMAGE, with --list, it shows all recalls and where their images are.",
        ],
        arguments: [
            Argument(
                .file("IMAGE"),
                .atMostOne,
                help: "The SHA-256 of the image, its file, or its name in a rollout."
            )
        ],
        flags: [
            reason, listRecalls, lift, rollout, state, fleetAddress, json, quiet, noColor, wide,
        ],
        examples: [
            Example("yardmaster recall city-4.12.0.zip --reason 'brakes'", "By its file."),
            Example(
                "yardmaster recall city-4.12 --rollout tallinn-4.12 --reason brakes",
                "By its name in a rollout."
            ),
            Example("yardmaster recall --list", "What is recalled, and which vehicles run it."),
            Example("yardmaster recall --lift city-4.12", "It may be installed again."),
        ],
        exitCodes: [
            .inputMissing, .unavailable, .cannotCreate, .cannotWrite, .busy, .configuration,
        ]
    )

    package static let preview = Flag(
        "dry-run",
        help: "Change nothing, and print what would be done to each vehicle."
    )

    package static let returnImage = Flag(
        repeatable: "image",
        .file("FILE"),
        help: "An image that vehicles ran before, where none is known."
    )

    package static let listRecalls = Flag("list", help: "List all recalls.")

    package static let lift = Flag("lift", help: "Lift the recall of the image.")
}

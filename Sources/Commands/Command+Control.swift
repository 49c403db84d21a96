extension Command {
    private static let control: [any FlagRow] = [
        state, fleetAddress, rollout, reason, json, quiet, noColor, wide,
    ]
    private static let refusals: [ExitCode] = [
        .inputMissing, .cannotCreate, .cannotWrite, .busy, .configuration,
    ]
    private static let vehicles = Argument(
        .vehicles("VEHICLE"),
        .any,
        help: "The ids of the vehicles."
    )

    static let pause = Command(
        .pause,
        summary: "Pause a rollout, so that it begins nothing new",
        description: [
            "Takes effect before the command returns, whatever happens to a run. An "
                + "active run begins no further vehicle, finishes those in work and ends with "
                + "code 12; the next runs begin nothing and end with code 12, until 'resume'."
        ],
        flags: control,
        examples: [
            Example("yardmaster pause --reason brakes", "Pauses the last one.")
        ],
        exitCodes: refusals
    )

    static let resume = Command(
        .resume,
        summary: "Continue a paused rollout",
        description: [
            "The next run continues the rollout; an active run still drains. Earlier "
                + "failures no longer count at the gate, and a wave that had ended is over."
        ],
        flags: control,
        examples: [Example("yardmaster resume --rollout tallinn-4.12", "Continues it.")],
        exitCodes: refusals
    )

    static let abort = Command(
        .abort,
        summary: "End a rollout permanently",
        description: [
            "Like 'pause', but permanent: nothing is tried again, vehicles that were not "
                + "begun end as aborted, and further runs of this plan end with code 13. A "
                + "module in the middle of an update is finished first: otherwise it would stay "
                + "in its bootloader."
        ],
        flags: control,
        examples: [Example("yardmaster abort --reason recalled", "Ends the last one.")],
        exitCodes: refusals
    )

    static let retry = Command(
        .retry,
        summary: "Try failed and unreachable vehicles again",
        description: [
            "Removes the verdicts of failed, unreachable and deferred vehicles, of the "
                + "named ones or of all: an active run tries them again, or else the next one. "
                + "Completed steps stay done. For a named vehicle in doubt it also records that "
                + "the command was not carried out, so that it may be sent again."
        ],
        arguments: [vehicles],
        flags: control,
        examples: [Example("yardmaster retry bus-17 bus-21", "Tries these two again tonight.")],
        exitCodes: refusals
    )

    static let inhibit = Command(
        .inhibit,
        summary: "Exclude vehicles, or the whole depot, from work",
        description: [
            "When the command has returned, no work begins on these vehicles, or with --all on any "
                + "vehicle, until 'uninhibit'. The whole depot needs a reason. A run that works on one of "
                + "them finishes the current step, and an update until the module is at rest. "
                + "Patterns select vehicles as in 'exec'."
        ],
        arguments: [vehicles],
        flags: [
            state, fleetAddress, known, wholeDepot, reason, expiry, until, clockIsRight, json,
            quiet,
            noColor, wide,
        ],
        examples: [
            Example(
                "yardmaster inhibit bus-17 --reason workshop --for 2d",
                "One vehicle."
            ),
            Example("yardmaster inhibit --all --reason survey --for 3h", "The depot."),
            Example("yardmaster inhibit bus-17 --until 'mon 06:00'", "Over the weekend."),
        ],
        exitCodes: refusals
    )

    static let uninhibit = Command(
        .uninhibit,
        summary: "Lift an inhibition",
        description: ["Ends 'inhibit' for these vehicles or, with --all, for the depot."],
        arguments: [vehicles],
        flags: [state, fleetAddress, known, wholeDepot, json, quiet, noColor, wide],
        examples: [Example("yardmaster uninhibit bus-17", "Lets it take part again.")],
        exitCodes: refusals
    )

    static let clear = Command(
        .clear,
        summary: "Record that a person has checked vehicles",
        description: [
            "For use after a person has checked the vehicles: an unproven update is no "
                + "longer owed, a command in doubt counts as done, a step of `always` is no "
                + "longer owed, and failures are forgotten. With --all, only the "
                + "failures of all vehicles are forgotten."
        ],
        arguments: [vehicles],
        flags: [state, fleetAddress, known, wholeDepot, reason, json, quiet, noColor, wide],
        examples: [Example("yardmaster clear bus-17", "After its module was repaired.")],
        exitCodes: refusals
    )

    static let vehicleRenamed = Command(
        .vehicleRenamed,
        summary: "Record that vehicles have other ids",
        description: [
            "When the id of a vehicle has changed in the list, and the vehicle is inhibited, in doubt or "
                + "owes a step, a run ends with 65 and asks what has happened. This command records "
                + "that it is the same vehicle under another id: everything that is known of it goes on "
                + "under the new one, also in a rollout that was begun with the old one. Several "
                + "changes in one command happen at once, so that two ids can be exchanged."
        ],
        arguments: [
            Argument(.text("OLD"), help: "The id that the vehicle had."),
            Argument(.text("NEW"), help: "The id that it has now."),
            Argument(.text("MORE"), .any, help: "Further pairs of an old and a new id."),
        ],
        flags: [state, fleetAddress, reason, json, quiet, noColor, wide],
        examples: [
            Example("yardmaster vehicle renamed car-1 car-1b", "The same car, with another plate."),
            Example("yardmaster vehicle renamed car-1 car-2 car-2 car-1", "Two were mixed up."),
        ],
        exitCodes: refusals
    )

    static let vehicleMoved = Command(
        .vehicleMoved,
        summary: "Record that a module is in another vehicle",
        description: [
            "The counterpart of 'vehicle renamed': the vehicles are the same, and only the module was "
                + "moved. An update that was begun on it is owed in the new vehicle; inhibitions, "
                + "doubts and owed steps stay with the old one."
        ],
        arguments: [
            Argument(.text("SERIAL"), help: "The serial of the module."),
            Argument(.text("VEHICLE"), help: "The id of the vehicle that it is in now."),
        ],
        flags: [state, fleetAddress, reason, json, quiet, noColor, wide],
        examples: [
            Example("yardmaster vehicle moved 00a0f31c car-2", "It was in car-1 before.")
        ],
        exitCodes: refusals
    )

    static let acceptRestore = Command(
        .acceptRestore,
        summary: "Confirm the use of a restored journal",
        description: [
            "A journal from a backup does not know what was done since, so runs on it are refused with "
                + "78. The error names the commands that vehicles may have carried out since then. "
                + "After this command these are in doubt, each on its vehicle, until they are answered "
                + "with 'clear' or 'retry', and runs go on. What people have set since the backup is "
                + "lost and must be set again."
        ],
        flags: [state, fleetAddress, reason, json, quiet, noColor, wide],
        examples: [
            Example("yardmaster accept-restore", "After the vehicles have been looked at.")
        ],
        exitCodes: refusals
    )
}

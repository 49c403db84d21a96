extension Command {
    private static let control: [Flag] = [
        .state, .fleetAddress, .rollout, .reason, .json, .quiet, .noColor,
    ]
    private static let refusals: [ExitCode] = [
        .inputMissing, .cannotCreate, .cannotWrite, .busy, .configuration,
    ]
    private static let vehicles = Argument(
        "VEHICLE",
        .vehicles,
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
            .state, .fleetAddress, .known, .depot, .reason, .expiry, .clock, .json, .quiet,
            .noColor,
        ],
        examples: [
            Example(
                "yardmaster inhibit bus-17 --reason workshop --for 2d",
                "One vehicle."
            ),
            Example("yardmaster inhibit --all --reason survey --for 3h", "The depot."),
        ],
        exitCodes: refusals
    )

    static let uninhibit = Command(
        .uninhibit,
        summary: "Lift an inhibition",
        description: ["Ends 'inhibit' for these vehicles or, with --all, for the depot."],
        arguments: [vehicles],
        flags: [.state, .fleetAddress, .known, .depot, .json, .quiet, .noColor],
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
        flags: [.state, .fleetAddress, .known, .depot, .reason, .json, .quiet, .noColor],
        examples: [Example("yardmaster clear bus-17", "After its module was repaired.")],
        exitCodes: refusals
    )
}

extension Command {
    private static let control: [Flag] = [.state, .rollout, .reason, .json, .quiet, .noColor]
    private static let refusals: [ExitCode] = [
        .inputMissing, .cannotCreate, .cannotWrite, .busy, .configuration,
    ]
    private static let vehicles = Argument(
        "VEHICLE",
        .vehicles,
        .any,
        help: "The ids of the vehicles that are meant."
    )

    static let pause = Command(
        .pause,
        summary: "Let a rollout begin nothing new",
        description: [
            "In force from its answer on, whatever becomes of a run. A run under way begins no "
                + "further vehicle, finishes those that it has and ends with code 12; the next "
                + "runs begin nothing and end with code 12, until 'resume'."
        ],
        flags: control,
        examples: [
            Example("yardmaster pause --reason brakes", "Pauses the last one.")
        ],
        exitCodes: refusals
    )

    static let resume = Command(
        .resume,
        summary: "Let a paused rollout go on",
        description: [
            "The next run goes on; one under way drains. Failures from before do not count at the "
                + "gate any more, and a wave that had ended is over."
        ],
        flags: control,
        examples: [Example("yardmaster resume --rollout tallinn-4.12", "Lets it go on.")],
        exitCodes: refusals
    )

    static let abort = Command(
        .abort,
        summary: "End a rollout for good",
        description: [
            "As 'pause', and for good: nothing is tried again, vehicles that were not begun end as "
                + "aborted, and further runs of this plan end with code 13. A module in mid-update "
                + "is finished first: left alone it would stay in its bootloader."
        ],
        flags: control,
        examples: [Example("yardmaster abort --reason recalled", "Ends the last one.")],
        exitCodes: refusals
    )

    static let retry = Command(
        .retry,
        summary: "Take failed and unreachable vehicles again",
        description: [
            "Takes the verdict of failed, unreachable and deferred vehicles away, those named or "
                + "all: a run under way takes them again, or else the next one. What was carried "
                + "out stays done. For a vehicle in doubt that is named it also says that the "
                + "command was not carried out, so that it may be sent again."
        ],
        arguments: [vehicles],
        flags: control,
        examples: [Example("yardmaster retry bus-17 bus-21", "Takes these two again tonight.")],
        exitCodes: refusals
    )

    static let inhibit = Command(
        .inhibit,
        summary: "Leave vehicles, or the whole depot, alone",
        description: [
            "From its answer on nothing is begun on these vehicles, without one on all of them, "
                + "until 'uninhibit'. A run that is at work on one finishes the step it is at, and "
                + "an update until the module is at rest. Patterns mean vehicles as in 'exec'."
        ],
        arguments: [vehicles],
        flags: [.state, .known, .reason, .expiry, .json, .quiet, .noColor],
        examples: [
            Example(
                "yardmaster inhibit bus-17 --reason workshop --for 2d",
                "One vehicle."
            ),
            Example("yardmaster inhibit --reason survey --for 3h", "The depot."),
        ],
        exitCodes: refusals
    )

    static let uninhibit = Command(
        .uninhibit,
        summary: "Lift an inhibition",
        description: ["Takes back 'inhibit' for these vehicles; without one, for the depot."],
        arguments: [vehicles],
        flags: [.state, .known, .json, .quiet, .noColor],
        examples: [Example("yardmaster uninhibit bus-17", "Lets it take part again.")],
        exitCodes: refusals
    )

    static let clear = Command(
        .clear,
        summary: "Say that vehicles have been looked at",
        description: [
            "A person has looked: an update that is not proven is owed no more, a command in doubt "
                + "counts as done, a step of `always` is not owed any more, and failures are "
                + "forgotten. Without a vehicle only the failures of all are forgotten."
        ],
        arguments: [vehicles],
        flags: [.state, .known, .reason, .json, .quiet, .noColor],
        examples: [Example("yardmaster clear bus-17", "After its module was repaired.")],
        exitCodes: refusals
    )
}

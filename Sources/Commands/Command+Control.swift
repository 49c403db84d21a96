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
            "Leaves a request in the journal. A run under way takes it up within seconds: it "
                + "begins no further vehicle, finishes those under way and ends with code 12. "
                + "Without one, the next run ends at once with code 12, until 'resume'."
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
            "Leaves a request in the journal: the next run goes on. Failures from before do not "
                + "count at the gate any more, and a wave that had ended is over."
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
            "Leaves a request in the journal. A run under way takes failed, unreachable and "
                + "deferred vehicles again, those named or all; the next run does so anyway."
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
            "Runs that begin from now on put these vehicles off with the reason given; without a "
                + "vehicle, all of them. A run that is under way goes on as it is: pause it."
        ],
        arguments: [vehicles],
        flags: [.state, .reason, .expiry, .json, .quiet, .noColor],
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
        flags: [.state, .json, .quiet, .noColor],
        examples: [Example("yardmaster uninhibit bus-17", "Lets it take part again.")],
        exitCodes: refusals
    )

    static let clear = Command(
        .clear,
        summary: "Take vehicles out of quarantine",
        description: [
            "Forgets how often these vehicles have failed, so that they are tried again; without "
                + "one, all of them."
        ],
        arguments: [vehicles],
        flags: [.state, .json, .quiet, .noColor],
        examples: [Example("yardmaster clear bus-17", "After its module was mended.")],
        exitCodes: refusals
    )
}

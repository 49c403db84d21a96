extension Command {
    static let history = Command(
        .history,
        summary: "List the past runs",
        description: [
            "Lists the runs of the state directory, the newest first: when, how long, with which "
                + "exit code, and how their vehicles ended. The journal keeps the last 200.",
            "On a machine that belongs to a fleet on PostgreSQL, the runs of all gateways are listed, "
                + "each as GATEWAY/NUMBER.",
        ],
        flags: [
            state, fleetAddress, journal, rollout, last, json, quiet, noColor, wide,
        ],
        examples: [
            Example("yardmaster history", "The last twenty runs."),
            Example("yardmaster history --last 1 --json", "How last night went, for a program."),
        ],
        exitCodes: [
            .inputMissing, .unavailable, .cannotCreate, .cannotWrite, .configuration,
        ]
    )

    static let historyShow = Command(
        .historyShow,
        summary: "Show a run with every vehicle's events",
        description: [
            "Shows a run from the journal: first the events of the whole run, then each "
                + "vehicle with all its events, to the millisecond. Reports can be made long "
                + "after the run, even if the run was cut off.",
            "A run of another gateway is named GATEWAY/NUMBER. The fleet's database has the verdicts "
                + "that it gave; the single events are in its gateway's journal.",
        ],
        arguments: [
            Argument(
                .run("RUN"),
                help: "The run as 'history' lists it, such as 12 or north/12, or 'last'."
            )
        ],
        flags: [
            state, fleetAddress, journal, limit, report, json, quiet, noColor, wide,
        ],
        examples: [
            Example("yardmaster history show last --limit bus-17", "What happened to one bus."),
            Example(
                "yardmaster history show 41 --quiet --report night.html",
                "The report of a run that made none."
            ),
        ],
        exitCodes: [
            .inputMissing, .unavailable, .cannotCreate, .cannotWrite, .configuration,
        ]
    )

    static let historyCompare = Command(
        .historyCompare,
        summary: "Compare two runs",
        description: [
            "Shows the counts of two runs side by side, and the vehicles with different "
                + "results: first those that were done and are not any more, then those that "
                + "are done now, then the others. Newly done and already done count as the "
                + "same."
        ],
        arguments: [
            Argument(.run("BEFORE"), help: "A run's number as 'history' lists it, or 'last'."),
            Argument(.run("AFTER"), help: "The run that it is compared with."),
        ],
        flags: [state, json, noColor, wide],
        examples: [
            Example(
                "yardmaster history compare 41 last",
                "What has changed between run 41 and the last night."
            )
        ],
        exitCodes: [.inputMissing, .cannotCreate, .cannotWrite, .configuration]
    )
}

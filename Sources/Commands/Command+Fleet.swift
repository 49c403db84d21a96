extension Command {
    private static let common: [Flag] = [.fleetAddress, .json, .quiet, .noColor]

    static let fleetInit = Command(
        .fleetInit,
        summary: "Make the tables of a fleet in PostgreSQL",
        description: [
            "Makes the schema `yardmaster` with its tables in a database that is there, and the roles "
                + "yardmaster_gateway, yardmaster_operator and yardmaster_reader as far as this user "
                + "may. With --sql it changes nothing and prints the statements, for anyone who "
                + "administers the server."
        ],
        flags: [.fleetStatements] + common,
        examples: [
            Example(
                "yardmaster fleet init --fleet postgresql://owner@db.example/yardmaster",
                "Once for each fleet."
            ),
            Example("yardmaster fleet init --sql", "What it would do."),
        ],
        exitCodes: [.inputMissing, .unavailable, .configuration]
    )

    static let fleetCheck = Command(
        .fleetCheck,
        summary: "Look whether the fleet's database can be worked with",
        description: [
            "Says which server answers and how, whether the tables fit this program, what this user "
                + "may do, whether rights on modules may be granted, and how far this machine's clock "
                + "is off, with what to do about each fault. Changes nothing, but that it writes down "
                + "that another server took over."
        ],
        flags: common,
        examples: [
            Example(
                "yardmaster fleet check --fleet "
                    + "postgresql://north-1@db1.example,db2.example/yardmaster",
                "Whether a gateway can work there; of two servers the one that takes writes."
            )
        ],
        exitCodes: [.inputMissing, .unavailable, .configuration]
    )

    static let fleetStatus = Command(
        .fleetStatus,
        summary: "Show how a fleet's vehicles ended, over all gateways",
        description: [
            "Reads the fleet's database, from any machine that reaches it: who works on which vehicle of "
                + "a rollout, and the last verdict of each that was worked on, by whichever gateway. "
                + "Vehicles that no gateway has reached yet are in each gateway's own 'status'."
        ],
        flags: [.rollout] + common,
        examples: [
            Example("yardmaster fleet status --rollout tallinn-4.12", "One rollout."),
            Example("yardmaster fleet status --quiet", "Only those that need somebody."),
        ],
        exitCodes: [.inputMissing, .unavailable, .configuration]
    )

    static let fleetUpgrade = Command(
        .fleetUpgrade,
        summary: "Bring the tables of a fleet to this program's version",
        description: [
            "Changes the tables in one transaction, or not at all. No other command changes them. "
                + "Upgrade the tables when all gateways have the new program, or as its notes say; a "
                + "program that is too old for the tables says so and ends with 78."
        ],
        flags: [.fleetStatements] + common,
        examples: [Example("yardmaster fleet upgrade", "After a new version was installed.")],
        exitCodes: [.inputMissing, .unavailable, .configuration]
    )

    static let fleetPrune = Command(
        .fleetPrune,
        summary: "Drop what a fleet's database keeps of long ago",
        description: [
            "Deletes rows of beginnings of a rollout that are over, of orders that have ended, old verdicts "
                + "that later ones have followed, and what people said long ago. What is owed, in doubt, set by "
                + "people or counts towards a gate or a quarantine stays, and so does every right with its "
                + "epoch, whatever its age. Rows go in transactions of a thousand: a run may be at work.",
            "With --archive each row is added to a file first, one JSON object a line with its table, and "
                + "is on the disk before it is deleted. When the command is killed in between, its last lines "
                + "may stand in the file twice.",
            "Only the owner of the tables may delete them.",
        ],
        flags: [.keptBeginnings, .olderThan, .archive, .dryRun] + common,
        examples: [
            Example("yardmaster fleet prune --dry-run", "How much there is to drop."),
            Example(
                "yardmaster fleet prune --older-than 365d --archive /srv/fleet-2025.jsonl",
                "Each month, as the owner."
            ),
        ],
        exitCodes: [.inputMissing, .unavailable, .cannotCreate, .cannotWrite, .configuration]
    )

    static let fleetAcceptRestore = Command(
        .fleetAcceptRestore,
        summary: "Confirm that a restored database is to be used",
        description: [
            "A database that came from a backup has forgotten rights that were granted since, so it "
                + "grants none until a person has said this. First make sure that the earlier "
                + "database is gone, for all gateways. Rights are granted again after a wait, in "
                + "which a gateway that works by a forgotten right gives its modules back, and after "
                + "every gateway of the last month has reported again what it did: its next run does "
                + "that first. 'fleet check' names those that have not; 'gateway forget' is for a "
                + "machine that is gone for good."
        ],
        flags: common,
        examples: [
            Example("yardmaster fleet accept-restore", "After pg_restore, as an operator.")
        ],
        exitCodes: [.inputMissing, .unavailable, .configuration]
    )

    static let gateways = Command(
        .gateways,
        summary: "Show the gateways of a fleet",
        description: [
            "Lists who is at work on the fleet in PostgreSQL: program, last sign of life, clock, adapters, "
                + "how many modules it has the right to of as many as it can work with at once, and what it has "
                + "to report. Ended ones are listed for a week.",
            "With --metrics the last start of each is printed for the textfile collector of Prometheus, "
                + "on any machine that reaches the database.",
        ],
        flags: [.gatewayMetrics] + common,
        examples: [
            Example("yardmaster gateways", "By the address in /etc/yardmaster/fleet.conf."),
            Example(
                "yardmaster gateways --metrics > fleet.prom.new && mv fleet.prom.new fleet.prom",
                "Each minute, in the folder of the node exporter."
            ),
        ],
        exitCodes: [.inputMissing, .unavailable, .configuration]
    )

    static let gatewayDrain = Command(
        .gatewayDrain,
        summary: "Let a gateway finish what it has and begin nothing more",
        description: [
            "For a gateway that is to be upgraded or moved while a rollout goes on. Its run finishes the "
                + "vehicles that it works on, begins no others, and ends; the other gateways take what "
                + "is left and do not wait for it. Its next run takes part again. Any machine "
                + "that reaches the fleet's database can say this, as an operator.",
            "A gateway that is not at work is refused with 64: there is nothing to drain, or nobody "
                + "knows whether it still works.",
        ],
        arguments: [
            Argument("GATEWAY", .text, help: "The name of the gateway, as `gateways` lists it.")
        ],
        flags: common,
        examples: [
            Example("yardmaster gateway drain north-1", "Before the machine north-1 is upgraded.")
        ],
        exitCodes: [.inputMissing, .unavailable, .configuration]
    )

    static let gatewayForget = Command(
        .gatewayForget,
        summary: "Wait no longer for what a gateway has not reported",
        description: [
            "When another server or a backup takes over the fleet's database, some of what gateways have done may "
                + "be forgotten there. Nothing is granted before each gateway has reported it again. This says "
                + "that a machine will not: it is broken or gone. What it may have done since then is known "
                + "to nobody, so look at the vehicles it worked on first. Needs the rights of an operator."
        ],
        arguments: [
            Argument("GATEWAY", .text, help: "The name of the gateway, as `fleet check` has it.")
        ],
        flags: common,
        examples: [
            Example("yardmaster gateway forget north-1", "The machine north-1 has burnt down.")
        ],
        exitCodes: [.inputMissing, .unavailable, .configuration]
    )
}

extension Flag {
    static let fleetAddress = Flag(
        "fleet",
        value: Value("ADDRESS", .text),
        help:
            "The fleet's PostgreSQL, as in postgresql://USER@HOST:PORT,HOST/DATABASE. A password is "
            + "never part of it: ?passfile=FILE names a password file, or the service manager hands "
            + "over the credential fleet-password.",
        fallback: "$YARDMASTER_FLEET, else /etc/yardmaster/fleet.conf"
    )

    static let fleetOfStatus = Flag(
        "fleet",
        value: Value("ADDRESS", .text),
        help: "Show the fleet in this PostgreSQL instead, as 'fleet status' does."
    )

    fileprivate static let gatewayMetrics = Flag(
        "metrics",
        help: "Print metrics for Prometheus instead of the table."
    )

    fileprivate static let keptBeginnings = Flag(
        "keep",
        value: Value("N", .whole),
        help: "How many beginnings of each rollout stay, the one that is on among them.",
        fallback: "3"
    )

    fileprivate static let olderThan = Flag(
        "older-than",
        value: Value("TIME", .duration),
        help: "Drop nothing that is newer, such as 365d.",
        fallback: "90d"
    )

    fileprivate static let archive = Flag(
        "archive",
        value: Value("FILE", .file),
        help: "Add what is dropped to this file first, as JSON lines."
    )

    fileprivate static let dryRun = Flag(
        "dry-run",
        help: "Change nothing, and say how many rows would be dropped."
    )

    fileprivate static let fleetStatements = Flag(
        "sql",
        help: "Change nothing, and print the statements."
    )
}

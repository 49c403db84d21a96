extension Command {
    private static let common: [any FlagRow] = [fleetAddress, json, quiet, noColor, wide]

    static let fleetCreate = Command(
        .fleetCreate,
        summary: "Set up PostgreSQL on this machine for a fleet of gateways",
        description: [
            "As root on the server, it makes the database `yardmaster` with its owner, tables and roles, "
                + "a certificate for TLS unless the server has its own, and a rule in pg_hba.conf, makes "
                + "the server listen to other machines, and prints what it did. It can be repeated.",
            "With --fleet and without --host it only creates the tables in an existing database, which "
                + "belong to the database's owner, and the roles if this user is permitted to. With --sql it "
                + "changes nothing and prints the statements, for the administrator of the server.",
        ],
        flags: [serverNames, fleetStatements] + common,
        examples: [
            Example("yardmaster fleet create --host db.example", "Once for each fleet, as root."),
            Example("yardmaster fleet create --sql", "What it would do."),
        ],
        exitCodes: [.inputMissing, .unavailable, .cannotWrite, .configuration]
    )

    static let fleetInvite = Command(
        .fleetInvite,
        summary: "Invite a gateway to the fleet",
        description: [
            "Makes a user of the database for the gateway and prints one line of text that 'fleet join' "
                + "takes on the gateway's machine. Anyone with the line can join in the gateway's place, "
                + "once, until it expires: treat it as a password. An invitation that was not used is "
                + "replaced by the next one."
        ],
        arguments: [
            Argument(.text("NAME"), help: "The gateway's: letters, digits, '-', '_' and '.'.")
        ],
        flags: [renew, asOperator, invitationLifetime] + common,
        examples: [
            Example("yardmaster fleet invite north-1 > north-1.token", "As root on the server.")
        ],
        exitCodes: [.inputMissing, .unavailable, .configuration]
    )

    static let fleetJoin = Command(
        .fleetJoin,
        summary: "Make this machine a gateway of a fleet",
        description: [
            "Takes an invitation, verifies the server's certificate, and writes fleet.conf, the server's "
                + "authority and a new password, which only this machine has, for the user yardmaster. It "
                + "can be repeated after an interruption. An invitation that is damaged, has expired or was "
                + "used on another machine ends with 78."
        ],
        arguments: [
            Argument(
                .invitation("TOKEN"),
                help:
                    "The invitation; '-' reads it from standard input, where no other user sees it."
            )
        ],
        flags: [replace, joinFolder, json, quiet, noColor, wide],
        examples: [
            Example(
                "yardmaster fleet join -",
                "As root on the gateway; paste the line, or add < north-1.token."
            )
        ],
        exitCodes: [.inputMissing, .unavailable, .cannotWrite, .configuration]
    )

    static let fleetCheck = Command(
        .fleetCheck,
        summary: "Check whether the fleet's database can be used",
        description: [
            "Reports which server answers and how, whether the tables match this program, "
                + "what this user may do, whether rights to modules may be granted, and how far "
                + "this machine's clock is off, with a remedy for each fault. It changes "
                + "nothing, except that it records when another server took over."
        ],
        flags: common,
        examples: [
            Example(
                "yardmaster fleet check --fleet "
                    + "postgresql://north-1@db1.example,db2.example/yardmaster",
                "Whether a gateway can work there; of two servers, the one that accepts writes."
            )
        ],
        exitCodes: [.inputMissing, .unavailable, .configuration]
    )

    static let fleetStatus = Command(
        .fleetStatus,
        summary: "Show where a fleet's rollouts stand, over all gateways",
        description: [
            "The same as 'status' on a machine that belongs to the fleet, but from the fleet's database "
                + "alone: no journal is read, and when no server answers it ends with 69."
        ],
        flags: [rollout, limit, report] + common,
        examples: [
            Example("yardmaster fleet status --rollout tallinn-4.12", "One rollout."),
            Example("yardmaster fleet status --quiet", "Only vehicles that need attention."),
        ],
        exitCodes: [
            .inputMissing, .unavailable, .cannotCreate, .cannotWrite, .configuration,
        ]
    )

    static let fleetUpgrade = Command(
        .fleetUpgrade,
        summary: "Upgrade the tables of a fleet to this program's version",
        description: [
            "Changes the tables in one transaction, or not at all. No other command "
                + "changes them. Upgrade the tables when all gateways have the new program, or "
                + "as its release notes state; a program that is too old for the tables reports "
                + "this and ends with 78."
        ],
        flags: [fleetStatements] + common,
        examples: [Example("yardmaster fleet upgrade", "After a new version was installed.")],
        exitCodes: [.inputMissing, .unavailable, .configuration]
    )

    static let fleetPrune = Command(
        .fleetPrune,
        summary: "Delete old rows from a fleet's database",
        description: [
            "Deletes rows of past beginnings of a rollout, of ended orders, of old "
                + "verdicts that later ones have followed, and of old requests by people. Rows "
                + "that are owed, in doubt, set by people, or count towards a gate or a "
                + "quarantine are kept, and so is every right with its epoch, whatever its age. "
                + "Rows are deleted in transactions of a thousand, so a run may be active.",
            "With --archive each row is added to a file first, as one JSON object per "
                + "line with its table, and is on the disk before it is deleted. If the command "
                + "is killed in between, its last lines may be in the file twice.",
            "Only the owner of the tables may delete them.",
        ],
        flags: [keptBeginnings, olderThan, archive, dryRun] + common,
        examples: [
            Example("yardmaster fleet prune --dry-run", "How many rows would be deleted."),
            Example(
                "yardmaster fleet prune --older-than 365d --archive /srv/fleet-2025.jsonl",
                "Each month, as the owner."
            ),
        ],
        exitCodes: [.inputMissing, .unavailable, .cannotCreate, .cannotWrite, .configuration]
    )

    static let fleetAcceptRestore = Command(
        .fleetAcceptRestore,
        summary: "Confirm the use of a restored database",
        description: [
            "A database from a backup does not contain the rights that were granted "
                + "since, so it grants none until a person runs this command. First make sure "
                + "that the earlier database is gone, for all gateways. Rights are granted "
                + "again after a wait, in which a gateway with a lost right releases its "
                + "modules, and after every gateway of the last month has reported again what "
                + "it did: its next run does that first. 'fleet check' lists those that have "
                + "not; 'gateway forget' is for a machine that is permanently gone."
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
            "Lists the gateways that work on the fleet in PostgreSQL: program, last sign "
                + "of life, clock, adapters, how many modules each has the right to and how "
                + "many it can work with at the same time, and what it has to report. Gateways "
                + "that have ended are listed for a week.",
            "With --metrics figures of the last start of each gateway are printed for the "
                + "textfile collector of Prometheus, on any machine that reaches the database.",
        ],
        flags: [gatewayMetrics] + common,
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
        summary: "Let a gateway finish its work and begin nothing more",
        description: [
            "For a gateway that must be upgraded or moved during a rollout. Its run "
                + "finishes the vehicles that it works on, begins no others, and ends; the "
                + "other gateways take over the rest and do not wait for it. Its next run takes "
                + "part again. An operator can run this command on any machine that reaches the "
                + "fleet's database.",
            "A gateway that is not active is refused with 64: there is nothing to drain, "
                + "or it is unknown whether the gateway still works.",
        ],
        arguments: [
            Argument(.text("GATEWAY"), help: "The name of the gateway, as `gateways` lists it.")
        ],
        flags: common,
        examples: [
            Example("yardmaster gateway drain north-1", "Before the machine north-1 is upgraded.")
        ],
        exitCodes: [.inputMissing, .unavailable, .configuration]
    )

    static let gatewayForget = Command(
        .gatewayForget,
        summary: "Stop waiting for the report of a gateway",
        description: [
            "When another server or a backup takes over the fleet's database, some work "
                + "of the gateways may be missing there. No right is granted before each "
                + "gateway has reported its work again. This command records that a machine "
                + "never will, because it is broken or gone. Its unreported work is then "
                + "unknown, so first check the vehicles that it worked on. Requires the rights "
                + "of an operator."
        ],
        arguments: [
            Argument(.text("GATEWAY"), help: "The name of the gateway, as `fleet check` lists it.")
        ],
        flags: common,
        examples: [
            Example("yardmaster gateway forget north-1", "The machine north-1 has burnt down.")
        ],
        exitCodes: [.inputMissing, .unavailable, .configuration]
    )
}

extension Command {
    package static let fleetAddress = Flag(
        "fleet",
        .text("ADDRESS"),
        help:
            "The fleet's PostgreSQL, as in postgresql://USER@HOST:PORT,HOST/DATABASE. A "
            + "password is never part of it: ?passfile=FILE names a password file, or the "
            + "service manager provides the credential fleet-password.",
        fallback: "$YARDMASTER_FLEET, else /etc/yardmaster/fleet.conf"
    )

    package static let journal = Flag(
        "journal",
        help: "Read only this machine's journal, even if the machine belongs to a fleet."
    )

    package static let gatewayMetrics = Flag(
        "metrics",
        help: "Print metrics for Prometheus instead of the table."
    )

    package static let keptBeginnings = Flag(
        "keep",
        .count("N"),
        help: "How many beginnings of each rollout to keep, including the current one.",
        standard: "3"
    )

    package static let olderThan = Flag(
        "older-than",
        .duration("TIME"),
        help: "Delete only rows that are older than this, such as 365d.",
        standard: "90d"
    )

    package static let archive = Flag(
        "archive",
        .file("FILE"),
        help: "Add the deleted rows to this file first, as JSON lines."
    )

    package static let dryRun = Flag(
        "dry-run",
        help: "Change nothing, and print how many rows would be deleted."
    )

    package static let serverNames = Flag(
        "host",
        .text("NAMES"),
        help: "The name or address by which gateways reach this server; several with commas.",
        fallback: "this machine's name"
    )

    package static let renew = Flag(
        "renew",
        help: "Give a gateway that has joined a new password; its present one ends at once."
    )

    package static let asOperator = Flag(
        "operator",
        help: "Let people on the gateway's machine pause, resume, abort and retry, too."
    )

    package static let invitationLifetime = Flag(
        "valid",
        .duration("TIME"),
        help: "How long the invitation can be used.",
        standard: "24h"
    )

    package static let replace = Flag(
        "replace",
        help: "Leave the fleet that fleet.conf names; the file is kept as fleet.conf.before."
    )

    package static let joinFolder = Flag(
        "folder",
        .directory("DIR"),
        help: "Where to write the files. The program itself reads only the default.",
        standard: "/etc/yardmaster"
    )

    package static let fleetStatements = Flag(
        "sql",
        help: "Change nothing, and print the statements."
    )
}

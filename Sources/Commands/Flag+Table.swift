extension Flag {
    static let help = Flag("help", short: "h", help: "Show this help.")

    static let state = Flag(
        "state",
        value: Value("DIR", .directory),
        help: "Directory of the journal, the lock and the image store.",
        fallback: "$STATE_DIRECTORY, else $XDG_STATE_HOME/yardmaster, "
            + "else ~/.local/state/yardmaster"
    )

    static let forget = Flag(
        "forget",
        value: Value("ROLLOUT", .rollout),
        help: "End this rollout's need for its images; the name is that in its manifest.",
        isRepeatable: true
    )

    static let json = Flag(
        "json",
        help: "Write the result as one JSON document on standard output."
    )

    static let api = Flag(
        "api",
        help: "Print the description of the interface for programs (OpenAPI 3.1)."
    )

    static let events = Flag(
        "events",
        value: Value("FILE", .fileOrStream),
        help: "Append all events to FILE, one JSON object per line; '-' writes them to standard "
            + "output, and the result then goes to standard error."
    )

    static let report = Flag(
        "report",
        value: Value("FILE", .fileEnding([".html", ".xml", ".csv", ".json", ".prom"])),
        help: "Write a report to FILE; a run writes it when it has ended. The ending of its name "
            + "selects the format: .html (for people, one file), .xml (JUnit), .csv, .json, or "
            + ".prom (metrics for Prometheus's textfile collector).",
        isRepeatable: true
    )

    static let limit = Flag(
        "limit",
        value: Value("VEHICLES", .vehicles),
        help:
            "Take only these vehicles: an id, a pattern with '*' and '?', LABEL=VALUE of the fleet "
            + "list, or how they ended in the last run: @failed, @unreachable, @deferred, @doubt.",
        isRepeatable: true
    )

    static let again = Flag(
        "again",
        help: "Begin the rollout again from the first step, whatever was done: commands are "
            + "carried out once more. This also ends an abort, but not a pause."
    )

    static let sinceTime = Flag(
        "since",
        value: Value("TIME", .text),
        help: "From when on: how long ago, such as 18h or 3d, or a time of the window's zone, such "
            + "as '2026-11-21 18:00'.",
        fallback: "the last noon"
    )

    static let days = Flag(
        "days",
        value: Value("NUMBER", .whole),
        help: "After how many days without an update or a sign of life a vehicle is listed.",
        fallback: "7"
    )

    static let csv = Flag("csv", help: "Write the tasks as a table for spreadsheets.")

    static let html = Flag("html", help: "Write the page as one HTML file that loads nothing.")

    static let mail = Flag(
        "mail",
        value: Value("ADDRESS", .text),
        help: "Write the page as a message to ADDRESS, for 'sendmail -t'."
    )

    static let withoutFiles = Flag(
        "without-files",
        help: "Do not check the keys, tokens, images, time zone and program that the manifest "
            + "names: for machines without them."
    )

    static let known = Flag(
        "manifest",
        value: Value("FILE", .file),
        help: "A manifest whose vehicles may be named before anything has run on them.",
        isRepeatable: true
    )

    static let quiet = Flag(
        "quiet",
        short: "q",
        help: "Print nothing when all is well, and otherwise only the problems."
    )

    static let noColor = Flag(
        "no-color",
        help: "Use no colour. A NO_COLOR variable that is not empty does the same."
    )

    static let simulate = Flag(
        "simulate",
        value: Value("DEPOT.yaml", .file),
        help: "Use the simulated depot of this file instead of Bluetooth: a rehearsal, which "
            + "changes nothing outside its state directory. Without --state that is the one of real "
            + "runs with '-rehearsal' after its name."
    )

    static let notify = Flag(
        "notify",
        help: "Send the notices of this rehearsal too; each says that it is about a rehearsal.",
        needs: "simulate"
    )

    static let bus = Flag(
        "bus",
        value: Value("ADDRESS", .text),
        help: "Find BlueZ on the D-Bus bus at this address.",
        fallback: "$DBUS_SYSTEM_BUS_ADDRESS, else the system bus"
    )

    static let pace = Flag(
        "pace",
        value: Value("X", .positive),
        help: "Let X seconds of the simulation pass in a second.",
        fallback: "as fast as the machine allows",
        needs: "simulate"
    )

    static let seed = Flag(
        "seed",
        value: Value("N", .whole),
        help: "The seed of all random numbers in the simulation; the same seed replays the same "
            + "run.",
        needs: "simulate"
    )

    static let freePace = pace.alone
    static let freeSeed = seed.alone

    static let newState = Flag(
        "state",
        value: Value("DIR", .directory),
        help: "Directory of the rehearsal, in which nothing has run.",
        fallback: "a new one below $TMPDIR or /tmp"
    )

    static let bad = Flag("bad", help: "A part of the vehicles has faults, drawn from the seed.")

    static let servedBus = Flag(
        "bus",
        value: Value("ADDRESS", .text),
        help: "Serve the depot on the D-Bus bus at this address."
    )

    static let servedAdapter = Flag(
        "adapter",
        value: Value("ADAPTER", .text),
        help: "Serve the depot from this adapter of the host; each module needs its own adapter.",
        isRepeatable: true
    )

    static let servedSeed = Flag(
        "seed",
        value: Value("N", .whole),
        help: "The seed of all random numbers in the simulation.",
        fallback: "the seed in the depot's file"
    )

    static let length = Flag(
        "for",
        value: Value("TIME", .duration),
        help: "How long to listen, such as 5s or 2m.",
        fallback: "30s"
    )

    static let watchLength = Flag(
        "for",
        value: Value("TIME", .duration),
        help: "How long to watch, such as 30s or 2h.",
        fallback: "until interrupted; 30s in a simulated depot"
    )

    static let profiles = Flag(
        "profiles",
        value: Value("DIR", .directory),
        help: "Folder of profiles to use in addition to the built-in ones."
    )

    static let manifest = Flag(
        "manifest",
        value: Value("FILE", .file),
        help: "The manifest that lists the vehicle, with its secret."
    )

    static let property = Flag(
        "property",
        value: Value("NAME", .property),
        help: "Show only this property.",
        isRepeatable: true
    )

    static let reason = Flag(
        "reason",
        value: Value("TEXT", .text),
        help: "The reason, for readers of the report and the status."
    )

    static let clock = Flag(
        "clock-is-right",
        help:
            "The machine's clock is right, although it shows a time before 2026 or before the last run."
    )

    static let depot = Flag(
        "all",
        help: "The whole depot: all vehicles, also those that are added later."
    )

    static let watch = Flag(
        "watch",
        help: "Show the active run continuously, and the next one after it, until Ctrl-C."
    )

    static let rollout = Flag(
        "rollout",
        value: Value("NAME", .rollout),
        help: "The rollout.",
        fallback: "the one that ran last"
    )

    static let last = Flag(
        "last",
        value: Value("N", .whole),
        help: "How many runs to list.",
        fallback: "20"
    )

    static let expiry = Flag(
        "for",
        value: Value("TIME", .duration),
        help: "How long it applies, such as 90m or 2d.",
        fallback: "until it is lifted"
    )

    static let metadataDirectory = Flag(
        "metadata-dir",
        value: Value("DIR", .directory),
        help: "Directory of the repository's trusted documents."
    )

    static let metadataURL = Flag(
        "metadata-url",
        value: Value("URL", .text),
        help: "URL of the repository's documents: http, https or file."
    )

    static let targetName = Flag(
        "target-name",
        value: Value("NAME", .text),
        help: "A target to download, by its name in the repository.",
        isRepeatable: true
    )

    static let targetBaseURL = Flag(
        "target-base-url",
        value: Value("URL", .text),
        help: "URL of the repository's targets: http, https or file."
    )

    static let targetDirectory = Flag(
        "target-dir",
        value: Value("DIR", .directory),
        help: "Directory for verified files."
    )

    static let key = Flag(
        "key",
        value: Value("KEY", .file),
        help: "Public key of minisign that must have signed the bundle: its file, or the line "
            + "itself.",
        isRepeatable: true
    )

    static let threshold = Flag(
        "threshold",
        value: Value("N", .whole),
        help: "How many of the keys must have signed the bundle.",
        fallback: "all of them",
        needs: "key"
    )

    static let older = Flag(
        "older",
        help: "Take over a bundle that is older than the newest one of its rollout and key.",
        needs: "reason"
    )

    static let olderReason = Flag(
        "reason",
        value: Value("TEXT", .text),
        help: "Why the older bundle is taken over, for the journal.",
        needs: "older"
    )

    static let since = Flag(
        "since",
        value: Value("BUNDLE", .file),
        help: "Leave out the images of this bundle, for a depot that has taken it over."
    )

    static let bundleFolder = Flag(
        "from",
        value: Value("DIR", .directory),
        help: "Apply every bundle in this folder instead of a named one."
    )

    static let watchedFolder = Flag(
        "watch",
        value: Value("DIR", .directory),
        help: "Print the units that apply bundles as they arrive in this folder."
    )

    static let recordKey = Flag(
        "key",
        value: Value("KEY", .file),
        help: "For reset: the public key of the record, as its file or as the line itself."
    )

    static let repository = Flag(
        "repository",
        value: Value("NAME", .text),
        help: "For reset: the repository of the record, by its name in the manifest."
    )

    static let recordReason = Flag(
        "reason",
        value: Value("TEXT", .text),
        help: "For reset: the reason, which is recorded."
    )
}

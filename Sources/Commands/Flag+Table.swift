extension Command {
    package static let state = Flag(
        "state",
        .directory("DIR"),
        help: "Directory of the journal, the lock and the image store.",
        fallback: "$STATE_DIRECTORY, else $XDG_STATE_HOME/yardmaster, "
            + "else ~/.local/state/yardmaster"
    )

    package static let forget = Flag(
        repeatable: "forget",
        .rollout("ROLLOUT"),
        help: "End this rollout's need for its images; the name is that in its manifest."
    )

    package static let json = Flag(
        "json",
        help: "Write the result as one JSON document on standard output."
    )

    package static let api = Flag(
        "api",
        help: "Print the description of the interface for programs (OpenAPI 3.1)."
    )

    package static let events = Flag(
        "events",
        .file("FILE"),
        help: "Append all events to FILE, one JSON object per line; '-' writes them to standard "
            + "output, and the result then goes to standard error."
    )

    package static let report = Flag(
        repeatable: "report",
        .file("FILE", ending: [".html", ".xml", ".csv", ".json", ".prom"]),
        help: "Write a report to FILE; a run writes it when it has ended. The ending of its name "
            + "selects the format: .html (for people, one file), .xml (JUnit), .csv, .json, or "
            + ".prom (metrics for Prometheus's textfile collector)."
    )

    package static let limit = Flag(
        repeatable: "limit",
        .vehicles("VEHICLES"),
        help:
            "Take only these vehicles: an id, a pattern with '*' and '?', LABEL=VALUE of the fleet "
            + "list, or how they ended in the last run: @failed, @unreachable, @deferred, @doubt."
    )

    package static let again = Flag(
        "again",
        help: "Begin the rollout again from the first step, whatever was done: commands are "
            + "carried out once more. This also ends an abort, but not a pause."
    )

    package static let savedPlan = Flag(
        "save",
        .file("FILE"),
        help: "Write the plan to FILE, for people who have to approve it; nothing is carried out."
    )

    package static let approved = Flag(
        "approved",
        .file("FILE"),
        help: "The saved plan that was approved, with its signatures beside it.",
        fallback: "for 'run', the manifest's path with '.plan' at its end"
    )

    package static let signingKey = Flag(
        "key",
        .file("KEY"),
        help: "The secret key: a file of OpenSSH or of minisign; or the .pub file of a key that "
            + "ssh-agent has."
    )

    static let sinceTime = Flag(
        "since",
        .text("TIME"),
        help: "From when on: how long ago, such as 18h or 3d, or a time of the window's zone, such "
            + "as '2026-11-21 18:00'.",
        fallback: "the last noon"
    )

    package static let days = Flag(
        "days",
        .count("NUMBER"),
        help: "After how many days without an update or a sign of life a vehicle is listed.",
        standard: "7"
    )

    package static let csv = Flag("csv", help: "Write the tasks as a table for spreadsheets.")

    package static let fleetRows = Flag(
        "csv",
        help: "Write the modules as rows of a fleet list on standard output."
    )

    package static let html = Flag(
        "html",
        help: "Write the page as one HTML file that loads nothing."
    )

    package static let mail = Flag(
        "mail",
        .text("ADDRESS"),
        help: "Write the page as a message to ADDRESS, for 'sendmail -t'."
    )

    package static let withoutFiles = Flag(
        "without-files",
        help: "Do not check the keys, tokens, images, time zone and program that the manifest "
            + "names: for machines without them."
    )

    package static let known = Flag(
        repeatable: "manifest",
        .file("FILE"),
        help: "A manifest whose vehicles may be named before anything has run on them."
    )

    package static let quiet = Flag(
        "quiet",
        short: "q",
        help: "Print nothing when all is well, and otherwise only the problems."
    )

    package static let noColor = Flag(
        "no-color",
        help: "Use no colour. A NO_COLOR variable that is not empty does the same."
    )

    package static let wide = Flag(
        "wide",
        help: "Do not wrap long lines at the width of the terminal."
    )

    package static let simulated = Flag(
        "simulate",
        .file("DEPOT.yaml"),
        help: "Use the simulated depot of this file instead of Bluetooth: a rehearsal, which "
            + "changes nothing outside its state directory. Without --state that is the one of real "
            + "runs with '-rehearsal' after its name."
    )

    package static let notify = Flag(
        "notify",
        help: "Send the notices of this rehearsal too; each says that it is about a rehearsal.",
        needs: "simulate"
    )

    package static let bus = Flag(
        "bus",
        .text("ADDRESS"),
        help: "Find BlueZ on the D-Bus bus at this address.",
        fallback: "$DBUS_SYSTEM_BUS_ADDRESS, else the system bus"
    )

    package static let pace = Flag(
        "pace",
        .positive("X"),
        help: "Let X seconds of the simulation pass in a second.",
        fallback: "as fast as the machine allows",
        needs: "simulate"
    )

    package static let seed = Flag(
        "seed",
        .whole("N"),
        help: "The seed of all random numbers in the simulation; the same seed replays the same "
            + "run.",
        needs: "simulate"
    )

    static let freePace = pace.alone
    static let freeSeed = seed.alone

    static let newState = Flag(
        "state",
        .directory("DIR"),
        help: "Directory of the rehearsal, in which nothing has run.",
        fallback: "a new one below $TMPDIR or /tmp"
    )

    package static let bad = Flag(
        "bad",
        help: "A part of the vehicles has faults, drawn from the seed."
    )

    static let servedBus = Flag(
        "bus",
        .text("ADDRESS"),
        help: "Serve the depot on the D-Bus bus at this address."
    )

    package static let servedAdapter = Flag(
        repeatable: "adapter",
        .text("ADAPTER"),
        help: "Serve the depot from this adapter of the host; each module needs its own adapter."
    )

    static let servedSeed = Flag(
        "seed",
        .whole("N"),
        help: "The seed of all random numbers in the simulation.",
        fallback: "the seed in the depot's file"
    )

    package static let length = Flag(
        "for",
        .duration("TIME"),
        help: "How long to listen, such as 5s or 2m.",
        standard: "30s"
    )

    package static let watchLength = Flag(
        "for",
        .duration("TIME"),
        help: "How long to watch, such as 30s or 2h.",
        fallback: "until interrupted; 30s in a simulated depot"
    )

    package static let profiles = Flag(
        "profiles",
        .directory("DIR"),
        help: "Folder of profiles to use in addition to the built-in ones."
    )

    package static let manifest = Flag(
        "manifest",
        .file("FILE"),
        help: "The manifest that lists the vehicle, with its secret."
    )

    package static let property = Flag(
        repeatable: "property",
        .property("NAME"),
        help: "Show only this property."
    )

    package static let reason = Flag(
        "reason",
        .text("TEXT"),
        help: "The reason, for readers of the report and the status."
    )

    package static let clockIsRight = Flag(
        "clock-is-right",
        help:
            "The machine's clock is right, although it shows a time before 2026 or before the last run."
    )

    package static let wholeDepot = Flag(
        "all",
        help: "The whole depot: all vehicles, also those that are added later."
    )

    package static let watches = Flag(
        "watch",
        help: "Show the active run continuously, and the next one after it, until Ctrl-C."
    )

    package static let rollout = Flag(
        "rollout",
        .rollout("NAME"),
        help: "The rollout.",
        fallback: "the one that ran last"
    )

    package static let last = Flag(
        "last",
        .count("N"),
        help: "How many runs to list.",
        standard: "20"
    )

    package static let expiry = Flag(
        "for",
        .duration("TIME"),
        help: "How long it applies, such as 90m or 2d.",
        fallback: "until it is lifted"
    )

    package static let until = Flag(
        "until",
        .text("TIME"),
        help:
            "When it ends, instead of --for: the next such time in the zone of the last rollout's "
            + "window, such as '18:00', 'fri 18:00', '12-24' or '2026-12-24 18:00'."
    )

    package static let metadataDirectory = Flag(
        "metadata-dir",
        .directory("DIR"),
        help: "Directory of the repository's trusted documents."
    )

    package static let metadataURL = Flag(
        "metadata-url",
        .text("URL"),
        help: "URL of the repository's documents: http, https or file."
    )

    package static let targetName = Flag(
        repeatable: "target-name",
        .text("NAME"),
        help: "A target to download, by its name in the repository."
    )

    package static let targetBaseURL = Flag(
        "target-base-url",
        .text("URL"),
        help: "URL of the repository's targets: http, https or file."
    )

    package static let targetDirectory = Flag(
        "target-dir",
        .directory("DIR"),
        help: "Directory for verified files."
    )

    package static let key = Flag(
        repeatable: "key",
        .file("KEY"),
        help: "Public key of minisign that must have signed the bundle: its file, or the line "
            + "itself."
    )

    package static let threshold = Flag(
        "threshold",
        .whole("N"),
        help: "How many of the keys must have signed the bundle.",
        fallback: "all of them",
        needs: "key"
    )

    package static let older = Flag(
        "older",
        help: "Take over a bundle that is older than the newest one of its rollout and key.",
        needs: "reason"
    )

    static let olderReason = Flag(
        "reason",
        .text("TEXT"),
        help: "Why the older bundle is taken over, for the journal.",
        needs: "older"
    )

    package static let since = Flag(
        "since",
        .file("BUNDLE"),
        help: "Leave out the images of this bundle, for a depot that has taken it over."
    )

    package static let bundleFolder = Flag(
        "from",
        .directory("DIR"),
        help: "Apply every bundle in this folder instead of a named one."
    )

    package static let watchedFolder = Flag(
        "watch",
        .directory("DIR"),
        help: "Print the units that apply bundles as they arrive in this folder."
    )

    package static let recordKey = Flag(
        "key",
        .file("KEY"),
        help: "For reset: the public key of the record, as its file or as the line itself."
    )

    package static let repository = Flag(
        "repository",
        .text("NAME"),
        help: "For reset: the repository of the record, by its name in the manifest."
    )

    static let recordReason = Flag(
        "reason",
        .text("TEXT"),
        help: "For reset: the reason, which is recorded."
    )
}

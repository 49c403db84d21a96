extension Command {
    static let systemdPrint = Command(
        .systemdPrint,
        summary: "Print the systemd units of a nightly run",
        description: [
            "Prints a service and a timer. Without a manifest they are templates: "
                + "'yardmaster@NAME.timer' runs /etc/yardmaster/NAME.yaml every night. With one they "
                + "are made for it: the timer begins when its window opens, in its time zone, and "
                + "the service is given the credentials that its fleet list names.",
            "Nothing is installed. The service runs as the user 'yardmaster', sees only "
                + "its own files, ends at a safe point when it is stopped, and counts as failed "
                + "only when a person should check.",
            "With --server NAME the service takes each night's work from that update server first, "
                + "with 'yardmaster sync', and tells it the results afterwards. A server that does not "
                + "answer stops no night; with no work there is no run. The user 'yardmaster' must be "
                + "able to write in the manifest's folder.",
            "With --watch it prints a path unit and its service instead: 'bundle apply' "
                + "takes over every bundle that arrives in the folder and is signed by the "
                + "given keys.",
        ],
        arguments: [
            Argument(.file("MANIFEST"), .atMostOne, help: "The fleet manifest to make them for.")
        ],
        flags: [
            unit, program, server, watchedFolder, targetDirectory, key, threshold, profiles, json,
            quiet, noColor, wide,
        ],
        examples: [
            Example("yardmaster systemd print tallinn.yaml", "Shows both."),
            Example(
                "yardmaster systemd print --unit timer > /etc/systemd/system/yardmaster@.timer",
                "Installs a template by hand."
            ),
            Example(
                "yardmaster systemd print --watch /srv/bundles --target-dir /srv/rollouts --key "
                    + "/etc/yardmaster/office.pub",
                "For bundles that people copy there."
            ),
        ],
        exitCodes: [.invalidManifest, .inputMissing, .configuration]
    )
}

extension Command {
    package static let unit = Flag(
        "unit",
        .words(
            "KIND",
            [
                "service", "timer", "path", "failure", "notify-service", "notify-timer",
                "serve-socket", "serve-service",
            ]
        ),
        help:
            "Print only one: service or timer, with --watch service or path; failure, "
            + "which sends a notice when a service of this program has failed; "
            + "notify-service and notify-timer, which send notices again that did not "
            + "arrive; serve-socket and serve-service, which show the rollouts to browsers.",
        fallback: "both, each after a line with its path"
    )

    package static let program = Flag(
        "program",
        .file("PATH"),
        help: "Where the program will be.",
        fallback: "where it is now"
    )
}

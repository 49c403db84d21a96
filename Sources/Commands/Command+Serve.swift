extension Command {
    static let serve = Command(
        .serve,
        summary: "Show the rollouts of this machine to browsers",
        description: [
            "Serves pages over HTTP until it is interrupted: the rollouts with their waves and "
                + "gates, the vehicles with search and filter, one vehicle's story over all nights, "
                + "what is to be done in the morning, and the history. They follow a run as it goes on, "
                + "can be read without script and on a phone, and load nothing from elsewhere. "
                + "Programs find the documents of --json below /api/v1, metrics at /metrics, and "
                + "/healthz.",
            "It serves only on the loopback or on a unix socket, and a web server in "
                + "front of it gives others access. A socket from systemd is used instead, if "
                + "there is one. No run waits for it.",
            "On a machine that belongs to a fleet on PostgreSQL the pages show the work of all "
                + "gateways, and the metrics have the fleet's figures. While no server answers they "
                + "show what the journal has, and say so.",
            "A list of tokens, which is access.yaml in the state directory or --access, says who "
                + "may look, and who may also pause, resume, abort, retry, inhibit, uninhibit "
                + "and clear; each act is recorded with its author. With --open and no list there is no "
                + "login: everybody who reaches it may look, and nothing can be changed. Without a list "
                + "and without --open nothing is served.",
        ],
        flags: [
            state, fleetAddress, journal, listen, host, access, open, quiet, noColor, wide,
        ],
        examples: [
            Example("yardmaster serve --open", "The pages are at http://127.0.0.1:8750/."),
            Example(
                "yardmaster serve --listen unix:/run/yardmaster/serve.sock",
                "For a web server on the same machine."
            ),
            Example(
                "yardmaster serve --host depot.example.com",
                "Behind a web server that passes on the requested host name."
            ),
        ],
        exitCodes: [.unavailable, .configuration, .interrupted, .terminated]
    )
}

extension Command {
    package static let listen = Flag(
        repeatable: "listen",
        .text("ADDRESS"),
        help: "Serve here: ADDRESS:PORT of the loopback, or unix:PATH.",
        fallback: "127.0.0.1:8750"
    )

    package static let access = Flag(
        "access",
        .file("FILE"),
        help: "Give access only to the people in this list.",
        fallback: "access.yaml in the state directory"
    )

    package static let open = Flag(
        "open",
        help: "Let everybody look where there is no list of tokens."
    )

    package static let host = Flag(
        repeatable: "host",
        .text("NAME"),
        help: "Also answer to this name, in addition to localhost: the name that browsers request."
    )
}

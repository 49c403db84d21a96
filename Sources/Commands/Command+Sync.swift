extension Command {
    static let sync = Command(
        .sync,
        summary: "Take the work of a night from an update server, and report to it",
        description: [
            "Acts at a hawkBit server (Direct Device Integration) for all vehicles of a manifest, of "
                + "which each is a controller there: tells it how the actions of earlier nights have "
                + "ended, and takes new ones. Each file is downloaded once, whatever the number of "
                + "vehicles. The server and its files are described in /etc/yardmaster/servers.yaml, "
                + "or in servers.yaml of the state directory.",
            "What the night is to do is written beside the manifest: tallinn.yaml becomes "
                + "tallinn.servers.yaml, with the vehicles that have an action, each with its image. "
                + "'yardmaster run --again tallinn.servers.yaml' does it. No vehicle is touched here. "
                + "With nothing to do, that file is removed.",
            "An action is closed as a success only when its module has reported the version, and as a "
                + "failure only when it has failed for good; a vehicle that nobody reached stays open. "
                + "A cancellation is accepted while nothing was sent to the module.",
        ],
        arguments: [manifestFile],
        flags: [server, state, fleetAddress, profiles, json, quiet, noColor, wide],
        examples: [
            Example("yardmaster sync tallinn.yaml", "Before the night, and after it."),
            Example("yardmaster sync --server office tallinn.yaml", "One of several servers."),
        ],
        exitCodes: [
            .invalidManifest, .inputMissing, .unavailable, .cannotCreate, .cannotWrite, .busy,
            .trustRefused, .configuration, .interrupted, .terminated,
        ]
    )

    package static let server = Flag(
        "server",
        .text("NAME"),
        help: "The server, where servers.yaml names several."
    )
}

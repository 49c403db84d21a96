extension Command {
    static let fetch = Command(
        .fetch,
        summary: "Bring the images of a manifest into the store",
        description: [
            "Fetches every image that the manifest's steps need and the store does not have, "
                + "several at once, and verifies each: what does not have the digest that the "
                + "manifest promises is not kept. No vehicle is touched. A run does the same "
                + "before its first radio packet; with the images in the store it needs no "
                + "network.",
            "What arrived of an image is kept when the network fails: the next fetch goes on "
                + "there. Mirrors are tried in the manifest's order. Two processes may fetch into "
                + "one store; each image is fetched once. A proxy is taken from https_proxy, "
                + "http_proxy and no_proxy, or from the manifest's 'fetch'.",
            "The last line is such as 'fetched=2 present=1 failed=0 exit=0'.",
        ],
        arguments: [
            Argument("MANIFEST", .file, help: "The fleet manifest, a YAML or JSON file.")
        ],
        flags: [.state, .profiles, .json, .quiet, .noColor],
        examples: [
            Example("yardmaster fetch tallinn.yaml", "In the evening, for the run at night."),
            Example(
                "yardmaster fetch --state /srv/yardmaster tallinn.yaml",
                "Into the store of another state directory."
            ),
        ],
        exitCodes: [
            .invalidManifest, .inputMissing, .unavailable, .cannotCreate, .cannotWrite, .busy,
            .trustRefused, .configuration, .interrupted, .terminated,
        ]
    )

    static let imagesList = Command(
        .imagesList,
        summary: "List the images in the store",
        description: [
            "Lists every image in the store with its size, whether it is whole, and the rollouts "
                + "that need it. Nothing is read but the names."
        ],
        flags: [.state, .json, .quiet, .noColor],
        examples: [Example("yardmaster images list", "One line for each image.")],
        exitCodes: [.inputMissing, .cannotCreate, .trustRefused, .configuration]
    )

    static let imagesVerify = Command(
        .imagesVerify,
        summary: "Read every image in the store and check its digest",
        description: [
            "Reads every image in the store and compares it with the digest that is its name. A "
                + "damaged one is reported and left: it is never used, and the next fetch or run "
                + "replaces it."
        ],
        flags: [.state, .json, .quiet, .noColor],
        examples: [Example("yardmaster images verify --quiet", "From cron: exit 77 is bad news.")],
        exitCodes: [.inputMissing, .cannotCreate, .trustRefused, .configuration]
    )

    static let imagesPrune = Command(
        .imagesPrune,
        summary: "Remove the images that no rollout needs",
        description: [
            "Removes every image, whole or not, that no rollout refers to. A rollout refers to the "
                + "images of its manifest from its latest fetch or run on; --forget ends that. What a "
                + "rollout needs that was begun and is not over always stays."
        ],
        flags: [.forget, .state, .json, .quiet, .noColor],
        examples: [
            Example("yardmaster images prune", "Removes what an older manifest had."),
            Example(
                "yardmaster images prune --forget tallinn-4.11",
                "Also what only that rollout needed."
            ),
        ],
        exitCodes: [
            .inputMissing, .cannotCreate, .cannotWrite, .busy, .trustRefused, .configuration,
        ]
    )
}

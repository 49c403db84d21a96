extension Command {
    static let fetch = Command(
        .fetch,
        summary: "Download the images of a manifest into the store",
        description: [
            "Downloads every image that the manifest's steps need and the store does not "
                + "have, several at the same time, and verifies each: an image without the "
                + "digest in the manifest is not kept. No vehicle is touched. A run does the "
                + "same before its first radio packet; with the images in the store it needs no "
                + "network.",
            "If the network fails, the received part of an image is kept, and the next "
                + "fetch continues there. Mirrors are tried in the manifest's order. Two "
                + "processes may download into one store; each image is downloaded once. A "
                + "proxy is taken from https_proxy, http_proxy and no_proxy, or from the "
                + "manifest's 'fetch'.",
            "The last line is such as 'fetched=2 present=1 failed=0 exit=0'.",
        ],
        arguments: [
            manifestFile
        ],
        flags: [state, profiles, json, quiet, noColor, wide],
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
            "Lists every image in the store with its size, whether it is complete, and "
                + "the rollouts that need it. Only the names are read."
        ],
        flags: [state, json, quiet, noColor, wide],
        examples: [Example("yardmaster images list", "One line for each image.")],
        exitCodes: [.inputMissing, .cannotCreate, .trustRefused, .configuration]
    )

    static let imagesVerify = Command(
        .imagesVerify,
        summary: "Read every image in the store and check its digest",
        description: [
            "Reads every image in the store and compares it with the digest that is its "
                + "name. A damaged image is reported and stays: it is never used, and the next "
                + "fetch or run replaces it."
        ],
        flags: [state, json, quiet, noColor, wide],
        examples: [Example("yardmaster images verify --quiet", "From cron: exit 77 is bad news.")],
        exitCodes: [.inputMissing, .cannotCreate, .trustRefused, .configuration]
    )

    static let imagesPrune = Command(
        .imagesPrune,
        summary: "Remove the images that no rollout needs",
        description: [
            "Removes every image, complete or not, that no rollout refers to. A rollout "
                + "refers to the images of its manifest since its latest fetch or run; --forget "
                + "ends that. Images that a begun and unfinished rollout needs always stay."
        ],
        flags: [forget, state, json, quiet, noColor, wide],
        examples: [
            Example("yardmaster images prune", "Removes the images of older manifests."),
            Example(
                "yardmaster images prune --forget tallinn-4.11",
                "Also removes the images that only that rollout needed."
            ),
        ],
        exitCodes: [
            .inputMissing, .cannotCreate, .cannotWrite, .busy, .trustRefused, .configuration,
        ]
    )
}

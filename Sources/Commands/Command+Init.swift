extension Command {
    static let initialise = Command(
        .initialise,
        summary: "Write a first manifest, from a scan, a spreadsheet or nothing",
        description: [
            "Writes a manifest with comments, and beside it a fleet list with a row for each module in range "
                + "(--scan), or with one example; or it names a list that exists (--list). With --image the "
                + "manifest updates the vehicles that the file fits; without one its only step touches nothing. "
                + "On a terminal it asks for what no flag gives.",
            "What it writes is valid for 'validate' as it is. A file that exists is never overwritten: "
                + "then nothing is written.",
        ],
        arguments: [
            Argument(
                .file("MANIFEST"),
                .atMostOne,
                help: "The file to write; its name is that of the rollout. Default: rollout.yaml."
            )
        ],
        flags: [
            scanned, existingList, firstImage, imageVersion, eachSecret, nearby, adapter, profiles,
            bus,
            simulated, pace, seed, json, quiet, noColor, wide,
        ],
        examples: [
            Example("yardmaster init --scan tallinn.yaml", "From the modules in range."),
            Example(
                "yardmaster init --list fleet.csv --image city-4.12.0.zip tallinn.yaml",
                "From a spreadsheet, for an update to this image."
            ),
        ],
        exitCodes: [
            .someMissed, .invalidManifest, .inputMissing, .unavailable, .cannotCreate,
            .trustRefused,
            .interrupted, .terminated,
        ]
    )

    package static let scanned = Flag("scan", help: "List the modules that are in range.")

    package static let existingList = Flag(
        "list",
        .file("FLEET.csv"),
        help: "Name this fleet list in the manifest."
    )

    package static let firstImage = Flag(
        "image",
        .file("FILE"),
        help: "Update the vehicles that this image file fits."
    )

    package static let eachSecret = Flag(
        "secret",
        .text("REFERENCE"),
        help: "The reference to the secret of each module that needs one; ID in it stands for the "
            + "vehicle's id, as in file:keys/ID.key.",
        standard: "credential:module-ID"
    )
}

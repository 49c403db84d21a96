extension Command {
    private static let bundle = Argument(.file("BUNDLE"), help: "The bundle's file.")

    static let bundleCreate = Command(
        .bundleCreate,
        summary: "Put a rollout into one file for a depot without network",
        description: [
            "Downloads and verifies the images of the manifest as a run would, then "
                + "writes them into one file, with the documents of their repositories, their "
                + "signatures, the manifest, the fleet list and the profiles of --profiles. The "
                + "file contains only references to secrets, never their values. Files that the "
                + "manifest names must be in its folder or below."
        ],
        arguments: [
            manifestFile,
            Argument(.file("BUNDLE"), help: "The file to write."),
        ],
        flags: [state, since, profiles, json, quiet, noColor, wide],
        examples: [
            Example("yardmaster bundle create tallinn.yaml tallinn.bundle", "For a stick."),
            Example(
                "yardmaster bundle create --since monday.bundle tallinn.yaml tuesday.bundle",
                "Only the images that are new since Monday."
            ),
        ],
        exitCodes: [
            .invalidManifest, .inputMissing, .unavailable, .cannotCreate, .cannotWrite, .busy,
            .trustRefused, .configuration, .interrupted, .terminated,
        ]
    )

    static let bundleVerify = Command(
        .bundleVerify,
        summary: "Verify a bundle by what this depot trusts",
        description: [
            "Reads every part of the bundle and verifies its images as a run does, with "
                + "the roots and the record of releases in the state directory: a bundle cannot "
                + "prove itself. Nothing is stored, unless --target-dir is given: then the "
                + "images go into the image store, the verified documents into the state "
                + "directory, and the manifest with its files into that directory, from where "
                + "'run' works without a network.",
            "The bundle is taken over completely or not at all. Existing files stay: the "
                + "same bundle can be taken over again, and a bundle with a different file is "
                + "refused. Parts that the manifest does not name are refused, and links are "
                + "not followed.",
            "The manifest is trusted only as far as the file is: with --key the bundle must have "
                + "a signature of minisign beside it, BUNDLE.minisig, by that key. Keys that only "
                + "the manifest in it names count with --key alone; otherwise the depot must know "
                + "them, from a fetch or a run here or from 'trust add'.",
            "A bundle whose manifest starts programs is refused without --key. One that was made "
                + "before the newest one of its rollout and key that was taken over here is "
                + "refused without --older.",
        ],
        arguments: [bundle],
        flags: [
            state, key, threshold, older, olderReason, targetDirectory, json, quiet,
            noColor, wide,
        ],
        examples: [
            Example("yardmaster bundle verify /media/stick/tallinn.bundle", "Stores nothing."),
            Example(
                "yardmaster bundle verify --key depot.pub --target-dir rollout tallinn.bundle",
                "Takes over a bundle that our own office signed."
            ),
        ],
        exitCodes: [
            .invalidManifest, .inputMissing, .cannotCreate, .cannotWrite, .trustRefused,
            .configuration,
        ]
    )

    static let bundleApply = Command(
        .bundleApply,
        summary: "Verify a bundle, take it over and show its plan",
        description: [
            "Does the work of 'bundle verify', 'validate' and 'plan', one after the "
                + "other, and stops at the first error. The files get their own folder in "
                + "--target-dir. A link with the rollout's name points to the latest folder, "
                + "and is changed only when everything is valid, so that a nightly run with the "
                + "manifest behind the link always finds a complete rollout. Secrets beside the "
                + "previous manifest are copied.",
            "With --from every file in that folder whose name ends in '.bundle' is "
                + "applied, in the order of their names, and moved into its folder 'applied', "
                + "or into 'refused' with the reason beside it. Copy a bundle there under "
                + "another name and rename it when it is complete. 'systemd print --watch' "
                + "prints the units that do this automatically.",
        ],
        arguments: [Argument(.file("BUNDLE"), .atMostOne, help: "The bundle's file.")],
        flags: [
            bundleFolder, targetDirectory, key, threshold, older, olderReason, state,
            profiles, json, quiet, noColor, wide,
        ],
        examples: [
            Example(
                "yardmaster bundle apply --key office.pub --target-dir /srv/rollouts "
                    + "/media/stick/tallinn.bundle",
                "Then run /srv/rollouts/NAME/MANIFEST."
            ),
            Example(
                "yardmaster bundle apply --key office.pub --target-dir /srv/rollouts --from "
                    + "/srv/bundles",
                "All bundles in that folder."
            ),
        ],
        exitCodes: [
            .invalidManifest, .inputMissing, .unavailable, .cannotCreate, .cannotWrite, .busy,
            .trustRefused, .configuration,
        ]
    )

    static let bundleCopy = Command(
        .bundleCopy,
        summary: "Copy a bundle part by part, and resume an interrupted copy",
        description: [
            "Copies a bundle and the signatures beside it. Each part is verified before "
                + "it is written. If the copy is interrupted, the copied parts are kept as "
                + "FILE.part: the same command reads and verifies them and copies the rest. The "
                + "copy gets its name when all of it is on the disk, after its signatures."
        ],
        arguments: [
            bundle, Argument(.file("FILE"), help: "The copy, or the folder that gets it."),
        ],
        flags: [json, quiet, noColor, wide],
        examples: [
            Example(
                "yardmaster bundle copy /media/stick/tallinn.bundle /srv/bundles",
                "From a stick."
            )
        ],
        exitCodes: [.inputMissing, .cannotCreate, .cannotWrite, .busy, .trustRefused]
    )

    static let bundleShow = Command(
        .bundleShow,
        summary: "List what is in a bundle",
        description: [
            "Lists the parts of a bundle with their sizes and digests, and the programs that its "
                + "manifest starts. Nothing is verified."
        ],
        arguments: [bundle],
        flags: [json, quiet, noColor, wide],
        examples: [Example("yardmaster bundle show tallinn.bundle", "What is on the stick.")],
        exitCodes: [.inputMissing, .trustRefused],
        isQuick: true
    )
}

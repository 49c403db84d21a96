extension Command {
    static let enrol = Command(
        .enrol,
        summary: "Bring vehicles into service",
        description: [
            "Finds the module of a new vehicle by its serial, by its name, or as the "
                + "strongest one in range that is not listed yet; pairs if its profile requires "
                + "it; gives it its own secret, proves the secret on a new link, reads the "
                + "module's facts, and writes the vehicle's row into the fleet list and its "
                + "secret into a file that only its owner can read.",
            "Every secret that the module could have is on disk before the module can "
                + "have it, and stays there until another one was proven. After an interruption "
                + "at any point, the same command continues; when it is run once more, it "
                + "changes nothing. The previous secret is kept beside the new one, in "
                + "KEY.before.",
            "With --undo the module gets its previous secret back, or is reset where its "
                + "family allows it, and its vehicle is removed from the list; its secret is "
                + "kept in KEY.undone.",
        ],
        arguments: [
            Argument(
                "VEHICLE",
                .vehicles,
                .atMostOne,
                help: "The id of the vehicle in the fleet list, existing or new."
            )
        ],
        flags: [
            list, batch, serial, name, family, profile, oldSecret, passkey, keys, credentials,
            receiver, rotate, undo, search,
            .state, .profiles, .clock, .bus, .simulate, .pace, .seed, .json, .quiet, .noColor,
        ],
        examples: [
            Example(
                "yardmaster enrol --list tallinn.csv --serial 00a0000000000031 "
                    + "--old-secret file:maker.key bike-31",
                "One new bike."
            ),
            Example(
                "yardmaster enrol --list tallinn.csv --batch pallet.csv",
                "All modules in a list of the manufacturer."
            ),
            Example(
                "yardmaster enrol --list tallinn.csv --rotate bike-31",
                "Gives a vehicle of the list another secret."
            ),
        ],
        exitCodes: [
            .someFailed, .someMissed, .invalidManifest, .inputMissing, .unavailable,
            .cannotCreate, .cannotWrite, .busy, .configuration, .interrupted, .terminated,
        ]
    )

    private static let list = Flag(
        "list",
        value: Flag.Value("FLEET.csv", .file),
        help: "The fleet list that gets the vehicle's row: the CSV file that manifests name."
    )

    private static let batch = Flag(
        "batch",
        value: Flag.Value("FILE.csv", .file),
        help:
            "Enrol every row of this file. Its columns are id, serial, family and, "
            + "optionally, profile, old-secret and passkey; others are copied into columns "
            + "of the same name."
    )

    private static let serial = Flag(
        "serial",
        value: Flag.Value("SERIAL", .text),
        help: "The module's serial.",
        fallback: "the strongest module in range that is not listed"
    )

    private static let name = Flag(
        "name",
        value: Flag.Value("NAME", .text),
        help: "The name that the module advertises."
    )

    private static let family = Flag(
        "family",
        value: Flag.Value("FAMILY", .text),
        help: "The module's family.",
        fallback: "comodule"
    )

    private static let profile = Flag(
        "profile",
        value: Flag.Value("NAME", .text),
        help: "The module's profile.",
        fallback: "generic"
    )

    private static let oldSecret = Flag(
        "old-secret",
        value: Flag.Value("REFERENCE", .text),
        help: "The reference to the module's current secret, if it has one: file:PATH, "
            + "credential:NAME or env:NAME."
    )

    private static let passkey = Flag(
        "passkey",
        value: Flag.Value("REFERENCE", .text),
        help: "The reference to the six digits for pairing: file:PATH, credential:NAME or "
            + "env:NAME. It is written into the column passkey of the vehicle's row."
    )

    private static let keys = Flag(
        "keys",
        value: Flag.Value("DIR", .directory),
        help: "The folder for secrets, relative to the fleet list.",
        fallback: "keys"
    )

    private static let credentials = Flag(
        "credentials",
        value: Flag.Value("DIR", .directory),
        help: "Put secrets into this folder of the service manager's credentials, such as "
            + "/etc/yardmaster/credentials, and write credential:ID into the vehicle's row."
    )

    private static let receiver = Flag(
        "hand-to",
        value: Flag.Value("PROGRAM", .file),
        help: "Run this program for each secret that was proven: it gets the vehicle's id and "
            + "serial as arguments and the secret as a line on its standard input. The "
            + "file stays. If it does not end with 0, the vehicle counts as failed, and the same command "
            + "gives it the secret again."
    )

    private static let rotate = Flag(
        "rotate",
        help: "Give the module another secret although the one in its file is proven."
    )

    private static let undo = Flag("undo", help: "Take the vehicle out of service.")

    private static let search = Flag(
        "for",
        value: Flag.Value("TIME", .duration),
        help: "How long to look for a module, such as 10s or 2m.",
        fallback: "30s"
    )
}

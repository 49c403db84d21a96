extension Command {
    static let enrol = Command(
        .enrol,
        summary: "Bring vehicles into service",
        description: [
            "Finds the module of a new vehicle by its serial, by its name, or as the strongest one in "
                + "reach that is not listed yet; pairs where its profile says so; gives it a secret "
                + "of its own, proves that on a new link, reads what the module is, and writes the "
                + "vehicle's row into the fleet list and its secret into a file that only its "
                + "owner can read.",
            "Every secret that the module could have is on disk before it could have it, and stays "
                + "until another one was proven. Broken off anywhere, the same command goes on "
                + "where it stood; given once more, it changes nothing. The secret of before stays "
                + "beside the new one, in KEY.before.",
            "With --undo the module gets back what it had before, or forgets all where its family can, "
                + "and its vehicle is taken off the list; its secret stays in KEY.undone.",
        ],
        arguments: [
            Argument(
                "VEHICLE",
                .vehicles,
                .atMostOne,
                help: "The id that the vehicle has, or is to have, in the fleet list."
            )
        ],
        flags: [
            list, batch, serial, name, family, profile, oldSecret, passkey, keys, credentials,
            receiver, rotate, undo, search,
            .state, .profiles, .bus, .simulate, .pace, .seed, .json, .quiet, .noColor,
        ],
        examples: [
            Example(
                "yardmaster enrol --fleet tallinn.csv --serial 00a0000000000031 "
                    + "--old-secret file:maker.key bike-31",
                "One new bike."
            ),
            Example(
                "yardmaster enrol --fleet tallinn.csv --batch pallet.csv",
                "All that a list of the maker's names."
            ),
            Example(
                "yardmaster enrol --fleet tallinn.csv --rotate bike-31",
                "Gives a vehicle of the list another secret."
            ),
        ],
        exitCodes: [
            .someFailed, .someMissed, .invalidManifest, .inputMissing, .unavailable,
            .cannotCreate, .cannotWrite, .busy, .configuration, .interrupted, .terminated,
        ]
    )

    private static let list = Flag(
        "fleet",
        value: Flag.Value("FLEET.csv", .file),
        help: "The fleet list that gets the vehicle's row: the CSV file that manifests name."
    )

    private static let batch = Flag(
        "batch",
        value: Flag.Value("FILE.csv", .file),
        help:
            "Enrol every row of this file. Its columns are id, serial, family and, where they are "
            + "wanted, profile old-secret and passkey; others are copied into columns of that name."
    )

    private static let serial = Flag(
        "serial",
        value: Flag.Value("SERIAL", .text),
        help: "The module's serial.",
        fallback: "the strongest module in reach that is not listed"
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
        help: "Where the secret is kept that the module has now, where it has one: file:PATH, "
            + "credential:NAME or env:NAME."
    )

    private static let passkey = Flag(
        "passkey",
        value: Flag.Value("REFERENCE", .text),
        help: "Where the six digits are kept by which the module is paired with: file:PATH, "
            + "credential:NAME or env:NAME. They stand in the column passkey of its row then."
    )

    private static let keys = Flag(
        "keys",
        value: Flag.Value("DIR", .directory),
        help: "Where secrets are put, as seen from the fleet list.",
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

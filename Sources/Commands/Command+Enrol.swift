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
                .vehicles("VEHICLE"),
                .atMostOne,
                help: "The id of the vehicle in the fleet list, existing or new."
            )
        ],
        flags: [
            list, batch, serial, name, family, profile, oldSecret, passkey, keys, credentials,
            receiver, rotate, undo, search,
            state, profiles, clockIsRight, bus, simulated, pace, seed, json, quiet, noColor, wide,
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

    package static let list = Flag(
        "list",
        .file("FLEET.csv"),
        help: "The fleet list that gets the vehicle's row: the CSV file that manifests name."
    )

    package static let batch = Flag(
        "batch",
        .file("FILE.csv"),
        help:
            "Enrol every row of this file. Its columns are id, serial, family and, "
            + "optionally, profile, old-secret and passkey; others are copied into columns "
            + "of the same name."
    )

    package static let serial = Flag(
        "serial",
        .text("SERIAL"),
        help: "The module's serial.",
        fallback: "the strongest module in range that is not listed"
    )

    package static let name = Flag(
        "name",
        .text("NAME"),
        help: "The name that the module advertises."
    )

    package static let family = Flag(
        "family",
        .text("FAMILY"),
        help: "The module's family.",
        standard: "comodule"
    )

    package static let profile = Flag(
        "profile",
        .text("NAME"),
        help: "The module's profile.",
        standard: "generic"
    )

    package static let oldSecret = Flag(
        "old-secret",
        .text("REFERENCE"),
        help: "The reference to the module's current secret, if it has one: file:PATH, "
            + "credential:NAME or env:NAME."
    )

    package static let passkey = Flag(
        "passkey",
        .text("REFERENCE"),
        help: "The reference to the six digits for pairing: file:PATH, credential:NAME or "
            + "env:NAME. It is written into the column passkey of the vehicle's row."
    )

    package static let keys = Flag(
        "keys",
        .directory("DIR"),
        help: "The folder for secrets, relative to the fleet list.",
        standard: "keys"
    )

    package static let credentials = Flag(
        "credentials",
        .directory("DIR"),
        help: "Put secrets into this folder of the service manager's credentials, such as "
            + "/etc/yardmaster/credentials, and write credential:ID into the vehicle's row."
    )

    package static let receiver = Flag(
        "hand-to",
        .file("PROGRAM"),
        help: "Run this program for each secret that was proven: it gets the vehicle's id and "
            + "serial as arguments and the secret as a line on its standard input. The "
            + "file stays. If it does not end with 0, the vehicle counts as failed, and the same command "
            + "gives it the secret again."
    )

    package static let rotate = Flag(
        "rotate",
        help: "Give the module another secret although the one in its file is proven."
    )

    package static let undo = Flag("undo", help: "Take the vehicle out of service.")

    package static let search = Flag(
        "for",
        .duration("TIME"),
        help: "How long to look for a module, such as 10s or 2m.",
        standard: "30s"
    )
}

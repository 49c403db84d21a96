package import Base

extension Command {
    static let update = Command(
        .update,
        summary: "Bring an image file to modules in range, without a manifest",
        description: [
            "Recognises the file: a Secure or legacy DFU package (zip), an MCUboot image or a package of "
                + "them, or an image of an ESP device. Listens for modules that it fits, reads what they "
                + "run, shows what it would do, and does it when it is told so: by an answer on a "
                + "terminal, or by --yes.",
            "It works as a run does: everything is checked before the first packet, the journal comes "
                + "first, and an update counts as done only when the module itself reports the new version. "
                + "An update that was interrupted in any way is continued by the same command. Waves, gates "
                + "and windows do not apply.",
            "When several modules are in range that the file fits, name those that are meant, or give "
                + "--all. For a fleet, write a manifest: it has conditions, waves and signatures.",
        ],
        arguments: [
            Argument(.file("FILE"), help: "The image file, or the package of images."),
            Argument(
                .vehicles("VEHICLE"),
                .any,
                help:
                    "Modules in range: the id of the vehicle, the module's serial or its name, or a "
                    + "pattern such as 'tag-*'. Default: the one that the file fits."
            ),
        ],
        flags: [
            agreed, allFitting, moduleName, moduleSerial, moduleAddress, moduleProfile,
            moduleSecret,
            modulePasskey, imageVersion, downgrade, nearby, adapter, savedPlan, approved, state,
            clockIsRight, fleetAddress, profiles, bus, simulated, pace, seed, events, report, json,
            quiet, noColor, wide,
        ],
        examples: [
            Example("yardmaster update tag-2.0.0.zip", "The one module in range that it fits."),
            Example(
                "yardmaster update --yes --secret file:bike.key city-4.12.0.zip 00a0000000000001",
                "From a script: a module that is opened by a secret, by its serial."
            ),
            Example("yardmaster update --all tracker-2.0.0.img", "Every module that it fits."),
        ],
        exitCodes: [
            .someFailed, .someMissed, .paused, .aborted, .workLeft, .inputMissing, .unavailable,
            .cannotCreate, .cannotWrite, .busy, .trustRefused, .configuration, .interrupted,
            .terminated,
        ]
    )

    package static let agreed = Flag(
        "yes",
        short: "y",
        help: "Do it without a question."
    )

    package static let allFitting = Flag(
        "all",
        help: "All modules in range that the file fits."
    )

    package static let moduleName = Flag(
        repeatable: "name",
        .text("NAME"),
        help: "The module that advertises this name."
    )

    package static let moduleSerial = Flag(
        repeatable: "serial",
        .text("SERIAL"),
        help: "The module with this serial."
    )

    package static let moduleAddress = Flag(
        repeatable: "address",
        .text("ADDRESS"),
        help: "The module at this Bluetooth address."
    )

    package static let moduleProfile = Flag(
        "profile",
        .text("PROFILE"),
        help: "The profile of the modules, as NAME or FAMILY/NAME.",
        fallback: "the first that recognises the module and takes the file"
    )

    package static let moduleSecret = Flag(
        "secret",
        .text("REFERENCE"),
        help: "The reference to what opens the modules: file:PATH, credential:NAME or env:NAME."
    )

    package static let modulePasskey = Flag(
        "passkey",
        .text("REFERENCE"),
        help: "The reference to the six digits for pairing."
    )

    package static let imageVersion = Flag(
        "version",
        .version("VERSION"),
        help:
            "The version in the file, as modules report it; only for files that do not contain theirs."
    )

    package static let downgrade = Flag(
        "downgrade",
        help: "Send the file also to modules that run a later version."
    )

    package static let nearby = Flag(
        "for",
        .duration("TIME"),
        help:
            "How long to listen for modules, such as 5s or 1m; it ends earlier when all were heard that "
            + "are named, and no other module can have the same serial.",
        standard: "10s"
    )

    package static let adapter = Flag(
        repeatable: "adapter",
        .text("ADAPTER"),
        help: "Use this adapter of the host.",
        fallback: "the first that is switched on"
    )
}

extension Command {
    static let profilesList = Command(
        .profilesList,
        summary: "List the known profiles of modules",
        description: [
            "Lists every profile with its family, its name and its title: those that are built in, "
                + "and those of the folder that --profiles names, which come before built-in ones "
                + "of the same name."
        ],
        flags: [profiles, json, quiet, noColor, wide],
        examples: [Example("yardmaster profiles list", "One line for each profile.")],
        exitCodes: [.invalidManifest, .inputMissing]
    )

    static let profilesShow = Command(
        .profilesShow,
        summary: "Print the file of a profile",
        description: [
            "Prints the file of a profile, to be read or to be copied and changed for another "
                + "model. The name is that of 'profiles list': 'comodule/generic', or 'generic' "
                + "where no other family has one of that name."
        ],
        arguments: [Argument(.text("NAME"), help: "Such as comodule/ebike-display.")],
        flags: [profiles, json, quiet, noColor, wide],
        examples: [
            Example(
                "yardmaster profiles show comodule/generic > profiles/tracker.yaml",
                "The beginning of a profile of your own."
            )
        ],
        exitCodes: [.invalidManifest, .inputMissing]
    )

    static let profilesCheck = Command(
        .profilesCheck,
        summary: "Check a profile that you have written",
        description: [
            "Reads a profile's file and reports every mistake in it with its place. No "
                + "module is connected to."
        ],
        arguments: [Argument(.file("FILE"), help: "The profile, a YAML file.")],
        flags: [json, quiet, noColor, wide],
        examples: [
            Example("yardmaster profiles check profiles/tracker.yaml", "Before its first run.")
        ],
        exitCodes: [.invalidManifest, .inputMissing]
    )
}

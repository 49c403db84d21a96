extension Command {
    static let trust = Command(
        .trust,
        summary: "Keep and show what signed repositories are trusted for",
        description: [
            "Works on the trusted documents of one TUF repository in a directory. 'init' makes a "
                + "root the trusted one, 'refresh' brings the documents up to date, 'download' "
                + "does that and fetches the targets named, 'show' tells what is trusted. Only "
                + "'show' also takes --state: it then shows every repository of a state directory.",
            "These forms of the command end in 0 or 1 and nothing else, as the conformance suite "
                + "of TUF clients expects; only 'show' has the other exit codes. "
                + "A document counts only when the keys that its delegator names have signed it, "
                + "it is no older than what was seen before and has not expired; whatever fails, "
                + "what was trusted before stays.",
        ],
        arguments: [
            Argument(
                "ACTION",
                .words(["init", "refresh", "download", "show"]),
                help: "init, refresh, download or show."
            ),
            Argument("ROOT", .file, .atMostOne, help: "For init: the root to trust from now on."),
        ],
        flags: [
            .metadataDirectory, .metadataURL, .targetName, .targetBaseURL, .targetDirectory,
            .state, .json, .quiet, .noColor,
        ],
        examples: [
            Example(
                "yardmaster trust --metadata-dir vendor init root.json",
                "Trusts a root that came by a way you trust."
            ),
            Example(
                "yardmaster trust --metadata-dir vendor "
                    + "--metadata-url https://updates.example/metadata/ refresh",
                "Fetches and verifies the repository's documents."
            ),
            Example(
                "yardmaster trust --metadata-dir vendor show",
                "Tells versions, expiries and signers."
            ),
        ],
        exitCodes: [.inputMissing, .trustRefused, .configuration]
    )
}

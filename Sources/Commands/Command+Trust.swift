extension Command {
    static let trust = Command(
        .trust,
        summary: "Keep and show what signed repositories are trusted for",
        description: [
            "Works on the trusted documents of one TUF repository in a directory. 'init' makes a "
                + "root the trusted one, 'refresh' brings the documents up to date, 'download' "
                + "does that and fetches the targets named, 'show' prints what is trusted.",
            "'add', 'reset' and 'show' work on the state directory. 'add' makes a public key known to "
                + "this depot: a bundle can only use keys that are. It takes a public key of minisign, "
                + "as its file or as the line 'RW...' itself, for images and bundles, and a PEM file "
                + "with a public key (Ed25519, P-256, or RSA of 2048 bits and more) for "
                + "attestations; not a certificate and no secret key.",
            "'reset' begins the record of releases of a key or a repository from the start, so that older "
                + "releases are taken again; the reason is written down and shown by 'show'.",
            "'init', 'refresh' and 'download' end in 0 or 1 and nothing else, as the conformance "
                + "suite of TUF clients expects. "
                + "A document counts only when the keys that its delegator names have signed it, "
                + "it is no older than what was seen before and has not expired; whatever fails, "
                + "what was trusted before stays.",
        ],
        arguments: [
            Argument(
                "ACTION",
                .words(["init", "refresh", "download", "show", "add", "reset"]),
                help: "init, refresh, download, show, add or reset."
            ),
            Argument(
                "FILE",
                .file,
                .atMostOne,
                help: "For init: the root to trust from now on. For add: the public key, a file of "
                    + "minisign or PEM, or minisign's line itself."
            ),
        ],
        flags: [
            .metadataDirectory, .metadataURL, .targetName, .targetBaseURL, .targetDirectory,
            .recordKey, .repository, .recordReason, .state, .json, .quiet, .noColor,
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
            Example("yardmaster trust add office.pub", "Before the first bundle by this key."),
            Example(
                "yardmaster trust add builder.pem",
                "Before the first attestation by this key comes in a bundle that nobody signed."
            ),
            Example(
                "yardmaster trust reset --key office.pub --reason 'counts from one again'",
                "Takes older releases by this key again."
            ),
        ],
        exitCodes: [.inputMissing, .cannotCreate, .cannotWrite, .trustRefused, .configuration]
    )
}

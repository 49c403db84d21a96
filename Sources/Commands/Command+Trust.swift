extension Command {
    static let trust = Command(
        .trust,
        summary: "Manage and show trusted keys and repositories",
        description: [
            "Works on the trusted documents of one TUF repository in a directory. 'init' makes a "
                + "root the trusted one, 'refresh' brings the documents up to date, 'download' "
                + "does that and fetches the targets named, 'show' prints what is trusted.",
            "'add', 'reset' and 'show' work on the state directory. 'add' makes a public "
                + "key known to this depot: a bundle can only use known keys. It accepts a "
                + "public key of minisign, as its file or as the line 'RW...' itself, for "
                + "images and bundles, and a PEM file with a public key (Ed25519, P-256, or RSA "
                + "of 2048 bits and more) for attestations; it accepts no certificate and no "
                + "secret key.",
            "'reset' begins the record of releases of a key or a repository from the "
                + "start, so that older releases are accepted again; the reason is recorded and "
                + "shown by 'show'.",
            "'init', 'refresh' and 'download' end only with 0 or 1, as the conformance "
                + "suite of TUF clients expects. A document counts only when the keys that its "
                + "delegator names have signed it, it is no older than the last one seen, and "
                + "it has not expired; after any failure, the documents that were trusted "
                + "before stay.",
        ],
        arguments: [
            Argument(
                .words("ACTION", ["init", "refresh", "download", "show", "add", "reset"]),
                help: "init, refresh, download, show, add or reset."
            ),
            Argument(
                .file("FILE"),
                .atMostOne,
                help: "For init: the root to trust from now on. For add: the public key, a file of "
                    + "minisign or PEM, or minisign's line itself."
            ),
        ],
        flags: [
            metadataDirectory, metadataURL, targetName, targetBaseURL, targetDirectory,
            recordKey, repository, recordReason, state, json, quiet, noColor, wide,
        ],
        examples: [
            Example(
                "yardmaster trust --metadata-dir vendor init root.json",
                "Trusts a root that you received in a trusted way."
            ),
            Example(
                "yardmaster trust --metadata-dir vendor "
                    + "--metadata-url https://updates.example/metadata/ refresh",
                "Fetches and verifies the repository's documents."
            ),
            Example(
                "yardmaster trust --metadata-dir vendor show",
                "Shows versions, expiries and signers."
            ),
            Example("yardmaster trust add office.pub", "Before the first bundle by this key."),
            Example(
                "yardmaster trust add builder.pem",
                "Before the first attestation by this key arrives in an unsigned bundle."
            ),
            Example(
                "yardmaster trust reset --key office.pub --reason 'counts from one again'",
                "Accepts older releases by this key again."
            ),
        ],
        exitCodes: [.inputMissing, .cannotCreate, .cannotWrite, .trustRefused, .configuration],
        isQuick: true
    )
}

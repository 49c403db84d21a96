extension Grammar {
    static let trust = Table(
        "trust",
        "`trust`",
        "Who is trusted for images beyond the digest that pins each.",
        [
            Field(
                "repositories",
                .map(key: .name, .table(repository)),
                "TUF repositories that images refer to, each under a name."
            ),
            Field(
                "allow",
                .list(.form(.digest), least: 1),
                "Only images with one of these SHA-256 digests are used, no matter who signed them."
            ),
            Field(
                "deny",
                .list(.form(.digest), least: 1),
                "Images with one of these SHA-256 digests are never used, no matter who signed them."
            ),
        ]
    )

    static let repository = Table(
        "repository",
        "a repository",
        "One TUF repository: its documents say which images are good now.",
        [
            Field(
                "root",
                .form(.path),
                .required,
                "The root that is trusted at first, beside the manifest; newer ones follow from it."
            ),
            Field(
                "metadata",
                .form(.source),
                .required,
                "Where its documents are: the address of a folder."
            ),
            Field("allow-http", .boolean, .fallback("false"), "Allows an `http://` URL."),
            Field(
                "grace",
                .duration(.zero ... .seconds(366 * 86_400)),
                "Lets a depot without network go on with the documents of the last time, until this "
                    + "long after they expired; no longer than root itself allows."
            ),
        ]
    )

    static let signature = Table(
        "signature",
        "`signature`",
        "That the image has a detached signature in minisign's format.",
        [
            Field(
                "key",
                .form(.key),
                .required,
                "The public key: `RW…` as minisign prints it, or its file beside the manifest."
            ),
            Field(
                "url",
                .form(.source),
                "Where the signature is; without it, the image's URL with `.minisig` added."
            ),
        ]
    )

    static let tuf = Table(
        "tuf",
        "`tuf`",
        "That a repository must list the image, with its digest and for its modules.",
        [
            Field("repository", .form(.name), .required, "One of those under `trust`."),
            Field("target", .form(.target), .required, "What the repository calls the image."),
        ]
    )

    static let sbom = Table(
        "sbom",
        "`sbom`",
        "What an image is made of; the URL alone means the same as a map with `url`.",
        [
            Field("url", .form(.source), .required, "Where it is."),
            Field("sha256", .form(.digest), "What its bytes must be; without it, any CycloneDX."),
        ]
    )

    static let attestation = Table(
        "attestation",
        "an attestation",
        "A file of statements about an image, one envelope or one a line.",
        [
            Field("url", .form(.source), .required, "Where it is."),
            Field(
                "key",
                .form(.path),
                "The PEM file of the public key (Ed25519, P-256, RSA with PSS) that must have signed "
                    + "it; without it nobody stands behind what it says."
            ),
        ]
    )
}

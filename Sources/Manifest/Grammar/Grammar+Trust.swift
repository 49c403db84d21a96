extension Grammar {
    static let trust = Table(
        "trust",
        "`trust`",
        "The trust rules for images, in addition to the digest that pins each.",
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
        "One TUF repository: its documents list the images that are valid now.",
        [
            Field(
                "root",
                .form(.path),
                .required,
                "The root file that is trusted first, relative to the manifest; newer ones "
                    + "are derived from it."
            ),
            Field(
                "metadata",
                .form(.source),
                .required,
                "The address of the folder with its documents."
            ),
            Field("allow-http", .boolean, .fallback("false"), "Allows an `http://` URL."),
            Field(
                "grace",
                .duration(.zero ... .seconds(366 * 86_400)),
                "Lets a depot without network use its last documents for this long after they "
                    + "expired, but no longer than root itself allows."
            ),
        ]
    )

    static let signature = Table(
        "signature",
        "`signature`",
        "The image must have a detached signature in minisign's format.",
        [
            Field(
                "key",
                .form(.key),
                .required,
                "The public key: `RW…` as minisign prints it, or its file, relative to the "
                    + "manifest."
            ),
            Field(
                "url",
                .form(.source),
                "The URL of the signature; without it, the image's URL with `.minisig` added."
            ),
        ]
    )

    static let tuf = Table(
        "tuf",
        "`tuf`",
        "A repository must list the image, with its digest and for its modules.",
        [
            Field("repository", .form(.name), .required, "One of those under `trust`."),
            Field("target", .form(.target), .required, "The name of the image in the repository."),
        ]
    )

    static let sbom = Table(
        "sbom",
        "`sbom`",
        "The bill of materials of an image; the URL alone means the same as a map with `url`.",
        [
            Field("url", .form(.source), .required, "Its URL."),
            Field(
                "sha256",
                .form(.digest),
                "The digest of its bytes; without it, any CycloneDX document is accepted."
            ),
        ]
    )

    static let attestation = Table(
        "attestation",
        "an attestation",
        "A file of statements about an image: one envelope, or one on each line.",
        [
            Field("url", .form(.source), .required, "Its URL."),
            Field(
                "key",
                .form(.path),
                "The PEM file of the public key (Ed25519, P-256, RSA with PSS) that must have "
                    + "signed it; without it, no signature is verified."
            ),
        ]
    )
}

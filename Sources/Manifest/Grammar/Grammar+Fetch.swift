extension Grammar {
    static let fetch = Table(
        "fetch",
        "`fetch`",
        "How images are downloaded.",
        [
            Field(
                "connections",
                .integer(1...64),
                .fallback("8"),
                "How many images are downloaded at the same time."
            ),
            Field(
                "attempts",
                .integer(1...100),
                .fallback("5"),
                "Attempts at one URL without a further byte, before the next mirror is tried."
            ),
            Field(
                "least-rate",
                .size(1...(1 << 30)),
                .fallback("1kB"),
                "Bytes per second; a server that delivers fewer over the time below is too slow."
            ),
            Field(
                "least-rate-over",
                .duration(.seconds(1) ... .seconds(3_600)),
                .fallback("30s"),
                "How long a lower rate is tolerated."
            ),
            Field(
                "ca",
                .form(.path),
                "Certificates to trust instead of the system's, a PEM file; the path is "
                    + "relative to the manifest."
            ),
            Field(
                "certificate",
                .form(.path),
                "The client certificate for servers that require one, a PEM file."
            ),
            Field(
                "key",
                .form(.path),
                .optional,
                beside: "certificate",
                "The key of the client certificate, a PEM file, if it is not in the same file."
            ),
            Field(
                "proxy",
                .form(.source),
                "The proxy to use instead of the one in the environment; without name and password."
            ),
            Field(
                "no-proxy",
                .list(.form(.label), least: 1),
                "Hosts that are reached without a proxy."
            ),
            Field(
                "store",
                .size(1...(1 << 50)),
                "How much the image store may hold; a fetch that would not fit is refused before it "
                    + "begins."
            ),
        ]
    )

    static let gzip = Table(
        "gzip",
        "`gzip`",
        "The image after unpacking.",
        [
            Field("sha256", .form(.digest), .required, "The digest of the unpacked bytes."),
            Field("size", .size(1...(64 << 20)), .required, "The number of unpacked bytes."),
        ]
    )
}

extension Grammar {
    static let fetch = Table(
        "fetch",
        "`fetch`",
        "How images come over the network.",
        [
            Field(
                "connections",
                .integer(1...64),
                .fallback("8"),
                "How many images are fetched at once."
            ),
            Field(
                "attempts",
                .integer(1...100),
                .fallback("5"),
                "Attempts at one URL that bring nothing more, before the next mirror is tried."
            ),
            Field(
                "least-rate",
                .size(1...(1 << 30)),
                .fallback("1kB"),
                "Bytes a second; a server that gives fewer over the time below is too slow."
            ),
            Field(
                "least-rate-over",
                .duration(.seconds(1) ... .seconds(3_600)),
                .fallback("30s"),
                "How long fewer are borne."
            ),
            Field(
                "ca",
                .form(.path),
                "Certificates to trust in place of the system's, a PEM file beside the manifest."
            ),
            Field(
                "certificate",
                .form(.path),
                "Our own certificate for servers that ask for one, a PEM file."
            ),
            Field(
                "key",
                .form(.path),
                .optional,
                beside: "certificate",
                "Its key, a PEM file, when it is not in the same one."
            ),
            Field(
                "proxy",
                .form(.source),
                "In place of the proxy that the environment names; without name and password."
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
        "What comes out when the image is unpacked.",
        [
            Field("sha256", .form(.digest), .required, "What the unpacked bytes must be."),
            Field("size", .size(1...(64 << 20)), .required, "How many there must be."),
        ]
    )
}

import Domain

extension Grammar {
    static let notify = Table(
        "notify",
        "`notify`",
        "Who gets notices of how runs end; also in a file of its own (see operations).",
        [
            Field(
                "targets",
                .map(key: .name, .table(notifyTarget)),
                .required,
                "Who gets notices, each under a name."
            ),
            Field(
                "silent-after",
                .duration(.seconds(3_600) ... .seconds(365 * 86_400)),
                "How long nothing may be heard from a rollout before a notice says so: `notify send` looks."
            ),
            Field(
                "sendmail",
                .form(.path),
                .fallback("/usr/sbin/sendmail"),
                "The program that takes mail, with `-t -i`."
            ),
        ]
    )

    static let notifyTarget = Table(
        "notify target",
        "a target of `notify`",
        "One addressee. An address may be a secret reference, since many let in anyone who knows them.",
        exactlyOne: ["mail", "webhook", "ntfy", "alertmanager", "healthcheck", "program"],
        [
            Field("mail", .form(.label), "A mail address."),
            Field(
                "webhook",
                .form(.source),
                "An `https://` address that gets the whole notice as JSON."
            ),
            Field("ntfy", .form(.source), "The address of an ntfy topic."),
            Field(
                "alertmanager",
                .form(.source),
                "The address of an Alertmanager, without `/api/v2/alerts`."
            ),
            Field(
                "healthcheck",
                .form(.source),
                "A ping address that expects to be asked after each run; `/fail` is added after a bad "
                    + "one."
            ),
            Field(
                "program",
                .list(.form(.word), least: 1),
                "A program by its absolute path, and its arguments; it gets the notice as JSON on "
                    + "standard input."
            ),
            Field(
                "when",
                .list(.words(NotifyKind.allCases.map(\.rawValue)), least: 1),
                "Which events; without it all but `ended`, and for a `healthcheck` all."
            ),
            Field(
                "key",
                .form(.secret),
                .optional,
                beside: "webhook",
                "Where the key is kept that signs what is sent (HMAC-SHA256, Standard Webhooks)."
            ),
            Field(
                "token",
                .form(.secret),
                "Where a token is kept that is sent as `Authorization: Bearer`."
            ),
        ]
    )
}

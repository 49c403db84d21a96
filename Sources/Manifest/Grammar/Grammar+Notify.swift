import Base

extension Grammar {
    static let notify = Table(
        "notify",
        "`notify`",
        "Who is notified of how runs end; can also be a separate file (see operations).",
        [
            Field(
                "targets",
                .map(key: .name, .table(notifyTarget)),
                .required,
                "The recipients of notices, each under a name."
            ),
            Field(
                "silent-after",
                .duration(.seconds(3_600) ... .seconds(365 * 86_400)),
                "How long a rollout may be silent before a notice reports it: `notify send` "
                    + "checks this."
            ),
            Field(
                "sendmail",
                .form(.path),
                .fallback("/usr/sbin/sendmail"),
                "The program that accepts mail; it is called with `-t -i`."
            ),
        ]
    )

    static let notifyTarget = Table(
        "notify target",
        "a target of `notify`",
        "One recipient. An address may be a secret reference, since often anyone who knows it "
            + "can send to it.",
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
                "A ping address that expects a request after each run; `/fail` is added after "
                    + "a bad one."
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
                "The events to report; without it all but `ended`, and for a `healthcheck` all."
            ),
            Field(
                "key",
                .form(.secret),
                .optional,
                beside: "webhook",
                "The reference to the key that signs the notices (HMAC-SHA256, Standard Webhooks)."
            ),
            Field(
                "token",
                .form(.secret),
                "The reference to a token that is sent as `Authorization: Bearer`."
            ),
        ]
    )
}

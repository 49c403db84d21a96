import Base
import Families

/// The manifest's grammar: every key with its type, its default and its purpose.
///
/// The reader, `docs/manifest.md` and the JSON Schema are generated from these tables.
enum Grammar {
    private static let days = Duration.seconds(86_400)
    private static let share = Shape.either([.integer(0...1_000_000), .percent])

    static let manifest = Table(
        "manifest",
        "the manifest",
        "The whole file.",
        [
            Field("name", .form(.name), .required, "Names the rollout in output and journal."),
            Field(
                "vehicles",
                .either([.table(vehicles), .list(.table(vehicle), least: 1)]),
                .required,
                "Which vehicles: a file and a selection, or the vehicles themselves."
            ),
            Field(
                "images",
                .map(key: .imageName, .table(image)),
                "The binaries that steps refer to, each under a name."
            ),
            Field(
                "steps",
                .list(.table(step), least: 1),
                "The steps for each vehicle that has no steps of its own, in this order."
            ),
            Field(
                "macros",
                .map(key: .name, .list(.table(step), least: 1)),
                "Lists of steps under names, for `use`."
            ),
            Field(
                "always",
                .list(.table(step), least: 0),
                "The steps at the end on each vehicle that was reached, whatever happened."
            ),
            Field(
                "profiles",
                .form(.path),
                "A folder of profiles in addition to the built-in ones, relative to the manifest."
            ),
            Field("rollout", .table(rollout), "The order and the limits of the work."),
            Field("radio", .table(radio), "Which Bluetooth controllers are used, and how."),
            Field("settle", .table(settle), "When an updated module counts as at rest."),
            Field("connect", .table(connect), "How long and how often a link is tried."),
            Field("fetch", .table(fetch), "How images are downloaded."),
            Field(
                "trust",
                .table(trust),
                "The trust rules for images, in addition to their digests."
            ),
            Field("notify", .table(notify), "Who is notified of how runs end."),
        ]
    )

    static let vehicles = Table(
        "vehicles",
        "`vehicles`",
        "The list of the fleet, and the part of it that is selected.",
        [
            Field(
                "from",
                .either([.form(.path), .list(.table(vehicle), least: 1)]),
                .required,
                "A CSV file with one vehicle a row, relative to the manifest; or a list of vehicles."
            ),
            Field(
                "select",
                .map(key: .label, .either([.literal, .list(.literal, least: 1)])),
                "Only vehicles whose label has this value, or one of these values."
            ),
            Field(
                "token",
                .table(tokenIssuer),
                "The issuer of car-share tokens for vehicles whose rows have none."
            ),
        ]
    )

    static let tokenIssuer = Table(
        "token",
        "`token`",
        "The issuer of car-share tokens, which is called when a token is needed: a program or "
            + "an address.",
        exactlyOne: ["command", "url"],
        [
            Field(
                "command",
                .list(.form(.word), least: 1),
                "A program and its arguments, run without a shell; it prints the token. "
                    + "`{id}`, `{serial}`, `{go-serial}` and `{hardware-id}` stand for the "
                    + "vehicle's values in the list."
            ),
            Field(
                "url",
                .form(.word),
                "An https address that answers with the token; it can contain the same names "
                    + "in braces."
            ),
            Field(
                "key",
                .form(.secret),
                .optional,
                beside: "url",
                "The reference to the secret that is sent to it as `Authorization: Bearer`."
            ),
        ]
    )

    static let hardwareIDs = 1...Int(UInt32.max)

    static let vehicle = Table(
        "vehicle",
        "a vehicle",
        "One vehicle: a row of the CSV file has the same columns.",
        otherKeys: .literal,
        [
            Field("id", .form(.vehicleID), .required, "Your name for the vehicle; unique."),
            Field(
                "serial",
                .form(.serial),
                .required,
                "The serial of its module: 16 hex digits for `comodule`, 12 for `lrdevice`; unique."
            ),
            Field(
                "family",
                .words(FamilyRegistry.families.map(\.rawValue)),
                .required,
                "The kind of module."
            ),
            Field(
                "profile",
                .form(.profile),
                .fallback("generic"),
                "The model of that family."
            ),
            Field(
                "secret",
                .form(.secret),
                "The reference to the module's secret; a manifest never contains the secret itself."
            ),
            Field(
                "token",
                .either([.form(.secret), .table(tokenIssuer)]),
                "The reference to the car-share token of the vehicle's GO device, for a "
                    + "vehicle that has another module too; for a `geotab-go` vehicle, the token is "
                    + "the `secret`. Or, in a manifest, the issuer of the token."
            ),
            Field(
                "go-serial",
                .form(.serial),
                "The serial of the vehicle's GO device, for a vehicle that has a `token` and "
                    + "another module: a token for another GO device is refused."
            ),
            Field(
                "hardware-id",
                .integer(hardwareIDs),
                "The hardware id of the vehicle's GO device: a token for another one is refused."
            ),
            Field(
                "pairing",
                .words(PairingKind.allCases.map(\.rawValue)),
                "How its module is paired; without it, as its profile says."
            ),
            Field(
                "passkey",
                .form(.secret),
                "The reference to the six digits for `pairing: passkey`."
            ),
            Field(
                "renew-bond",
                .boolean,
                .fallback("false"),
                "Whether a bond that the module has lost is made again; any device that "
                    + "advertises as the vehicle could cause that."
            ),
            Field(
                "steps",
                .list(.table(step), least: 1),
                "The vehicle's own steps, instead of the manifest's."
            ),
        ]
    )

    static let image = Table(
        "image",
        "an image",
        "One binary, its source, and the modules that it may be sent to.",
        [
            Field("url", .form(.source), .required, "Its URL."),
            Field(
                "mirrors",
                .list(.form(.source), least: 1),
                "Other URLs of the same bytes, tried in this order."
            ),
            Field("sha256", .form(.digest), .required, "The digest of its bytes."),
            Field(
                "version",
                .form(.version),
                .required,
                "The version that a module reports when it runs the image."
            ),
            Field("size", .size(1...(1 << 30)), "Its size."),
            Field("fits", .table(fits), .required, "The modules that it is made for."),
            Field("allow-http", .boolean, .fallback("false"), "Allows an `http://` URL."),
            Field(
                "gzip",
                .table(gzip),
                "The unpacked content of an image that is packed with gzip."
            ),
            Field(
                "signature",
                .table(signature),
                "The signature that the image must have; not together with `tuf`."
            ),
            Field(
                "tuf",
                .table(tuf),
                "The repository that must list the image; not together with `signature`."
            ),
            Field(
                "sbom",
                .either([.table(sbom), .form(.source)]),
                "Its bill of materials as CycloneDX JSON, kept with it."
            ),
            Field(
                "attestations",
                .list(.table(attestation), least: 1),
                "Statements about it: in-toto statements in DSSE envelopes, kept with it."
            ),
        ]
    )

    static let fits = Table(
        "fits",
        "`fits`",
        "The modules that an image may be sent to.",
        [
            Field(
                "family",
                .words(FamilyRegistry.families.map(\.rawValue)),
                .required,
                "The kind of module."
            ),
            Field("type", .integer(0...Int(UInt32.max)), "The firmware type the module reports."),
            Field("variant", .integer(0...Int(UInt32.max)), "The variant the module reports."),
        ]
    )

    private static let conditions = Shape.map(key: .property, .condition)

    static let step = Table(
        "step",
        "a step",
        "Exactly one action, with its options.",
        exactlyOne: [
            "require", "update", "set", "read", "expect", "command", "feature", "wait", "rotate",
            "use",
        ],
        [
            Field(
                "require",
                conditions,
                "Continues only when all of these conditions hold: on values that the module "
                    + "reports, on `signal` in dBm, on `label.NAME` of the fleet list."
            ),
            Field(
                "otherwise",
                .words(Otherwise.allCases.map(\.rawValue)),
                .fallback("defer"),
                beside: "require",
                "What happens to the vehicle when one of them does not hold."
            ),
            Field(
                "update",
                .either([.table(update), .form(.imageName)]),
                "Updates the module to an image; done only when the module reports that version."
            ),
            Field("set", .map(key: .property, .literal), "Writes properties and reads them back."),
            Field(
                "read",
                .either([.form(.property), .list(.form(.property), least: 1)]),
                "Reads properties into the report."
            ),
            Field("expect", conditions, "Fails unless the module reports all of this in time."),
            Field(
                "within",
                .duration(.zero ... .seconds(3_600)),
                .fallback("10s"),
                beside: "expect",
                "How long it may take to become true."
            ),
            Field(
                "command",
                .either([
                    .words(CarShareCommand.allCases.map(\.rawValue)),
                    .list(.words(CarShareCommand.allCases.map(\.rawValue)), least: 1),
                ]),
                "Sends one car-share command, or several in this order."
            ),
            Field("feature", .map(key: .property, .literal), "Sets features of the profile."),
            Field(
                "wait",
                .duration(.milliseconds(1) ... .seconds(3_600)),
                "Waits, while the controller works for other vehicles."
            ),
            Field(
                "rotate",
                .words(["secret"]),
                "Gives the module a new secret, proves it, and stores it in place of the old "
                    + "one, which is kept beside it."
            ),
            Field("use", .form(.name), "The steps of a macro, in place of this one."),
        ]
    )

    static let update = Table(
        "update",
        "`update`",
        "The image, and the conditions for keeping it.",
        [
            Field(
                "to",
                .either([.form(.imageName), .map(key: .label, .form(.imageName))]),
                .required,
                "A name under `images`; with `by`, one for each value of that."
            ),
            Field(
                "by",
                .form(.label),
                "What decides between the images under `to`: `family`, `model` (the profile), or the "
                    + "name of a column of the fleet list."
            ),
            Field(
                "part",
                .words(ModulePart.allCases.map(\.rawValue)),
                .fallback(ModulePart.secondary.rawValue),
                "The part of the module that the image replaces."
            ),
            Field(
                "via",
                .list(.form(.imageName), least: 1),
                "Images that an older module has to run first, in this order."
            ),
            Field(
                "downgrade",
                .words(["forbid", "allow"]),
                .fallback("forbid"),
                "Whether an older version may replace a newer one."
            ),
            Field(
                "confirmed",
                .words(["forbid", "allow"]),
                .fallback("forbid"),
                "Whether the file may be marked as confirmed, so that it runs permanently "
                    + "without a trial."
            ),
            Field(
                "within",
                .duration(.seconds(1) ... .seconds(3_600)),
                .fallback("2m"),
                "How long `healthy` and `judge` may take to come true after the restart."
            ),
            Field(
                "healthy",
                conditions,
                "What the module must report before the image is confirmed; otherwise it reverts."
            ),
            Field(
                "judge",
                .list(.form(.word), least: 1),
                "A program and its arguments, run without a shell before the image is confirmed."
            ),
        ]
    )

    static let rollout = Table(
        "rollout",
        "`rollout`",
        "The order of the vehicles, and the limits of the whole rollout.",
        [
            Field(
                "waves",
                .list(.either([.integer(1...1_000_000), .percent, .words(["rest"])]), least: 1),
                .fallback("[rest]"),
                "Shares of the vehicles, one after the other; the first is the canary."
            ),
            Field(
                "spread",
                .list(.form(.label), least: 1),
                "Labels, `family` or `profile`: each wave takes from all their values in turn."
            ),
            Field(
                "pause-when",
                .table(pause),
                "When the rollout stops so that a person can check."
            ),
            Field(
                "go-on-when",
                .table(goOn),
                "The conditions on a wave before the next one begins."
            ),
            Field("between-waves", .table(between), "What happens between two waves."),
            Field("window", .table(window), "When radio work may start."),
            Field("retry", .table(retry), "How often a failed attempt is repeated."),
            Field(
                "tolerate",
                .table(tolerate),
                "How many vehicles may stay undone with exit code 0."
            ),
            Field("airtime", .table(airtime), "How much controller time may be used."),
            Field(
                "quarantine-after",
                .integer(1...1_000),
                "A vehicle that failed this often on one image is left alone until `clear`."
            ),
            Field(
                "overlap",
                .words(["skip", "wait", "replace"]),
                .fallback("skip"),
                "What a run does when another run is active: it exits, waits, or replaces it."
            ),
            Field(
                "again",
                .words(["when-asked", "each-run", "daily"]),
                .fallback("when-asked"),
                "When an unchanged rollout begins again: only with `run --again`, with each "
                    + "run that finds it finished, or with the first run of a day."
            ),
        ]
    )

    static let pause = Table(
        "pause-when",
        "`pause-when`",
        "The gate: only vehicles on which something was done are counted.",
        [
            Field(
                "failed",
                share,
                .required,
                "Pauses when more than this have failed: a number, or a share of those attempted."
            ),
            Field(
                "at-least",
                .integer(1...1_000_000),
                .fallback("1"),
                "A share is evaluated only after this many attempts."
            ),
            Field(
                "classes",
                .list(.words(FailureClass.allCases.map(\.rawValue)), least: 1),
                "The failures that count; without it, all."
            ),
            Field(
                "then",
                .words(["pause", "abort"]),
                .fallback("pause"),
                "Whether the rollout waits for a person or ends."
            ),
        ]
    )

    static let goOn = Table(
        "go-on-when",
        "`go-on-when`",
        "The conditions on a completed wave; if one does not hold, the rollout pauses.",
        [
            Field("succeeded", .percent, "The least share of those attempted that succeeded."),
            Field("covered", .percent, "The least share of the wave that was reached."),
        ]
    )

    static let between = Table(
        "between-waves",
        "`between-waves`",
        "What happens between the end of one wave and the beginning of the next, in this order.",
        [
            Field(
                "soak",
                .duration(.zero...days),
                .fallback("0s"),
                "A waiting time, before `check` and `ask`."
            ),
            Field(
                "check",
                .list(.form(.word), least: 1),
                "A program and its arguments, run without a shell; must end with 0."
            ),
            Field(
                "timeout",
                .duration(.seconds(1) ... .seconds(3_600)),
                .fallback("60s"),
                "How long the check may take."
            ),
            Field("ask", .boolean, .fallback("false"), "Pauses until a person runs `resume`."),
        ]
    )

    static let airtime = Table(
        "airtime",
        "`airtime`",
        "The time for which vehicles may occupy controllers.",
        [
            Field("vehicle", .duration(.seconds(10)...days), "At most for one vehicle in a run."),
            Field("total", .duration(.seconds(60)...days), "At most for a whole run."),
        ]
    )

    private static let openings = Shape.either([
        .form(.opening), .list(.form(.opening), least: 1),
    ])

    static let window = Table(
        "window",
        "`window`",
        "The times at which vehicles may be started.",
        exactlyOne: ["from", "open"],
        [
            Field("from", .form(.clock), .optional, beside: "for", "When it opens, each day."),
            Field(
                "for",
                .duration(.seconds(60)...days),
                .optional,
                beside: "from",
                "How long it is open."
            ),
            Field(
                "open",
                openings,
                "When it is open, such as `22:00-05:00`, `mon-thu 22:00-05:00`, `sat,sun 08:00 for 4h`, "
                    + "`2026-12-24 10:00-12:00`."
            ),
            Field(
                "not",
                .either([.form(.days), .list(.form(.days), least: 1)]),
                "Days on which nothing opens, such as `sat,sun`, `2026-05-01`, `12-20..01-06`, "
                    + "`last friday`."
            ),
            Field(
                "by",
                .form(.label),
                .optional,
                beside: "own",
                "The label by whose value vehicles have times of their own: `family`, `profile`, or "
                    + "the name of a column of the fleet list."
            ),
            Field(
                "own",
                .map(key: .label, openings),
                .optional,
                beside: "by",
                "Values of that label, each with what is written under `open` for its vehicles."
            ),
            Field("zone", .form(.zone), .fallback("UTC"), "The time zone of these times."),
            Field(
                "at-close",
                .words(["finish", "safe-point", "stop"]),
                .fallback("finish"),
                "Whether vehicles in work at its end are finished, left at a safe point, or "
                    + "left immediately."
            ),
        ]
    )

    static let retry = Table(
        "retry",
        "`retry`",
        "Further attempts on the same vehicle, by the kind of failure.",
        [
            Field(
                "transient",
                .integer(0...100),
                .fallback("4"),
                "The link was lost, or it was busy."
            ),
            Field("device", .integer(0...100), .fallback("1"), "The module reported an error."),
            Field(
                "pause",
                .duration(.zero ... .seconds(3_600)),
                .fallback("1s"),
                "The pause before the second attempt; it doubles from one attempt to the next."
            ),
            Field(
                "longest-pause",
                .duration(.zero ... .seconds(3_600)),
                .fallback("30s"),
                "The longest pause."
            ),
            Field(
                "budget",
                .integer(0...1_000_000),
                "Further attempts of all vehicles of a run together; without it, no limit."
            ),
            Field(
                "without-progress",
                .integer(1...100),
                .fallback("3"),
                "The number of consecutive interrupted transfers without a further byte that "
                    + "ends an attempt."
            ),
        ]
    )

    static let tolerate = Table(
        "tolerate",
        "`tolerate`",
        "How many vehicles may stay undone without the run ending in code 11.",
        [
            Field("unreachable", share, .fallback("0"), "Never answered."),
            Field("deferred", share, .fallback("0"), "A precondition did not hold."),
        ]
    )

    static let radio = Table(
        "radio",
        "`radio`",
        "Bluetooth controllers.",
        [
            Field(
                "adapters",
                .list(.form(.adapter), least: 1),
                "The controllers to use, by name or address; without it, the first that is switched on."
            ),
            Field(
                "links-per-adapter",
                .integer(1...7),
                .fallback("7"),
                "The most vehicles that a controller serves at the same time; how many it serves "
                    + "is found by trying."
            ),
            Field(
                "take-turns",
                .boolean,
                .fallback("true"),
                "Whether a controller works on the next module while one restarts."
            ),
        ]
    )

    static let settle = Table(
        "settle",
        "`settle`",
        "An update is done when the module was quiet, then reported its version twice.",
        [
            Field(
                "quiet",
                .duration(.zero ... .seconds(3_600)),
                .fallback("20s"),
                "Connected time without a sign of the update."
            ),
            Field(
                "confirm-gap",
                .duration(.zero ... .seconds(600)),
                .fallback("2s"),
                "The time between the two readings."
            ),
            Field(
                "deadline",
                .duration(.seconds(1)...days),
                .fallback("10m"),
                "When waiting ends; must be longer than both together."
            ),
        ]
    )

    static let connect = Table(
        "connect",
        "`connect`",
        "How a link is made.",
        [
            Field(
                "timeout",
                .duration(.milliseconds(100) ... .seconds(600)),
                .fallback("30s"),
                "How long one try may take."
            ),
            Field("attempts", .integer(1...20), .fallback("4"), "How many tries make one attempt."),
        ]
    )

    /// In the order in which the manual lists them.
    static let tables = [
        manifest, vehicles, tokenIssuer, vehicle, image, fits, step, update, rollout, pause, goOn,
        between,
        window, retry, tolerate, airtime, radio, settle, connect, fetch, gzip,
        trust, repository, signature, tuf, sbom, attestation, notify, notifyTarget,
    ]
}

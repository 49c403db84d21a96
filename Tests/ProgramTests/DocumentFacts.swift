import Foundation
import Lab
import Simulation

@testable import Base
@testable import BlueZ
@testable import Commands
@testable import Families
@testable import Images
@testable import Manifest
@testable import Operations
@testable import Radio
@testable import Rollout
@testable import Show
@testable import Site
@testable import Store
@testable import VehicleModules

/// Sentences of the documents, written from the values of the code.
enum DocumentFacts {
    /// Each document with its sentences.
    static func all() throws -> [(path: String, sentences: [String])] {
        [
            ("README.md", try readme()), ("docs/library.md", try library()),
            ("docs/car-share.md", carShare), ("docs/simulation.md", simulation),
            ("docs/bluetooth.md", bluetooth), ("docs/profiles.md", profiles),
            (
                "docs/architecture.md",
                ["\(word(limits.fruitless).capitalized) interruptions without a further"]
            ),
            ("docs/protocols.md", protocols), ("docs/operations.md", operations),
            ("docs/manifest.md", manifest), ("docs/images.md", images), ("docs/trust.md", trust),
            ("docs/fleet.md", fleet),
        ]
    }

    // MARK: Words

    private static let numbers = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ]

    static func word(_ number: Int) -> String {
        numbers.indices.contains(number) ? numbers[number] : "\(number)"
    }

    /// A number with a comma between its thousands.
    private static func grouped(_ number: some BinaryInteger) -> String {
        guard number >= 1_000 else { return "\(number)" }
        return "\(grouped(number / 1_000)),\("\(1_000 + number % 1_000)".dropFirst())"
    }

    private static func s(_ time: Duration) -> Int64 { time.components.seconds }

    /// A time in the largest unit that fits: `a minute`, `two minutes`, `half an hour`.
    private static func words(_ time: Duration, one: String? = nil) -> String {
        let seconds = Int(s(time))
        for (unit, length) in [("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1)] {
            if seconds * 2 == length { return "half an \(unit)" }
            if seconds > length, seconds * 2 % length == 0, seconds % length > 0 {
                return "\(word(seconds / length)) and a half \(unit)s"
            }
            guard seconds >= length, seconds % length == 0 else { continue }
            let count = seconds / length
            return count == 1 ? "\(one ?? "a") \(unit)" : "\(word(count)) \(unit)s"
        }
        return "\(time)"
    }

    private static func MiB(_ bytes: some BinaryInteger) -> String { "\(bytes >> 20) MiB" }
    private static func KiB(_ bytes: some BinaryInteger) -> String { "\(bytes >> 10) KiB" }

    static func list(_ words: [String], _ last: String = "and") -> String {
        words.dropLast().joined(separator: ", ") + " \(last) " + (words.last ?? "")
    }

    static func code(_ words: [String]) -> [String] { words.map { "`\($0)`" } }

    /// The default of a command's flag.
    private static func standard(_ command: CommandName, _ flag: String) -> String {
        Command.named(command)?.flag(long: flag)?.fallback ?? "none"
    }

    // MARK: Values

    private static var settle: SettleRules {
        guard let rules = SettleRules() else { preconditionFailure("they are the defaults") }
        return rules
    }

    private static var limits: UpdateLimits { UpdateLimits(settle: settle) }
    private static var rules: RolloutRules { RolloutRules(settle: settle) }
    private static let commands = CarShareLimits()
    private static let terms = LeaseTerms.standard
    private static let epoch = WallTime(milliseconds: 0)

    // MARK: Documents

    private static func readme() throws -> [String] {
        let depot = try Document("manifests/demo/depot.yaml").text
        let package = try Document("Package.swift").text
        let tools = package.matches(of: /swift-tools-version: ([0-9.]+)/).map { String($0.1) }
        return [
            """
            its 24 modules are simulated, \(word(depot.matches(of: /faults:/).count)) of them with \
            faults
            """,
            "Toolchain | Swift \(tools.first ?? "?") or newer",
        ]
    }

    private static func library() throws -> [String] {
        let folder = Program.repository.appending(path: "Examples").path
        let examples = try FileManager.default.contentsOfDirectory(atPath: folder)
            .filter { $0.first?.isUppercase == true && !$0.contains(".") }
        let family = try Document("Examples/OwnFamily/OwnFamily.swift").lines.count - 1
        let thousand = ModuleCacheDocument.capacity == 1_000 ? "thousand" : "other number of"
        return [
            "There are \(word(examples.count)) complete programs in `Examples`",
            "as `OwnFamily` does in \(family) lines", "the last \(ModuleLog.capacity) entries",
            "Of each of the last \(thousand) modules",
            "A secret is hex text of up to \(ComoduleKey.length) bytes",
            "the update waits for it for \(words(UpdateCarrier.hostPatience))",
        ]
    }

    private static var carShare: [String] {
        var pause = commands.advertisement
        var rounds: [String] = []
        while pause < commands.longestAdvertisement {
            rounds.append("\(s(pause)) s")
            pause *= 2
        }
        let opening = CarShareCommand.allCases.filter(\.opens).map(\.rawValue)
        return [
            "Every state has a deadline: \(s(commands.arrival)) s for the vehicle to connect",
            """
            again after \(rounds.joined(separator: ", ")), and then every \
            \(s(commands.longestAdvertisement)) s)
            """,
            "\(s(commands.handshake)) s for the handshake",
            "\(s(commands.identification)) s for the device to say which one it is",
            "\(s(commands.reply)) s for a message to be accepted",
            "\(s(commands.challenge)) s for the challenge",
            "\(s(commands.verdict)) s for the verdict on the signatures",
            "\(s(commands.result)) s for the result", "is in doubt after \(s(commands.result)) s",
            "a message of \(grouped(AddOnType.messageToVehicle.bodyLengths.upperBound)) bytes",
            "until \(words(TokenCache.margin)) before its end",
            "ends with 0 within \(s(TokenCache.patience)) s",
            "expiring within \(s(SecretAudit.soon) == 7 * 86_400 ? "a week" : "another time")",
            "steps of the manifest open vehicles (\(code(opening).joined(separator: ", ")))",
        ]
    }

    private static var simulation: [String] {
        let exchanges = code(ModulePlan.Exchange.allCases.map(\.rawValue))
        let phases = code(GOPlan.Phase.allCases.map(\.rawValue))
        return [
            "An exchange is \(list(exchanges, "or")).", "A phase is \(list(phases, "or")).",
            """
            answered to them: \
            \(code(GOPlan.Impostor.allCases.map(\.rawValue)).joined(separator: ", "))\
             | none
            """,
        ]
    }

    private static var bluetooth: [String] {
        let settings = BlueZSettings()
        let link = LinkMachine.Rules()
        let families = FamilyRegistry.families.filter { $0 != .geotabGo }.map(\.rawValue)
        return [
            "modules of family \(code(families).joined(separator: ", ")), then GO devices, each family",
            "a scan hears nothing for \(s(settings.silence)) s",
            """
            after \(word(LinkCap.modulesInARow)) modules in a row, makes no more links than there \
            are; tries one more after \(s(LinkCap.doubt)) s, then after twice the time
            """,
            "does not touch its link, waits up to \(words(rules.heldPatience))",
            """
            all advertising slots are taken | tries again each \
            \(StationMachine.slotPause == .seconds(1) ? "second" : "other time")
            """,
            """
            missing during a run | waits up to \(words(rules.hostPatience)), and again up to \
            \(words(rules.hostPatience)) after \(words(rules.hostRecovery)) of work
            """,
            "the pairing did not end within \(words(link.pairing))",
            "Linux ends a link after \(SupervisionTimeout.usual * 10) ms of silence",
            "ConnectionSupervisionTimeout=\(SupervisionTimeout.advised)",
            """
            (\(SupervisionTimeout.advised / 100) s, in units of 10 ms; at most \
            \(SupervisionTimeout.allowed.upperBound))
            """,
        ]
    }

    private static var profiles: [String] {
        let shape = FamilyRegistry.shapes.first { $0.family == .comodule }
        let wrong = shape?.wrongAnswers ?? .none
        return [
            "`look-every` (\(s(settle.poll))s)",
            "`wrong-version-after` (\(s(settle.wrongVersionGrace))s)",
            "(\(wrong.rotation) for comodule, otherwise 0)", "at most \(WrongAnswers.most) each",
            """
            `answer` (\(s(commands.reply))s, and \(s(commands.challenge))s for the challenge); it has `arrival` (\(s(commands.arrival))s) until it \
            connects, `handshake` (\(s(commands.handshake))s), and `result` \
            (\(s(commands.result))s)
            """,
            """
            `register` is four hex digits, `at` \(ByteField.firstByte) to \
            \(ByteField.recordLength - 1)
            """,
            "a file of at most \(ValuePlace.file("a").limit) bytes",
            "`raw` has up to \(ValuePlace.setting("a", isSaved: true).limit) bytes",
        ]
    }

    private static var protocols: [String] {
        let legacy = LegacyUpload.Settings()
        var sentences = [
            "company identifier 0x\(Hex.text(ComoduleNumbers.company.bigBytes).uppercased()) and",
            """
            read \(ComoduleAuthentication.challengeLength) random bytes, write SHA-1 of these and \
            the \(ComoduleKey.length)-byte key
            """,
            "\(word(SecretSuspicion.limit)) links that end in this way mean a wrong secret",
            "Records of \(word(ComoduleRecord.length)) bytes",
            "up to \(milliseconds(RegisterReader.loadTime)) ms until a record is loaded",
            "company identifier \(Hex.text(LRNumbers.company.bigBytes).uppercased()) and six bytes",
            "payload of at most \(LRMessage.longestPayload) bytes",
            "one request at a time, with a limit of \(s(LRRequests.limit)) s",
            "at most \(words(limits.bootloaderPatience)).",
            """
            a receipt every \(word(legacy.receiptInterval)) packets of \
            \(legacy.packetLength == 20 ? "twenty" : "other") bytes
            """,
            "the answer after the erase (up to \(s(legacy.eraseLimit)) s), init packet",
            "then sectors of \(ESPNumbers.sectorLength) bytes",
            "a sector is sent up to \(word(ESPUpload.mostTries + 1)) times",
            "more than \(CBORReader.depthLimit) levels or \(CBORReader.keyLimit) keys",
            "until the link times out, at most \(s(SMPApplication.lossLimit)) s",
            "Command: request, challenge of \(CarShareChallenge.length) bytes",
            "A device that sends none in \(s(commands.identification)) s gets its commands without",
            """
            Handshake: \(Hex.text([AddOnNumbers.sync])) \(every(commands.sync)) until the vehicle \
            asks
            """,
            "confirmed with device id \(Hex.text(AddOnNumbers.deviceID.bigBytes).uppercased())",
        ]
        if let fast = UploadSettings(maximumLength: 244, pace: 0),
            let slow = UploadSettings(maximumLength: 244, pace: 1),
            let slowest = UploadSettings(maximumLength: 244, pace: 2)
        {
            sentences += [
                """
                receipts every \(fast.receiptInterval) packets as flow control (at most \
                \(fast.window) packets after the last one). An object is sent again up to \
                \(word(fast.retriesPerObject)) times
                """,
                """
                receipts every \(slow.receiptInterval) packets, then after \
                \(slowest.receiptInterval == 1 ? "each packet" : "some packets"), and a pause \
                of 0.\(milliseconds(slow.firstObjectDelay) / 100) s
                """,
            ]
        }
        if let smp = SMPSettings(frameLength: 512, window: 1) {
            sentences += [
                "A busy module is asked again after 0.\(milliseconds(smp.busyPause) / 100) s",
                """
                The limit for an answer is \(s(smp.answerLimit)) s (for the first piece \
                \(s(smp.openingLimit)) s
                """,
                "counts, too; for the last \(s(smp.closingLimit)) s)",
                "After \(word(smp.retries + 1)) timeouts at one offset",
            ]
        }
        return sentences + refusals
    }

    /// The numbers with which simulated devices refuse a command.
    private static var refusals: [String] {
        let words: KeyValuePairs<CarShareRefusal, String> = [
            .checksum: "checksum", .unknownKey: "unknown key",
            .reservationSignature: "reservation signature", .commandSignature: "command signature",
            .shape: "shape", .noChallenge: "no open challenge", .busy: "busy",
            .otherVehicle: "other vehicle", .outsideReservation: "outside the reservation",
        ]
        return [words.map { "\($0.key.rawValue) \($0.value)" }.joined(separator: ", ")]
    }

    private static func milliseconds(_ time: Duration) -> Int64 { time.nanoseconds / 1_000_000 }

    private static func every(_ time: Duration) -> String {
        s(time) == 1 ? "every second" : "every \(words(time))"
    }

    private static var operations: [String] {
        let web = WebServer.Limits()
        let unit = ServiceUnits(program: "/usr/bin/yardmaster").service.text
        let lines = unit.split(separator: "\n").map(String.init)
        let success = lines.first { $0.hasPrefix("SuccessExitStatus=") } ?? "none"
        let stop = lines.first { $0.hasPrefix("TimeoutStopSec=") } ?? "none"
        let again = lines.first { $0.hasPrefix("RestartSec=") }?.dropFirst(11).dropLast(3) ?? ""
        let burst = lines.first { $0.hasPrefix("StartLimitBurst=") }?.dropFirst(16) ?? ""
        let columns = code(CSVReport.columns).joined(separator: ", ")
        let works = code(NextStep.Work.allCases.map(\.rawValue)).joined(separator: ", ")
        return [
            "`\(success)`", "`\(stop)`",
            "tried again every \(again) minutes, \(word(Int(burst) ?? 0)) times at most",
            "CSV: \(columns).", "by `work`: \(works) |",
            """
            when the clock shows a time before \("\(ClockCheck.earliest)".prefix(4)) or more than \
            \(words(ClockCheck.tolerance)) before
            """,
            "\(words(Outlet.patienceAfterSignal)) after INT or TERM",
            "every \(s(PlainPrinter.longestSilence)) seconds. Pipes and files",
            "more than \(word(Recap.mostRows)), it has only those that need somebody",
            "has a row for each of up to \(RolloutStatus.mostListed).",
            "Of more than \(RolloutStatus.mostListed) vehicles those that are done",
            """
            \(web.headSeconds) seconds for a request's head of at most \(KiB(web.headBytes)), and \
            \(words(.seconds(web.answerSeconds))) to read the answer
            """,
            """
            \(web.connections) connections and \(web.streams) event streams at the same time, \
            \(web.streamsOfOne) of them for one person; when fewer than \(web.spare) \
            connections are free
            """,
            "The body has at most \(KiB(web.bodyBytes)).",
            "\(LiveAttempts.most) unknown tokens in \(words(LiveAttempts.span))",
            "a long random text of at least \(LiveAccess.shortestToken) characters",
            "for at most \(s(LiveSessions.longest) / 3_600) hours or until `serve` ends",
            "(1 to \(RequestKey.longest) characters of its own choice)",
            "The last \(grouped(Reply.most)) answers are remembered",
            "\(s(NoticeSender.patience)) seconds for each, \(s(NoticeSender.endPatience)) in total",
            """
            after \(notice(after: 1)), \(notice(after: 2)) and so on up to \
            \(words(NotifyPlan.pause(after: 99, made: epoch, at: epoch) ?? .zero, one: "an")), \
            for a day
            """,
            "not seen for \(word(Int(standard(.morning, "days")) ?? 0)) days",
            "listens for ten seconds (`--for`)".replacing("ten", with: seconds(.update, "for")),
            "shows the rollouts of a state directory at `http://\(standard(.serve, "listen"))/`",
        ]
    }

    private static func seconds(_ command: CommandName, _ flag: String) -> String {
        word(Int(standard(command, flag).dropLast()) ?? 0)
    }

    private static func notice(after attempts: Int) -> String {
        "\(s(NotifyPlan.pause(after: attempts, made: epoch, at: epoch) ?? .zero)) s"
    }

    private static var manifest: [String] {
        let yaml = YAMLLimits()
        let operators = code(Condition.Operator.allCases.map(\.rawValue))
        return [
            """
            A file has at most \(MiB(yaml.bytes)), nests at most \(yaml.depth) deep, and has at \
            most \(grouped(yaml.nodes)) values
            """,
            "A CSV file (RFC 4180) in UTF-8, at most \(MiB(FleetTable.mostBytes))",
            "An error in \(word(Diagnostic.fewest)) or more rows",
            "Operators are \(list(operators)); without",
            "`by` is `family`, `model` (the vehicle's profile) or the name of a column",
        ]
    }

    private static var images: [String] {
        let fetch = FetchSettings()
        let again = (100...599).filter { DownloadError.status($0, retryAfter: nil).mayPass }
        let codes = Command.fetch.exitCodes.map { "\($0.rawValue)" }
        let told = ["66", "69", "77", "73", "74", "75", "78", "130", "143"].filter(codes.contains)
        return [
            "`fetch: connections` images (\(fetch.connections))",
            "at most `size`; without it \(MiB(ImageRequest.largestUnsized.bytes))",
            "\(fetch.redirects) at most; after https only https",
            """
            or \(again.map(String.init).joined(separator: ", ")): `attempts` (\(fetch.attempts)) \
            times
            """,
            """
            between zero and 0.\(milliseconds(fetch.firstPause) / 100) s, 1 s, 2 s … \
            \(s(fetch.longestPause)) s. `Retry-After` is obeyed up to \
            \(words(fetch.longestRetryAfter))
            """,
            """
            \(s(fetch.connectTimeout)) s for a connection; `least-rate-over` \
            (\(s(fetch.slowness)) s) below `least-rate` (\(fetch.leastSpeed / 1_000) kB) a \
            second; in total \(words(fetch.patience)) plus the time for the size at \
            \(KiB(fetch.sustainedSpeed))/s
            """,
            """
            The documents that verify an image have \(words(DocumentFetching.patience)), all \
            together
            """,
            "An image of up to \(KiB(fetch.inPlaceSize.bytes)) is written to the disk in one piece",
            "An image of at most \(KiB(fetch.inPlaceSize.bytes)) is hashed there",
            "or in several after \(words(PartTaker.longestWait)) (`PartTaker`)",
            "at most \(MiB(PieceTaker.window)) behind each (`PieceTaker`)",
            "\(word(Publishers.count).capitalized) more threads wait for the disk to sync",
            "at most \(ZipArchive.entryLimit) entries and \(MiB(ZipArchive.sizeLimit)) unpacked",
            "**Exit codes.** \(told.first ?? "none") when every origin reports",
            "\(told.contains("77") ? "77" : "none") when an origin delivered other bytes",
            "\(list(told.filter { ["73", "74"].contains($0) })) for the disk",
            "\(told.contains("75") ? "75" : "none") while the store is being cleaned up",
            "\(list(told.filter { ["130", "143"].contains($0) })) after a signal",
        ]
    }

    private static var trust: [String] {
        let limits = TrustLimits()
        return [
            """
            Limits: \(limits.roots) new roots, \(grouped(limits.root)) bytes each; timestamp \
            \(grouped(limits.timestamp)); snapshot \(grouped(limits.snapshot)); targets \
            \(grouped(limits.targets)); a listed length can raise this to \
            \(MiB(limits.listed)). \(limits.roles) delegated roles for one name. \
            \(MiB(limits.file)) for a target.
            """,
            "more than \(words(limits.clockTolerance)) behind the last verification",
            """
            At most \(MiB(BillOfMaterials.longest)), and \(MiB(AttestationFile.longest)) for a \
            file of attestations
            """,
            "at most \(JSONReader.depthLimit) levels",
            "The file is a line `yardmaster-bundle-1`",
        ]
    }

    private static var fleet: [String] {
        let over = terms.length + terms.takeoverWait
        let roles = FleetRole.allCases.map { "| `\($0.rawValue)` | read all" }
        return [
            """
            It lasts \(s(terms.length)) seconds by the server's clock and is renewed every \
            \(s(terms.beat)).
            """,
            "its right ends \(words(terms.margin)) earlier than at the server",
            "With \(s(terms.reserve)) seconds left work is asked for its safe point",
            "One whose holder vanished is free \(s(terms.takeoverWait)) seconds after its end",
            "is taken over \(s(terms.takeoverWait)) seconds after its right ended",
            "until the fleet has not heard it for \(s(over)) seconds",
            "nothing is granted for \(s(over)) seconds",
            "a start of the machine | \(s(over)) s |",
            "A vehicle waits \(words(FleetCoordinator.patience)) for the database",
            "checks every \(words(FleetDatabase.lookPause)) whether it is free",
            "when no server answers for \(words(FleetPlace.patience))",
            "as the gateway last reported it (every \(s(terms.beat)) seconds)",
            "until it expires (`--valid`, \(standard(.fleetInvite, "valid").dropLast()) hours)",
            "The tables of this release have version \(FleetSchema.current.version).",
            """
            drops what is over: beginnings of a rollout but for the last \
            \(word(Int(standard(.fleetPrune, "keep")) ?? 0))
            """,
            "nothing that is younger than \(standard(.fleetPrune, "older-than").dropLast()) days",
            "Each has \(word(Int(s(FleetSettings.usualConnectTime)))) seconds",
        ] + roles
    }
}

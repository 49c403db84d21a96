import Base
import Rollout
import Show
import Store
import Testing

/// One run as a fixed list of events, with an example of everything that can happen.
enum Sample {
    /// 2026-11-21T03:30:00Z.
    static let start = WallTime(milliseconds: 1_795_231_800_000)

    static func vehicle(_ text: String) throws -> VehicleID { try #require(VehicleID(text)) }

    static func bytes(_ bytes: Int) throws -> ByteCount { try #require(ByteCount(bytes: bytes)) }

    static func progress(
        _ kibibytes: Int,
        resumedFrom: Int = 0,
        rate: Double? = 11_468.8,
        remaining: Duration? = nil
    ) throws -> Progress {
        Progress(
            acknowledged: try bytes(kibibytes << 10),
            total: try bytes(512 << 10),
            resumedFrom: try bytes(resumedFrom << 10),
            rate: rate,
            remaining: remaining
        )
    }

    static let offers: RunOffers.Maker = { rollout in
        RunOffers(
            look: "yardmaster status --rollout \(rollout) --quiet",
            resume: "yardmaster resume --rollout \(rollout)",
            again: "yardmaster run --again /depot/rollout.yaml"
        )
    }

    static func end(
        _ counts: [Outcome: Int],
        unfinished: Int = 0,
        exit: Int = 0,
        reason: String = "nothing to do for you",
        took: Duration = .seconds(700)
    ) -> RunEnd {
        RunEnd(
            rollout: "tallinn-4.12",
            counts: counts,
            unfinished: unfinished,
            exitCode: exit,
            reason: reason,
            took: took
        )
    }

    /// Numbers the bodies from 1; each has its own time in milliseconds after the start.
    static func events(_ bodies: [(Int, Event.Body)]) -> [Event] {
        bodies.enumerated().map { index, body in
            Event(
                number: index + 1,
                time: start.advanced(by: .milliseconds(body.0)),
                body: body.1
            )
        }
    }

    /// A run with a success after an interruption, one vehicle of every other outcome, and an early
    /// end.
    static func full() throws -> [Event] {
        let plan = try #require(SHA256Digest(String(repeating: "1a2b3c4d", count: 8)))
        let image = try #require(SHA256Digest(String(repeating: "feed0123", count: 8)))
        let (v1, v2, v3) = (try vehicle("v1"), try vehicle("bus-2"), try vehicle("v3 ä🚗"))
        let (v4, v5) = (try vehicle("v4"), try vehicle("v5"))
        func serial(_ text: String) throws -> Serial { try #require(Serial(text)) }
        let (old, new) = (FirmwareVersion(4, 11, 3), FirmwareVersion(4, 12))
        return events([
            (
                0,
                .runStarted(
                    RunStart(
                        rollout: "tallinn-4.12",
                        plan: plan,
                        vehicles: 6,
                        adapters: ["hci0", "hci1"],
                        run: 3,
                        seed: 7
                    )
                )
            ),
            (
                850,
                .imageReady(
                    name: "city-4.12",
                    digest: image,
                    size: try bytes(512 << 10),
                    provenance: ["signed by the key RWQ, first seen 2026-11-20T21:00:00.000Z"]
                )
            ),
            (
                900,
                .notice(
                    Notice(
                        .waveBegan,
                        wave: 1,
                        of: 3,
                        vehicles: [v4, v2],
                        "wave 1 of 3: 2 vehicles"
                    )
                )
            ),
            (1_000, .warning("the clock was set back\nby 3s")),
            (1_000, .attemptStarted(v1, serial: try serial("0a0b01"), attempt: 1, position: 1)),
            (1_200, .stateChanged(v1, .connecting, adapter: "hci0", detail: nil)),
            (1_300, .stateChanged(v1, .authenticating, adapter: "hci0", detail: nil)),
            (1_400, .stateChanged(v1, .inspecting, adapter: "hci0", detail: nil)),
            (1_500, .inspected(v1, version: old, facts: [Fact("state_of_charge", "80 %")])),
            (1_600, .stateChanged(v1, .starting, adapter: "hci0", detail: nil)),
            (1_700, .stateChanged(v1, .transferring, adapter: "hci0", detail: nil)),
            (2_000, .progress(v1, try progress(8, rate: nil))),
            (5_000, .progress(v1, try progress(64, remaining: .seconds(40)))),
            (11_999, .progress(v1, try progress(128, remaining: .seconds(35)))),
            (12_000, .progress(v1, try progress(129, remaining: .seconds(34)))),
            (13_000, .attemptStarted(v2, serial: try serial("0a0b02"), attempt: 1, position: 2)),
            (13_500, .interrupted(v1, cause: "link lost (supervision timeout)", count: 1)),
            (14_000, .stateChanged(v1, .seeking, adapter: "hci0", detail: nil)),
            (
                16_000,
                .problem(
                    v2,
                    Problem(check: "state_of_charge", measured: "31 %", required: ">= 40 %")
                )
            ),
            (
                16_100,
                .vehicleEnded(
                    v2,
                    Verdict(
                        outcome: .deferred,
                        message: "state_of_charge is 31 %, must be >= 40 %",
                        versionBefore: old,
                        attempts: 1,
                        bytesSent: try bytes(0),
                        took: .milliseconds(3_100)
                    )
                )
            ),
            (
                17_000,
                .notice(
                    Notice(
                        .replaced,
                        wave: 1,
                        of: 3,
                        vehicle: v4,
                        vehicles: [v1],
                        "is not heard; v1 takes its place in wave 1"
                    )
                )
            ),
            (20_000, .stateChanged(v1, .transferring, adapter: "hci0", detail: "object 33")),
            (
                26_000,
                .progress(v1, try progress(320, resumedFrom: 128, remaining: .seconds(17)))
            ),
            (45_000, .progress(v1, try progress(512, resumedFrom: 128, remaining: .zero))),
            (45_100, .stateChanged(v1, .settling, adapter: "hci0", detail: "restarting")),
            (70_000, .stateChanged(v1, .confirming, adapter: "hci0", detail: nil)),
            (
                75_500,
                .vehicleEnded(
                    v1,
                    Verdict(
                        outcome: .succeeded,
                        message: "the module reports 4.12.0",
                        versionBefore: old,
                        versionAfter: new,
                        attempts: 1,
                        interruptions: 1,
                        bytesSent: try bytes(513 << 10),
                        took: .milliseconds(74_500)
                    )
                )
            ),
            (75_600, .notice(Notice(.waveEnded, wave: 1, of: 3, "wave 1 has ended"))),
            (
                75_700,
                .notice(
                    Notice(
                        .waveBegan,
                        wave: 2,
                        of: 3,
                        vehicles: [v3, v4, v5],
                        "wave 2 of 3: 3 vehicles"
                    )
                )
            ),
            (76_000, .attemptStarted(v3, serial: try serial("0a0b03"), attempt: 1, position: 3)),
            (
                80_000,
                .retrying(
                    v3,
                    .device,
                    message: "the module answered\u{1B}[2J 'busy'",
                    pause: .seconds(20)
                )
            ),
            (100_000, .attemptStarted(v3, serial: try serial("0a0b03"), attempt: 2, position: 3)),
            (100_500, .stateChanged(v3, .connecting, adapter: "hci1", detail: nil)),
            (
                110_000,
                .vehicleEnded(
                    v3,
                    Verdict(
                        outcome: .failed,
                        failure: .device,
                        message: "the module answered\u{1B}[2J 'busy'",
                        versionBefore: old,
                        versionAfter: old,
                        attempts: 2,
                        bytesSent: try bytes(2_048),
                        took: .seconds(34)
                    )
                )
            ),
            (
                120_000,
                .vehicleEnded(
                    v4,
                    Verdict(
                        outcome: .unreachable,
                        failure: .unreachable,
                        message: "not heard for 30s on hci0",
                        attempts: 4,
                        bytesSent: try bytes(0),
                        took: .seconds(120)
                    )
                )
            ),
            (130_000, .attemptStarted(v5, serial: try serial("0a0b05"), attempt: 1, position: 5)),
            (131_000, .stateChanged(v5, .transferring, adapter: "hci1", detail: nil)),
            (
                700_000,
                .runEnded(
                    end(
                        [.succeeded: 1, .deferred: 1, .failed: 1, .unreachable: 1],
                        unfinished: 2,
                        exit: 10,
                        reason: "some vehicles failed"
                    )
                )
            ),
        ])
    }

    /// The real time of an event, which passes like the events' own times.
    static func moment(_ event: Event) -> Moment {
        Moment(nanoseconds: (event.time.milliseconds - start.milliseconds) * 1_000_000)
    }

    /// The whole output of a printer, with the stream's name before each part.
    static func transcript<P: Printer>(_ printer: P, _ events: [Event]) -> String {
        var printer = printer
        var text = ""
        for event in events {
            for output in printer.print(event, at: moment(event)) {
                text += "<\(output.stream)>\n" + output.text
            }
        }
        return text
    }
}

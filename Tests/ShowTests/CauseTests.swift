import Base
import Foundation
import Show
import Store
import Testing

/// The table that says what helps against which cause.
@Suite struct CauseTests {
    private static let places = Cause.Signal.allCases.flatMap { signal in
        Cause.Tried.allCases.map { (signal, $0) }
    }

    private func remedies(_ cause: Cause) -> [Remedy] {
        Self.places.map { Remedy(cause, $0, $1) }
    }

    /// With YARDMASTER_WRITE set the document is written instead of compared.
    @Test func `the document is the table`() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../docs/causes.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        let mark =
            "<!-- from here on made from the table in Sources/Show/Facts/Remedy.swift; a test compares -->\n"
        let start = try #require(text.firstRange(of: mark))
        let expected = text[..<start.upperBound] + "\n" + Remedy.reference
        if ProcessInfo.processInfo.environment["YARDMASTER_WRITE"] != nil {
            try Data(expected.utf8).write(to: file)
            return
        }
        #expect(text == expected, "run this test with YARDMASTER_WRITE=1 to renew docs/causes.md")
    }

    @Test(arguments: FailureClass.allCases)
    func `each class of failure has its rows`(failure: FailureClass) throws {
        let cause = Cause(failure)
        #expect(cause.rawValue == failure.rawValue)
        for outcome in Outcome.allCases where outcome.tally == .failed {
            let step = try #require(try step(outcome, failure))
            #expect(step.cause == (outcome == .timedOut ? .timedOut : cause))
            #expect(!step.sentence.isEmpty && step.sentence.hasPrefix("what happened"))
        }
        #expect(remedies(cause).allSatisfy { $0.work.needsPerson || $0.isHelpedByNight })
    }

    @Test func `no row advises what cannot help`() {
        for cause in [Cause.rejected, .integrity, .list] {
            let rows = Set(remedies(cause))
            #expect(rows.count == 1, "\(cause): neither the signal nor a debt changes what helps")
            for row in rows {
                #expect(row.work == .correct && row.actor == .operator && !row.isHelpedByNight)
                for word in ["near", "adapter", "run again", "charge", "next run"] {
                    #expect(!row.advice.contains(word), "\(cause): \(row.advice)")
                }
            }
        }
        for cause in Cause.allCases {
            for tried in Cause.Tried.allCases {
                let near = Remedy(cause, .near, tried)
                #expect(!near.advice.contains("adapter"), "\(cause): it is near already")
            }
            for row in remedies(cause) {
                #expect(row.work == .charge ? cause == .lowPower : true)
                #expect(row.work == .wait ? row.isHelpedByNight : true)
                #expect(row.actor == .nobody ? !row.work.needsPerson : true)
                #expect(row.actor == .mechanic ? row.work == .mechanic : true)
            }
        }
        #expect(remedies(.lowPower).contains { $0.work == .charge })
    }

    @Test func `a refused image is corrected though the bootloader waits`() throws {
        for failure in [FailureClass.rejected, .integrity] {
            let step = try #require(
                try step(.failed, failure, signal: "-60 dBm", .inBootloader)
            )
            #expect(step.work == .correct)
            #expect(step.sentence.hasPrefix("what happened"), "the cause stands on the card")
        }
    }

    @Test func `a busy module waits where it is near, and is brought nearer where it is not`()
        throws
    {
        for (signal, work) in [
            ("-60 dBm", NextStep.Work.wait), ("-91 dBm", .bringIn), ("", .bringIn),
        ] {
            #expect(try step(.failed, .transient, signal: signal, .midUpdate)?.work == work)
        }
        #expect(try step(.failed, .transient, signal: "-60 dBm", .inBootloader)?.work == .rescue)
    }

    private func step(
        _ outcome: Outcome,
        _ failure: FailureClass?,
        signal: String? = nil,
        _ state: Standing.State? = nil
    ) throws -> NextStep? {
        var standing = Standing(
            try #require(Serial("0a0b0c")),
            state ?? .waiting,
            verdict: Verdict(
                outcome: outcome,
                failure: failure,
                message: "what happened",
                attempts: 1,
                bytesSent: .zero,
                took: .zero
            )
        )
        if state != nil {
            standing.debt = Standing.Unproven(
                image: "city 4.12.0",
                rollout: "city",
                run: 1,
                seenRun: 1,
                percent: 12
            )
        }
        let guide = NextStepGuide(
            rollout: "city",
            manifest: "city.yaml",
            flags: PlaceFlags(),
            hold: nil,
            isAtWork: false
        )
        return guide.step(
            try #require(VehicleID("bus-1")),
            standing,
            signal: Cause.Signal(signal)
        )
    }
}

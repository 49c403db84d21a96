import Base
import Foundation
import Show
import Store
import Testing

/// Ten mornings on a small and a large terminal: what a person sees first.
@Suite struct MorningScreenTests {
    private typealias Bus = MorningDepot.Bus

    private static func done(_ count: Int) -> [Bus] { Array(repeating: .done, count: count) }

    private static func failed(
        _ failure: FailureClass,
        _ message: String,
        _ outcome: Outcome = .failed,
        signal: Int? = -60,
        owes: Int? = nil,
        inBootloader: Bool = false
    ) -> Bus {
        Bus(
            outcome: outcome,
            failure: failure,
            message: message,
            signal: signal,
            owes: owes,
            inBootloader: inBootloader
        )
    }

    private static let away = failed(
        .unreachable,
        "not heard within 2m; is it in the depot, charged, and not connected to a phone?",
        .unreachable,
        signal: nil
    )

    private static func low(_ charge: Int) -> Bus {
        Bus(outcome: .deferred, message: "state_of_charge is \(charge), required is >= 40")
    }

    static let mornings = [
        MorningDepot(name: "well", buses: done(60), end: (0, "all vehicles are done")),
        MorningDepot(
            name: "window",
            buses: done(5) + Array(repeating: .notBegun, count: 55),
            window: "01:00-04:00"
        ),
        MorningDepot(
            name: "gate",
            buses: [
                failed(.wrongVersion, "the module came back with 4.11.3", owes: nil),
                failed(.wrongVersion, "the module came back with 4.11.3", owes: nil),
                failed(.noReturn, "the module did not come back within 5m", owes: 100),
            ] + done(8) + Array(repeating: .notBegun, count: 49),
            end: (12, "the rollout is paused"),
            hold: Hold(
                .paused,
                MorningDepot.rollout,
                reason: "the gate: 3 of 11 attempted have failed, at most 10 % may",
                author: Hold.gate,
                at: MorningDepot.before(1)
            )
        ),
        MorningDepot(
            name: "doubt",
            buses: [
                Bus(
                    outcome: .inDoubt,
                    failure: .inDoubt,
                    message: "`command: lock` has no known result",
                    doubt: "command: lock"
                )
            ] + done(11),
            end: (10, "some vehicles failed")
        ),
        MorningDepot(
            name: "bricked",
            buses: [
                failed(.transient, "the link was lost three times", owes: 40, inBootloader: true),
                failed(
                    .noReturn,
                    "its bootloader is not heard any more",
                    signal: -92,
                    owes: 12,
                    inBootloader: true
                ),
                failed(.noReturn, "the module did not come back within 5m", owes: 100),
            ] + done(9),
            end: (10, "some vehicles failed")
        ),
        MorningDepot(
            name: "key",
            buses: Array(
                repeating: failed(
                    .rejected,
                    "signing in: the module refuses the secret",
                    .rejected
                ),
                count: 4
            ) + done(8),
            end: (10, "some vehicles failed")
        ),
        MorningDepot(
            name: "image",
            buses: [
                failed(
                    .rejected,
                    "executing the init packet: the image is too large for the module",
                    .rejected,
                    owes: 0,
                    inBootloader: true
                ),
                failed(
                    .integrity,
                    "executing the init packet: the module does not accept the signature",
                    owes: 0,
                    inBootloader: true
                ),
                failed(.transient, "starting the bootloader: the module is busy", owes: 0),
            ] + done(9),
            end: (10, "some vehicles failed")
        ),
        MorningDepot(
            name: "batteries",
            buses: [low(12), low(31), low(12), away] + done(8),
            end: (11, "some vehicles were not reached")
        ),
        MorningDepot(
            name: "bluetooth",
            buses: Array(
                repeating: Bus(
                    outcome: .deferred,
                    failure: .transient,
                    message: "the adapter hci0 is gone; the next run tries again",
                    signal: nil
                ),
                count: 12
            ),
            end: (11, "some vehicles were not reached")
        ),
        MorningDepot(
            name: "gateways",
            buses: [away, failed(.device, "the module has no characteristic 2a26"), low(8)]
                + done(30),
            end: (10, "some vehicles failed"),
            gateways: ["north", "south"]
        ),
    ]

    @Test(arguments: mornings.map(\.name))
    func `the first screen of a morning has all that a person needs`(name: String) async throws {
        let depot = try #require(Self.mornings.first { $0.name == name })
        let (page, status) = try await depot.facts()
        let text = StatusText(status, depot.holder, isQuiet: true, time: MorningDepot.words)
            .text(hasOthers: true)
        for size in [Size(columns: 80, lines: 24), Size(columns: 120, lines: 40)] {
            let morning = MorningText(page, width: size.columns, time: MorningDepot.words).text
            try Golden.expect(size.screen(morning), equals: "morning-\(name)-\(size).txt")
            try check(morning, size, page.headline, page.groups, of: depot, isTold: 1)
            let folded = Columns.folded(text, size.columns)
            try Golden.expect(size.screen(folded), equals: "status-\(name)-\(size).txt")
            try check(folded, size, page.headline, status.groups, of: depot, isTold: nil)
        }
        // The pages give each command once, too.
        let live = LivePage(time: MorningDepot.words)
        for html in [
            MorningHTML(page, time: MorningDepot.words).text, live.rollout(status).text(made: nil),
        ] {
            let commands = html.matches(of: /<code>(yardmaster .+?)<\/code>/).map { $0.1 }
            #expect(Set(commands).count == commands.count, "\(commands)")
        }
    }

    @Test func `a run at work says when it is done, and whether its window lasts so long`()
        async throws
    {
        // One vehicle ended every twenty minutes, the last one forty minutes ago.
        let ended = [120, 100, 80, 60, 40].map { Bus(ended: $0) }
        for (left, words) in [
            (
                3,
                "done at about 2026-11-22 00:20 at this pace; the window closes at 2026-11-22 04:00"
            ),
            (
                20,
                "done at about 2026-11-22 06:00 at this pace; the window closes at 2026-11-22 04:00, "
                    + "and the rest goes on in the next one"
            ),
        ] {
            let depot = MorningDepot(
                name: "night",
                buses: ended + Array(repeating: .notBegun, count: left),
                window: "22:00-04:00"
            )
            let (_, status) = try await depot.facts()
            let text = StatusText(status, depot.holder, isQuiet: true, time: MorningDepot.words)
                .text(hasOthers: true)
            #expect(text.contains("\nunder way in wave 1; \(words)\n"), "\(text)")
            #expect(status.json["closes"]?.string == "2026-11-22T04:00:00.000Z")
            #expect(status.json["expected-end"]?.string?.hasPrefix("2026-11-22T0") == true)
        }
    }

    @Test(arguments: [200, 201])
    func `of many vehicles only those have a line that need more, unless all are asked for`(
        count: Int
    ) async throws {
        let depot = MorningDepot(
            name: "night",
            buses: [Self.away] + Self.done(count - 21) + Array(repeating: .notBegun, count: 20)
        )
        let (_, status) = try await depot.facts()
        func lines(isQuiet: Bool = false, listsAll: Bool = false) -> Int {
            let time = MorningDepot.words
            let text = StatusText(status, nil, isQuiet: isQuiet, listsAll: listsAll, time: time)
                .text(hasOthers: false)
            let isCounted = text.contains("\n200 more are done or wait for a run; --limit '*' ")
            #expect(isCounted == (count > 200 && !isQuiet && !listsAll), "\(text)")
            return text.split(separator: "\n").count {
                $0.hasPrefix("bus-") && $0.contains("  00a0")
            }
        }
        #expect(lines(isQuiet: true) == 1)
        #expect(lines() == (count > 200 ? 1 : count))
        #expect(lines(listsAll: true) == count)
    }

    private struct Size: CustomStringConvertible {
        let columns: Int
        let lines: Int

        var description: String { "\(columns)x\(lines)" }

        func screen(_ text: String) -> String {
            text.split(separator: "\n", omittingEmptySubsequences: false).prefix(lines)
                .map { $0 + "\n" }.joined()
        }
    }

    /// `isTold` is how often what happened to a vehicle is said; nil for once beside each vehicle.
    private func check(
        _ text: String,
        _ size: Size,
        _ headline: Headline,
        _ groups: [HelpGroup],
        of depot: MorningDepot,
        isTold: Int?
    ) throws {
        let first = size.screen(text)
        for line in first.split(separator: "\n") {
            #expect(line.count <= size.columns, "\(line)")
        }
        // A long line is folded, so the words are compared without their line breaks.
        func plain(_ text: String) -> String {
            text.split { $0.isWhitespace }.joined(separator: " ")
        }
        #expect(plain(first).contains(try #require(headline.sentence)))
        for group in groups { #expect(plain(first).contains(plain(group.heading)), "\(first)") }
        let commands = text.matches(of: /yardmaster [a-z]+[^#'\n]*/).map {
            $0.0.trimmingCharacters(in: .whitespaces)
        }
        #expect(Set(commands).count == commands.count, "\(commands)")
        for (message, buses) in Dictionary(grouping: depot.buses, by: \.message)
        where !message.isEmpty && buses[0].outcome?.tally != .ok {
            let told = plain(message.replacing(/; is it in the depot.*/, with: ""))
            let count = plain(text).components(separatedBy: told).count - 1
            #expect(count <= isTold ?? buses.count, "\(told): \(count)")
        }
    }
}

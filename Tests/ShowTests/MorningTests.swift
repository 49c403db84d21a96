import Base
import Foundation
import Show
import Store
import Testing

/// The morning page in each of its forms, with every possible part.
@Suite struct MorningTests {
    private static func time(_ hours: Int) -> WallTime {
        WallTime(milliseconds: 1_795_305_600_000).advanced(by: .seconds(3_600 * hours))
    }

    private static func words(_ time: WallTime) -> String {
        "\(time.description.prefix(16))".replacingOccurrences(of: "T", with: " ") + " +02:00"
    }

    private func card(
        _ id: String,
        _ serial: String,
        plate: String? = nil,
        bay: String? = nil
    ) throws -> MorningPage.Card {
        var card = MorningPage.Card(try #require(VehicleID(id)), Serial(serial))
        card.plate = plate
        card.depot = "tallinn-1"
        card.bay = bay
        card.lastSeen = Self.time(-2)
        card.signal = "-71 dBm"
        return card
    }

    /// A page whose data from outside is as hostile as possible.
    private func page() throws -> MorningPage {
        let evil = "<script>alert(1)</script>\u{1B}[2J"
        var changes = MorningPage.Changes()
        changes.failed = [try #require(VehicleID("bike-4"))]
        changes.updated = [try #require(VehicleID("bike-7")), try #require(VehicleID("bike-8"))]
        var away = try card(
            "cmd|'/c calc'!A1",
            "00a0000000000009",
            plate: "=cmd|'/c calc'!A1",
            bay: "10"
        )
        away.lastSeen = nil
        away.signal = nil
        let retry = NextStep.Command("yardmaster retry --rollout city-4.12 bike-4", "when repaired")
        return MorningPage(
            since: Self.time(-12),
            made: Self.time(0),
            nights: [
                MorningPage.Night(
                    rollout: "city-4.12",
                    run: 12,
                    began: Self.time(-6),
                    ended: Self.time(-2),
                    exitCode: 10,
                    reason: "some vehicles failed",
                    counts: VehicleCounts(outcomes: [.succeeded: 41, .failed: 1, .unreachable: 1])
                )
            ],
            tasks: [
                MorningPage.Task(
                    away,
                    "city-4.12",
                    NextStep(
                        .unreachable,
                        "not heard within 2m; is it in the depot, charged, and not connected to a "
                            + "phone?",
                        []
                    )
                ),
                MorningPage.Task(
                    try card("bike-4", "00a0000000000004", plate: evil, bay: "10"),
                    "city-4.12",
                    NextStep(.noReturn, "the module did not come back, \(evil)", [retry])
                ),
                MorningPage.Task(
                    try card("bike-3", "00a0000000000003", plate: "103 DMO", bay: "2"),
                    "city-4.12",
                    NextStep(
                        .inDoubt,
                        "nobody knows whether `command: lock` was carried out",
                        [
                            NextStep.Command("yardmaster clear bike-3", "it was carried out"),
                            NextStep.Command(
                                "yardmaster retry --rollout city-4.12 bike-3",
                                "it was not"
                            ),
                        ]
                    )
                ),
                MorningPage.Task(
                    try card("bike-2", "00a0000000000002", bay: "2"),
                    "city-4.12",
                    NextStep(
                        .rolledBack,
                        "went back to 4.11.0: it was not healthy in time",
                        [retry]
                    )
                ),
            ],
            changes: changes,
            stale: [MorningPage.Stale(try card("bike-9", "00a0000000000009"), lastCurrent: nil)],
            staleDays: 7
        )
    }

    @Test func `each form of the page is as kept`() throws {
        let page = try page()
        let text = MorningText(page, width: 80, time: Self.words).text
        let html = MorningHTML(page, time: Self.words).text
        try Golden.expect(text, equals: "morning.txt")
        try Golden.expect(html, equals: "morning.html")
        try Golden.expect(page.csv, equals: "morning.csv")
        try Golden.expect(page.json.text + "\n", equals: "morning.json")
        try Golden.expect(
            page.mail(to: "crew@example.com", text: text, html: html),
            equals: "morning.eml"
        )
    }

    @Test func `work comes in its order, and bays as people count them`() throws {
        let page = try page()
        #expect(page.groups.map(\.work) == [.answer, .mechanic, .mechanic, .bringIn])
        let text = MorningText(page, width: 80, time: Self.words).text
        let bays = text.matches(of: /bike-\d, (bay \d+)/).map { String($0.1) }
        #expect(bays.prefix(3) == ["bay 2", "bay 2", "bay 10"])
        #expect(
            page.summary
                == "1 rollout, 1 failed; to do: 1 answer, 2 mechanic, 1 bring-in"
        )
    }

    @Test func `those that wait are a number, and what lets them go on is said once`() throws {
        let step = NextStep(
            .notBegun,
            "not begun",
            [NextStep.Command("yardmaster resume", "the rollout is paused")]
        )
        let tasks = try (1...57).map { number in
            MorningPage.Task(
                try card("bus-\(number)", "0a\(number)", bay: "bay \(number)"),
                "city",
                step
            )
        }
        let page = MorningPage(
            since: Self.time(0),
            made: Self.time(0),
            nights: [],
            tasks: tasks,
            changes: MorningPage.Changes(),
            stale: [],
            staleDays: 7
        )
        let text = MorningText(page, width: 80, time: Self.words).text
        #expect(text.contains("\n  57 vehicles: not begun\n  $ yardmaster resume   #"))
        #expect(text.split(separator: "\n").count == 4, "\(text)")
        let html = MorningHTML(page, time: Self.words).text
        #expect(!html.contains("<article>"))
        #expect(html.contains("57 vehicles: not begun"))
        #expect(html.matches(of: /yardmaster resume/).count == 1)
        #expect(page.csv.split(separator: "\r\n").count == 58)
    }

    @Test func `what came from outside is text in every form`() throws {
        let page = try page()
        let text = MorningText(page, width: 80, time: Self.words).text
        #expect(!text.contains("\u{1B}"))
        // No line is wider than the terminal, except commands, which are copied.
        for line in text.split(separator: "\n") where !line.contains("$ ") {
            #expect(line.count <= 80, "\(line)")
        }
        let html = MorningHTML(page, time: Self.words).text
        for word in ["<script", "http://", "https://", "src=", "href=", "url("] {
            #expect(!html.contains(word), "\(word)")
        }
        let rows = page.csv.split(separator: "\r\n").dropFirst()
        #expect(rows.count == 4)
        #expect(page.csv.contains(",'=cmd|'/c calc'!A1,"))
        #expect(page.csv.split(separator: ",").allSatisfy { !$0.hasPrefix("=") })
        #expect(try JSONValue(json: page.json.text)["tasks"]?.array?.count == 4)
    }

    @Test func `a mail can hold nothing but its two parts`() throws {
        let page = try page()
        let mail = page.mail(to: "crew@example.com", text: "a\n--x\n\nSubject: b", html: "<p>")
        let headers = mail.components(separatedBy: "\n\n")[0]
        #expect(headers.split(separator: "\n").allSatisfy { $0.contains(": ") })
        #expect(mail.components(separatedBy: "\n--=_yardmaster").count == 4)
        #expect(!mail.contains("Subject: b"))
    }

    @Test func `a word that a shell would take apart is quoted`() {
        #expect(NextStep.quoted("bike-04") == "bike-04")
        #expect(NextStep.quoted("bus 17; rm -rf /") == "'bus 17; rm -rf /'")
        #expect(NextStep.quoted("it's") == "'it'\\''s'")
        #expect(NextStep.quoted("") == "''")
    }
}

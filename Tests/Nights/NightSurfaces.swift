import Base
import Commands
import Manifest
import Operations
import Rollout
import Show
import Store
import Synchronization

/// Everything that shows a run of a night, held against each other: every number that people or
/// programs read of it (R6, R7; docs/words.md).
///
/// The last line, the document, the table, the page, the test report and the metrics are made from
/// the run's events; status, its page, the morning and the history from the journal.
final class NightSurfaces: Sendable {
    private let story = Mutex(RunStory())
    private let told = Mutex<[String]>([])

    /// What differs, one sentence each.
    var differences: [String] { told.withLock { $0 } }

    func hear(_ event: Event) { story.withLock { $0.note(event) } }

    /// The number of vehicles for each outcome, and of those without one.
    private typealias Counts = [String: Int]

    private func compare<Value: Equatable>(_ name: String, _ value: Value, _ expected: Value) {
        guard value != expected else { return }
        told.withLock { $0.append("\(name) has \(value), and the run ended with \(expected)") }
    }

    /// Compares all of them for the run that has just ended; the end is the last event.
    func compare(
        _ end: RunEnd,
        of run: Int,
        in journal: Journal,
        at now: WallTime
    ) async throws {
        let story = story.withLock { $0 }
        let outcomes = Dictionary(
            uniqueKeysWithValues: story.vehicles.map { ($0.id.text, $0.name) }
        )
        let counts = Self.counts(end.vehicles)
        compare("the vehicles of the run", Self.counts(outcomes.values), counts)
        compareLastLine(end)
        try compareDocument(story, counts, outcomes)
        compareTable(story, outcomes)
        compareMetrics(story, counts)
        comparePages(story, counts)
        compareEfforts(story)
        try await compareStanding(story, end, of: run, outcomes, counts, in: journal, at: now)
    }

    // MARK: What a run writes

    private func compareLastLine(_ end: RunEnd) {
        var fields: [String: Int] = [:]
        for field in Recap.lastLine(end).split(whereSeparator: \.isWhitespace) {
            let parts = field.split(separator: "=")
            guard parts.count == 2, let number = Int(parts[1]) else { continue }
            fields[String(parts[0])] = number
        }
        for tally in Outcome.Tally.allCases {
            compare("the last line, \(tally)", fields[tally.rawValue] ?? 0, end.count(tally))
        }
        compare("the last line, unfinished", fields["unfinished"] ?? 0, end.unfinished)
        compare("the last line, exit", fields["exit"], end.exitCode)
    }

    private func compareDocument(
        _ story: RunStory,
        _ counts: Counts,
        _ outcomes: [String: String]
    ) throws {
        let document = try JSONValue(json: story.document ?? "")
        compare("the document", Self.counts(document["counts"]), counts)
        var found: [String: String] = [:]
        var bytes = 0
        for vehicle in document["vehicles"]?.array ?? [] {
            found[vehicle["vehicle"]?.string ?? "-"] =
                vehicle["outcome"]?.string ?? Standing.unfinished
            bytes += vehicle["bytes"]?.integer.flatMap { Int(exactly: $0) } ?? 0
            // What a module ran last, where this run gave the verdict and owes nothing.
            if vehicle["run"] == nil, let after = vehicle["versions"]?["after"],
                let last = vehicle["firmware"]?["version"]
            {
                compare("the firmware of \(vehicle["vehicle"]?.string ?? "-")", last, after)
            }
        }
        compare(
            "the seconds of the document",
            document["seconds"],
            story.end.map { JSONValue.seconds($0.run.took) }
        )
        compare("the vehicles of the document", found, outcomes)
        compare("the bytes of the document", bytes, story.bytesSent)
    }

    private func compareTable(_ story: RunStory, _ outcomes: [String: String]) {
        let rows = CSVReport.text(story).split(separator: "\r\n").map {
            $0.split(separator: ",", maxSplits: 11, omittingEmptySubsequences: false)
        }
        var found: [String: String] = [:]
        var bytes = 0
        var seconds: [String: Double] = [:]
        for row in rows.dropFirst() where row.count == 12 {
            found[String(row[0])] = String(row[2])
            bytes += Int(row[8]) ?? 0
            seconds[String(row[0])] = Double(row[10])
        }
        for vehicle in story.vehicles {
            let milliseconds = vehicle.verdict.map { $0.took.nanoseconds / 1_000_000 }
            compare(
                "the seconds of \(vehicle.id) in the table",
                seconds[vehicle.id.text],
                milliseconds.map { Double($0) / 1_000 }
            )
        }
        compare("the table", found, outcomes)
        compare("the bytes of the table", bytes, story.bytesSent)
    }

    private func compareMetrics(_ story: RunStory, _ counts: Counts) {
        let text = MetricsText.text(story)
        var found: Counts = [:]
        var failures: Counts = [:]
        var single: [String: Double] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: " ")
            guard parts.count == 2, let value = Double(parts[1]) else { continue }
            let labels = parts[0].split(separator: "\"")
            switch parts[0].prefix(while: { $0 != "{" }) {
            case "yardmaster_run_vehicles" where value > 0:
                found[String(labels[labels.count - 2])] = Int(value)
            case "yardmaster_run_failures" where value > 0:
                failures[String(labels[labels.count - 2])] = Int(value)
            case let name: single[String(name)] = value
            }
        }
        compare("the metrics", found, counts)
        var classes: Counts = [:]
        for vehicle in story.vehicles {
            if let failure = vehicle.verdict?.failure { classes[failure.rawValue, default: 0] += 1 }
        }
        compare("the classes of the metrics", failures, classes)
        compare(
            "the bytes of the metrics",
            single["yardmaster_run_image_bytes"],
            Double(story.bytesSent)
        )
        compare(
            "the interruptions of the metrics",
            single["yardmaster_run_interruptions"],
            Double(story.vehicles.reduce(0) { $0 + $1.interruptions.count })
        )
        compare(
            "the seconds of the metrics",
            single["yardmaster_run_seconds"].map { Int(($0 * 1_000).rounded()) },
            story.end.map { Int($0.run.took.nanoseconds / 1_000_000) }
        )
        compare(
            "the exit code of the metrics",
            single["yardmaster_run_exit_code"],
            story.end.map { Double($0.run.exitCode) }
        )
    }

    private func comparePages(_ story: RunStory, _ counts: Counts) {
        let cases = Self.pieces("name=\"outcome\" value=\"", "\"", in: JUnitReport.text(story))
        compare("the test report", Self.counts(cases), counts)
        let page = HTMLReport.text(story)
        let badges = Self.pieces("data-label=\"outcome\"><span><span class=\"badge ", "<", in: page)
        compare(
            "the rows of the page",
            Self.counts(badges.map { String($0.split(separator: " ").last ?? "") }),
            counts
        )
        compare("the tiles of the page", Self.tiles(of: page), counts)
    }

    private static func tiles(of page: String) -> Counts {
        var tiles: Counts = [:]
        for tile in pieces("data-count=\"", "<", in: page) {
            let parts = tile.split(separator: "\">")
            guard parts.count == 2 else { continue }
            tiles[String(parts[0])] = Int(parts[1])
        }
        return tiles
    }

    /// What the run did to each vehicle, as its row says it and as its events do.
    private func compareEfforts(_ story: RunStory) {
        for vehicle in story.vehicles {
            guard let verdict = vehicle.verdict else { continue }
            let name = vehicle.id.text
            let isEarlier = vehicle.standing?.run != nil
            if isEarlier {
                compare("the attempts of an earlier run on \(name)", verdict.attempts, 0)
                compare("the bytes of an earlier run on \(name)", verdict.bytesSent, .zero)
            } else {
                compare(
                    "the row of \(name), interruptions",
                    verdict.interruptions,
                    vehicle.interruptions.count
                )
            }
        }
    }

    // MARK: What is read from the journal

    private func compareStanding(
        _ story: RunStory,
        _ end: RunEnd,
        of run: Int,
        _ outcomes: [String: String],
        _ counts: Counts,
        in journal: Journal,
        at now: WallTime
    ) async throws {
        let found = try await journal.look { view throws(JournalError) in
            let snapshot = try RolloutSnapshot(of: end.rollout, in: view, holder: nil, at: now)
            let status = RolloutStatus(
                snapshot,
                briefs: [],
                plan: nil,
                manifest: nil,
                isRunning: false,
                flags: PlaceFlags()
            )
            let words = try view.lastWords(ofRun: run)
            guard let record = try view.run(run) else {
                throw JournalError(.internal, "look", words: "there is no run \(run)")
            }
            let row = RunList.Row(record, lastEvent: try view.lastEvent(run: run))
            let earlier = try view.runs(rollout: end.rollout, limit: 2).first { $0.number < run }
            var stories: [String: JSONValue] = [:]
            for vehicle in story.vehicles {
                let seen = try VehicleView(of: vehicle.id, in: view, holder: nil, at: now)
                stories[vehicle.id.text] =
                    VehicleStory(seen, plans: [:], flags: PlaceFlags()).json
            }
            return (
                plan: record.plan,
                status: status,
                notice: NotifyNotice(
                    .failed,
                    of: record,
                    snapshot,
                    nil,
                    zone: .utc,
                    manifest: nil,
                    flags: PlaceFlags(),
                    made: now
                ),
                stories: stories,
                comparison: RunComparison((row, words), (row, words)),
                change: try earlier.map { earlier throws(JournalError) in
                    RunComparison(
                        (
                            RunList.Row(
                                earlier,
                                lastEvent: try view.lastEvent(run: earlier.number)
                            ),
                            try view.lastWords(ofRun: earlier.number)
                        ),
                        (row, words)
                    )
                },
                history: row.end,
                list: RunList([row], sayings: [], holder: nil).json,
                morning: MorningMaker(
                    try MorningMaker.Ground(in: view, since: now, holder: nil, at: now),
                    plans: [:],
                    since: now,
                    at: now,
                    staleDays: 7,
                    flags: PlaceFlags()
                ).page
            )
        }
        compare("the history", found.history.map { Self.counts($0.vehicles) }, counts)
        // The interface for programs answers with these documents.
        let listed = found.list["runs"]?.array ?? []
        compare("the document of the history", listed.map { Self.counts($0["counts"]) }, [counts])
        // Each vehicle has a last word of the run, and the same one in both runs.
        let alike = found.comparison
        compare("the comparison with itself", alike.same, outcomes.count)
        compare("the changes from itself", alike.changes.count, 0)
        if let change = found.change { compare(change, with: outcomes) }
        let status = found.status
        let offers = NightOffers.faults(of: status)
        told.withLock { $0 += offers }
        var stands: [String: String] = [:]
        var others: Set<String> = []
        for (record, standing) in zip(status.chosen, status.standings) {
            stands[record.vehicle.text] = standing.name
            if record.plan != found.plan { others.insert(record.vehicle.text) }
        }
        // Status has the vehicles that were begun, also those of an earlier plan; a run that begins
        // nothing reports its own without verdicts, and those that another rollout left in doubt or owes.
        var begun = outcomes
        for vehicle in story.vehicles {
            let name = vehicle.id.text
            guard stands[name] == nil || others.contains(name) else { continue }
            let isOpen =
                vehicle.verdict == nil
                && (stands[name] != nil || vehicle.standing?.state == .notBegun)
            let isHeld =
                [ExitCode.paused, .aborted].contains { $0.rawValue == end.exitCode }
                && (vehicle.verdict == nil || outcomes[name] == Outcome.inDoubt.rawValue)
                && stands[name] == nil
            if isOpen || isHeld {
                begun[name] = nil
                stands[name] = nil
            } else if stands[name] == nil {
                told.withLock { $0.append("status has no \(vehicle.id): \(vehicle.sentence)") }
            }
        }
        // A run of a part has only some of the rollout's vehicles.
        compare("status", stands.filter { outcomes[$0.key] != nil }, begun)
        for (name, outcome) in begun {
            compareVehicle(name, outcome, of: end.rollout, found.stories[name], found.notice)
        }
        guard Set(stands.keys) == Set(outcomes.keys) else { return }
        compare("the counts of status", Self.counts(status.counts), counts)
        let document = status.json
        compare("the document of status", Self.counts(document["counts"]), counts)
        let page = LivePage { $0.description }.rollout(status).text(made: nil)
        compare("the page of the rollout", Self.tiles(of: page), counts)
        compare(
            "the counts of a notice",
            Self.counts(found.notice.counts ?? VehicleCounts()),
            counts
        )
        let nights = found.morning.nights.filter { $0.run == run }
        compare("the morning", nights.map { Self.counts($0.counts) }, [counts])
        let mornings = (found.morning.json["rollouts"]?.array ?? []).filter {
            $0["run"]?.integer == Int64(run)
        }
        compare("the document of the morning", mornings.map { Self.counts($0["counts"]) }, [counts])
    }

    /// What `show` says of one vehicle, and whether a notice names it.
    private func compareVehicle(
        _ name: String,
        _ outcome: String,
        of rollout: String,
        _ story: JSONValue?,
        _ notice: NotifyNotice
    ) {
        let row = story?["rollouts"]?.array?.first { $0["rollout"]?.string == rollout }
        let state = row?["state"]?.string
        compare(
            "show of \(name)",
            state.map { Outcome(rawValue: $0) == nil ? Standing.unfinished : $0 },
            outcome
        )
        guard Outcome(rawValue: outcome)?.tally == .failed else { return }
        let isNamed = notice.more > 0 || notice.tasks.contains { $0.vehicle == name }
        compare("a notice, naming \(name)", isNamed, true)
    }

    /// The comparison of this run with the one before: each vehicle once, as this run left it.
    private func compare(_ change: RunComparison, with outcomes: [String: String]) {
        let document = change.json
        let changes = document["changes"]?.array ?? []
        let alone = document["only-after"]?.array?.count ?? 0
        compare(
            "the comparison with the run before",
            change.same + changes.count + alone,
            outcomes.count
        )
        for row in changes {
            let name = row["vehicle"]?.string ?? "-"
            let state = row["after"]?["state"]?.string ?? "-"
            let told = Outcome(rawValue: state) == nil ? Standing.unfinished : state
            compare("the change of \(name)", told, outcomes[name])
        }
        // The report of the run before is what it was.
        guard let before = change.before.end else { return }
        let reported = change.same + changes.count + change.onlyBefore.count
        compare("the vehicles of the run before", reported, before.vehicles.total)
    }

    // MARK: Reading

    private static func counts(_ counts: VehicleCounts) -> Counts {
        var found: Counts = [:]
        for (outcome, count) in counts.outcomes where count > 0 { found[outcome.rawValue] = count }
        if counts.unfinished > 0 { found[Standing.unfinished] = counts.unfinished }
        return found
    }

    private static func counts(_ names: some Sequence<String>) -> Counts {
        names.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }

    private static func counts(_ document: JSONValue?) -> Counts {
        var found: Counts = [:]
        for member in document?.members ?? [] {
            guard let count = member.value.integer, count > 0 else { continue }
            found[member.name] = Int(exactly: count)
        }
        return found
    }

    /// The texts between each `start` and the next `end`.
    private static func pieces(_ start: String, _ end: String, in text: String) -> [String] {
        let (bytes, start, end) = (Array(text.utf8), Array(start.utf8), Array(end.utf8))
        var found: [String] = []
        var index = 0
        func isAt(_ index: Int, _ words: [UInt8]) -> Bool {
            index + words.count <= bytes.count && bytes[index..<index + words.count] == words[...]
        }
        while index < bytes.count {
            guard isAt(index, start) else {
                index += 1
                continue
            }
            index += start.count
            let begin = index
            while index < bytes.count, !isAt(index, end) { index += 1 }
            found.append(String(decoding: bytes[begin..<index], as: UTF8.self))
        }
        return found
    }
}

import Foundation
import Testing

/// The number of vehicles in each count, from one of the places that report it.
struct Numbers: Equatable, CustomStringConvertible {
    private var counts: [String: Int] = [:]

    static let names = [
        "ok", "current", "deferred", "unreachable", "failed", "skipped", "aborted", "unfinished",
    ]

    private static let tally = [
        "succeeded": "ok", "already-current": "current", "rolled-back": "failed",
        "rejected": "failed", "timed-out": "failed", "in-doubt": "failed",
    ]

    subscript(name: String) -> Int { counts[name] ?? 0 }

    var total: Int { counts.values.reduce(0, +) }

    var description: String {
        Self.names.filter { self[$0] > 0 }.map { "\($0)=\(self[$0])" }.joined(separator: " ")
    }

    /// From outcomes, each with its number of vehicles.
    init(_ outcomes: [(String, Int)]) {
        for (outcome, count) in outcomes where count > 0 {
            counts[Self.tally[outcome] ?? outcome, default: 0] += count
        }
    }

    init(lastLine: String) {
        self.init(
            lastLine.split(separator: " ").compactMap { field in
                let parts = field.split(separator: "=")
                guard parts.count == 2, Self.names.contains(String(parts[0])) else { return nil }
                return (String(parts[0]), Int(parts[1]) ?? -1)
            }
        )
    }

    /// From the `counts` of a document.
    init(counts document: Any) throws {
        let counts = try #require((document as? [String: Any])?["counts"] as? [String: Int])
        self.init(counts.map { ($0.key, $0.value) })
    }

    /// From the single vehicles of a document.
    init(vehicles document: Any) throws {
        let list = try #require(
            (document as? [String: Any])?["vehicles"] as? [[String: Any]]
        )
        self.init(list.map { ($0["outcome"] as? String ?? "unfinished", 1) })
    }

    static func == (left: Numbers, right: Numbers) -> Bool {
        left.counts == right.counts
    }
}

extension Program {
    /// Arguments that make a run write all its reports.
    static let reports = ["html", "xml", "csv", "json", "prom"].flatMap {
        ["--report", "numbers.\($0)"]
    }

    private func text(_ name: String) throws -> String {
        String(
            decoding: try Data(contentsOf: URL(filePath: folder.path + "/" + name)),
            as: UTF8.self
        )
    }

    private func json(_ text: String) throws -> Any {
        try JSONSerialization.jsonObject(with: Data(text.utf8))
    }

    /// All numbers of a run with `Program.reports`, with the place of each.
    func numbers(of result: Result) throws -> [(place: String, numbers: Numbers)] {
        var all: [(String, Numbers)] = [("last line", Numbers(lastLine: result.lastLine))]
        let document = try json(try text("numbers.json"))
        all.append(("counts", try Numbers(counts: document)))
        all.append(("vehicles", try Numbers(vehicles: document)))
        let rows = try text("numbers.csv").split(separator: "\r\n").dropFirst()
        all.append(
            (
                "csv",
                Numbers(
                    rows.map {
                        (String($0.split(separator: ",", omittingEmptySubsequences: false)[2]), 1)
                    }
                )
            )
        )
        all.append(
            (
                "metrics",
                Numbers(
                    try text("numbers.prom").matches(
                        of: /yardmaster_run_vehicles\{.*outcome="([a-z-]+)"\} (\d+)/
                    ).map { (String($0.1), Int($0.2) ?? -1) }
                )
            )
        )
        let page = try text("numbers.html")
        all.append(
            (
                "tiles",
                Numbers(
                    page.matches(of: /data-count="([a-z-]+)">(\d+)</)
                        .map { (String($0.1), Int($0.2) ?? -1) }
                )
            )
        )
        all.append(
            (
                "page",
                Numbers(
                    page.matches(
                        of: /"outcome"><span><span class="badge [a-z]+">. ([a-z-]+)</
                    ).map { (String($0.1), 1) }
                )
            )
        )
        let cases = try text("numbers.xml")
        all.append(
            (
                "test cases",
                Numbers(
                    cases.matches(of: /name="outcome" value="([a-z-]+)"/)
                        .map { (String($0.1), 1) }
                )
            )
        )
        let suite = try #require(
            try /<testsuites .*tests="(\d+)" failures="(\d+)" errors="(\d+)"/.firstMatch(in: cases)
        )
        let first = all[0].1
        #expect(Int(suite.1) == first.total && Int(suite.2) == first["failed"])
        #expect(Int(suite.3) == first["aborted"])
        let status = try json(try run(["status", "--json", "--state", state]).output)
        all.append(("status", try Numbers(counts: status)))
        all.append(("status, one by one", try Numbers(vehicles: status)))
        let history = try json(try run(["history", "--json", "--state", state]).output)
        let runs = try #require((history as? [String: Any])?["runs"] as? [[String: Any]])
        all.append(("history", try Numbers(counts: try #require(runs.first))))
        let shown = try run(
            ["history", "show", "last", "--quiet", "--report", "again.json", "--state", state]
        )
        #expect(shown.status == 0)
        all.append(("shown again", try Numbers(vehicles: try json(try text("again.json")))))
        return all
    }
}

import Domain
import Foundation
import Reports
import Testing

/// Reports that are written as files when a run has ended.
@Suite struct DocumentTests {
    private func story() throws -> RunStory {
        var story = RunStory()
        for event in try Sample.full() { story.note(event) }
        return story
    }

    @Test func `each report of the sample is as kept`() throws {
        let story = try story()
        try Golden.expect(HTMLReport.text(story), equals: "report.html")
        try Golden.expect(JUnitReport.text(story), equals: "report.xml")
        try Golden.expect(CSVReport.text(story), equals: "report.csv")
        try Golden.expect(MetricsText.text(story), equals: "report.prom")
        try Golden.expect(try #require(story.document), equals: "report.json")
    }

    @Test func `the page refers to nothing outside itself and has every vehicle`() throws {
        let story = try story()
        let page = HTMLReport.text(story)
        for word in ["http://", "https://", "src=", "href=", "url(", "@import", "<script"] {
            #expect(!page.contains(word), "\(word)")
        }
        #expect(story.vehicles.count == 5)
        for vehicle in story.vehicles {
            #expect(page.contains("<b>\(vehicle.id.text)</b>"))
        }
        // What a module said is text, not markup and not a terminal's command.
        #expect(!page.contains("\u{1B}"))
    }

    @Test(arguments: ["report.html", "report.xml"])
    func `a page and a test report are well-formed`(name: String) throws {
        let story = try story()
        let text = name == "report.xml" ? JUnitReport.text(story) : HTMLReport.text(story)
        var open: [Substring] = []
        let single: Set<Substring> = ["meta", "br", "!DOCTYPE", "?xml"]
        for match in text.matches(of: /<(\/?)([A-Za-z!?][A-Za-z0-9]*)([^>]*?)(\/?)>/) {
            if single.contains(match.2) || !match.4.isEmpty { continue }
            if match.1.isEmpty {
                open.append(match.2)
            } else {
                #expect(open.popLast() == match.2)
            }
        }
        #expect(open.isEmpty)
    }

    @Test func `an empty run makes reports too`() throws {
        var story = RunStory()
        #expect(MetricsText.text(story, earlier: "kept") == "kept")
        #expect(story.document == nil)
        story.note(
            Event(number: 1, time: Sample.start, body: .runEnded(Sample.end([:])))
        )
        #expect(HTMLReport.text(story).contains("Nothing: every vehicle is where it should be."))
        #expect(CSVReport.text(story).split(separator: "\r\n").count == 1)
        #expect(JUnitReport.text(story).contains("tests=\"0\""))
    }

    @Test func `names that mean something elsewhere stay names`() throws {
        var story = RunStory()
        let id = try Sample.vehicle("=1+1,\"<b>&'")
        story.note(
            Event(
                number: 1,
                time: Sample.start,
                body: .vehicleEnded(
                    id,
                    Verdict(
                        outcome: .failed,
                        failure: .device,
                        message: "line\nbreak ]]> \u{0}",
                        attempts: 1,
                        bytesSent: .zero,
                        took: .seconds(1)
                    )
                )
            )
        )
        #expect(CSVReport.text(story).contains("\"'=1+1,\"\"<b>&'\""))
        let xml = JUnitReport.text(story)
        #expect(xml.contains("=1+1,&quot;&lt;b&gt;&amp;&#39;"))
        #expect(xml.contains("\\u{a}") && !xml.contains("\u{0}"))
    }

    @Test func `the last success outlives a run that failed`() throws {
        func end(_ code: Int) -> RunStory {
            var story = RunStory()
            for event in (try? Sample.full()) ?? [] {
                if case .runEnded = event.body { continue }
                story.note(event)
            }
            let time = Sample.start.advanced(by: .seconds(code == 0 ? 100 : 900))
            story.note(
                Event(number: 99, time: time, body: .runEnded(Sample.end([:], exit: code)))
            )
            return story
        }
        let good = MetricsText.text(end(0))
        let bad = MetricsText.text(end(10), earlier: good)
        let line = "yardmaster_run_last_success_timestamp_seconds{rollout=\"tallinn-4.12\"} "
        let stamp = "1795231900.000"
        #expect(good.contains(line + stamp))
        #expect(bad.contains(line + stamp))
        #expect(bad.contains("yardmaster_run_exit_code{rollout=\"tallinn-4.12\"} 10"))
        #expect(!MetricsText.text(end(10)).contains("last_success"))
    }
}
